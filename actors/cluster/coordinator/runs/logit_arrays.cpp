#include "actors/cluster/coordinator/runs/logit_arrays.hpp"

#include "pipelines/kernels/class_scores.hpp"
#include "pipelines/kernels/cross_entropy.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace graphmill {

result<std::unique_ptr<told_arrays>>
logit_arrays::create(const std::filesystem::path& folder,
                     const prediction_shape& shape) {
  const std::array rows{shape.rows, shape.columns};
  GRAPHMILL_TRY(auto logits, begun_array::create(folder / "logits.npy",
                                                 dtype::float32, rows));
  const auto& form = shape.task.prediction;
  GRAPHMILL_TRY(auto predictions,
                begun_array::create(
                  folder / "predictions.npy", form.element,
                  std::span{rows}.first(form.is_list(shape.columns) ? 1 : 2)));
  return std::unique_ptr<told_arrays>{
    new logit_arrays{shape, std::move(logits), std::move(predictions)}};
}

result<void> logit_arrays::write(std::int64_t begin,
                                 std::span<const float> logits) {
  const auto row = static_cast<std::uint64_t>(begin);
  const auto columns = static_cast<std::uint64_t>(shape_.columns);
  const auto at = row * columns * sizeof(float);
  GRAPHMILL_TRYV(logits_.write(at, std::as_bytes(logits)));
  if (!shape_.task.decides)
    return predictions_.write(at, std::as_bytes(logits));
  if (!shape_.task.one_class) {
    std::vector<std::uint8_t> labels(logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i)
      labels[i] = takes_label(static_cast<std::int64_t>(i) % shape_.columns,
                              logits[i], shape_.threshold);
    return predictions_.write(row * columns, std::as_bytes(std::span{labels}));
  }
  std::vector<std::int64_t> classes;
  const const_matrix told{logits.data(), std::ssize(logits) / shape_.columns,
                          shape_.columns};
  argmax(told, classes);
  if (shape_.threshold)
    apply_threshold(told, *shape_.threshold, classes);
  return predictions_.write(row * sizeof(std::int64_t),
                            std::as_bytes(std::span{classes}));
}

result<void> logit_arrays::commit() {
  GRAPHMILL_TRYV(predictions_.sync());
  GRAPHMILL_TRYV(logits_.commit());
  return predictions_.commit();
}

} // namespace graphmill
