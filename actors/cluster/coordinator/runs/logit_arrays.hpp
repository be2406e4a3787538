#pragma once

#include "actors/cluster/coordinator/runs/begun_array.hpp"
#include "actors/cluster/coordinator/runs/prediction_shape.hpp"
#include "actors/cluster/coordinator/runs/told_arrays.hpp"

#include <filesystem>
#include <memory>

namespace graphmill {

/// What is predicted of nodes or edges:
///
///   logits.npy       [rows, columns] float32
///   predictions.npy  [rows] int64 classes; or [rows, columns] uint8, 1 for
///                    each label that a row is said to have; or values, [rows]
///                    float32, or [rows, columns] if there are several. Of
///                    links their scores
class logit_arrays final : public told_arrays {
public:
  static result<std::unique_ptr<told_arrays>>
  create(const std::filesystem::path& folder, const prediction_shape& shape);

  result<void> write(std::int64_t begin,
                     std::span<const float> logits) override;
  result<void> commit() override;

private:
  logit_arrays(prediction_shape shape, begun_array logits,
               begun_array predictions)
    : shape_(std::move(shape)), logits_(std::move(logits)),
      predictions_(std::move(predictions)) {}

  const prediction_shape shape_;
  begun_array logits_;
  begun_array predictions_;
};

} // namespace graphmill
