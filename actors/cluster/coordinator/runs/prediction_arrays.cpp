#include "actors/cluster/coordinator/runs/prediction_arrays.hpp"

#include "actors/base/phase_steps.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/files/npy/npy_header.hpp"
#include "pipelines/flow/score_ranking.hpp"
#include "pipelines/kernels/class_scores.hpp"
#include "pipelines/kernels/cross_entropy.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/task/chosen_target.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// The header of an array. @returns how long it is.
result<std::uint64_t> begin_array(const scratch_file& file, dtype type,
                                  std::span<const std::int64_t> shape) {
  const auto header = format_npy_header(type, shape);
  GRAPHMILL_TRYV(
    write_all(file.fd(), std::as_bytes(std::span{header.data(), header.size()}),
              file.path()));
  return std::uint64_t{header.size()};
}

} // namespace

prediction_shape prediction_shape::of(const definition& def,
                                      const dataset_info& info, rank_id ranks) {
  const auto chosen = choose_target(info, def);
  const auto& seen = chosen ? chosen.value() : info;
  const auto& target = seen.node_types[static_cast<std::size_t>(seen.target)];
  return {target.count,    target.class_count,
          task_of(target), def.evaluate.batch_size,
          ranks,           measures_of(def, info).threshold};
}

void prediction_arrays::observe(const std::shared_ptr<prediction_arrays>& self,
                                run_observer& by) {
  const auto whole = [steps = self->shape_.steps()](phase_request piece) {
    piece.steps = steps;
    return piece;
  };
  by.on_begin = [whole,
                 inner = std::move(by.on_begin)](const phase_request& piece) {
    if (inner)
      inner(whole(piece));
  };
  by.on_step = [whole, inner = std::move(by.on_step)](
                 const phase_request& piece, std::int64_t done,
                 const batch_metrics& part) {
    if (inner)
      inner(whole(piece), done, part);
  };
  by.on_output = [self](const step_result& told) {
    if (self->failure_ || !told.original_seeds)
      return;
    if (auto taken =
          self->take(told.key, *told.original_seeds, told.output->logits);
        !taken)
      self->failure_ = taken.error();
  };
  by.on_phase = [self, inner = std::move(by.on_phase)](
                  const phase_result& done) -> result<void> {
    if (self->failure_)
      return *self->failure_;
    return inner ? inner(done) : ok();
  };
}

result<void> prediction_arrays::open() {
  GRAPHMILL_TRY(auto logits, scratch_file::create(folder_ / "logits.npy",
                                                  file_access::owner));
  GRAPHMILL_TRY(
    auto predictions,
    scratch_file::create(folder_ / "predictions.npy", file_access::owner));
  const std::array rows{shape_.nodes, shape_.classes};
  GRAPHMILL_TRY(const auto logits_at,
                begin_array(logits, dtype::float32, rows));
  const auto& form = shape_.task.prediction;
  GRAPHMILL_TRY(
    const auto predictions_at,
    begin_array(predictions, form.element,
                std::span{rows}.first(form.is_list(shape_.classes) ? 1 : 2)));
  files_.emplace(files{std::move(logits), std::move(predictions), logits_at,
                       predictions_at});
  return ok();
}

result<void> prediction_arrays::take(const batch_key& key,
                                     std::span<const node_id> nodes,
                                     std::span<const float> logits) {
  if (key.step < 0 || key.step >= shape_.steps() || key.rank < 0
      || key.rank >= shape_.ranks)
    return fail(ec::invalid_data, "step {} of rank {} is not one of the run's",
                key.step, key.rank);
  // As `epoch_plan` deals them out, with `seed_order: global`.
  const auto first = key.step * shape_.batch_size;
  const auto of_step = std::min(shape_.batch_size, shape_.nodes - first);
  const auto each = of_step / shape_.ranks;
  const auto longer = of_step % shape_.ranks; // The first ranks' runs, by one.
  const auto begin =
    first + key.rank * each + std::min<std::int64_t>(key.rank, longer);
  const auto count = each + (key.rank < longer ? 1 : 0);
  auto expected = begin;
  if (std::ssize(nodes) != count || std::ssize(logits) != count * shape_.classes
      || !std::ranges::all_of(
        nodes, [&expected](node_id told) { return told == expected++; }))
    return fail(ec::invalid_data,
                "rank {} told {} logits of {} nodes in step {}, and not {} of "
                "each of the nodes {} to {}, which are its own",
                key.rank, logits.size(), nodes.size(), key.step + 1,
                shape_.classes, begin, begin + count - 1);
  // Rows that are there twice would stand for others that are missing.
  if (!told_[key.rank].add(key.step))
    return fail(ec::invalid_data, "rank {} told of step {} twice", key.rank,
                key.step + 1);
  if (count == 0)
    return ok();
  if (!files_)
    GRAPHMILL_TRYV(open());
  GRAPHMILL_TRYV(write(begin, logits));
  rows_ += count;
  return ok();
}

bool prediction_arrays::told_steps::add(std::int64_t step) {
  if (step < until || !ahead.insert(step).second)
    return false;
  while (ahead.erase(until) != 0)
    ++until;
  return true;
}

result<void> prediction_arrays::write(std::int64_t begin,
                                      std::span<const float> logits) {
  const auto row = static_cast<std::uint64_t>(begin);
  const auto columns = static_cast<std::uint64_t>(shape_.classes);
  GRAPHMILL_TRYV(write_at(files_->logits.fd(), std::as_bytes(logits),
                          files_->logits_at + row * columns * sizeof(float),
                          files_->logits.path()));
  const auto& to = files_->predictions;
  if (!shape_.task.decides)
    return write_at(to.fd(), std::as_bytes(logits),
                    files_->predictions_at + row * columns * sizeof(float),
                    to.path());
  if (!shape_.task.one_class) {
    std::vector<std::uint8_t> labels(logits.size());
    const auto& threshold = shape_.threshold;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const auto label = static_cast<std::int64_t>(i) % shape_.classes;
      labels[i] = threshold && threshold->of == label
                    ? reaches(logits[i], threshold->fixed.value_or(0.5))
                    : logits[i] > 0;
    }
    return write_at(to.fd(), std::as_bytes(std::span{labels}),
                    files_->predictions_at + row * columns, to.path());
  }
  std::vector<std::int64_t> classes;
  const const_matrix told{logits.data(), std::ssize(logits) / shape_.classes,
                          shape_.classes};
  argmax(told, classes);
  if (shape_.threshold)
    apply_threshold(told, *shape_.threshold, classes);
  return write_at(to.fd(), std::as_bytes(std::span{classes}),
                  files_->predictions_at + row * sizeof(std::int64_t),
                  to.path());
}

result<void> prediction_arrays::commit() {
  if (failure_)
    return *failure_;
  if (!files_ || rows_ != shape_.nodes)
    return fail(ec::invalid_data,
                "trainers told the logits of {} nodes, and there are {}", rows_,
                shape_.nodes);
  GRAPHMILL_TRYV(
    sync_file(files_->predictions.fd(), files_->predictions.path()));
  GRAPHMILL_TRYV(files_->logits.commit());
  return files_->predictions.commit();
}

} // namespace graphmill
