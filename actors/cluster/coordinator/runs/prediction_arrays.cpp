#include "actors/cluster/coordinator/runs/prediction_arrays.hpp"

#include "actors/base/phase_steps.hpp"
#include "actors/cluster/coordinator/runs/logit_arrays.hpp"
#include "actors/cluster/coordinator/runs/output_arrays.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

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
  GRAPHMILL_TRY(arrays_, shape_.blocks.empty()
                           ? logit_arrays::create(folder_, shape_)
                           : output_arrays::create(folder_, shape_));
  return ok();
}

result<void> prediction_arrays::take(const batch_key& key,
                                     std::span<const node_id> rows,
                                     std::span<const float> values) {
  if (key.step < 0 || key.step >= shape_.steps() || key.rank < 0
      || key.rank >= shape_.ranks)
    return fail(ec::invalid_data, "step {} of rank {} is not one of the run's",
                key.step, key.rank);
  // As `epoch_plan` deals them out, with `seed_order: global`.
  const auto first = key.step * shape_.batch_size;
  const auto of_step = std::min(shape_.batch_size, shape_.rows - first);
  const auto each = of_step / shape_.ranks;
  const auto longer = of_step % shape_.ranks; // The first ranks' runs, by one.
  const auto begin =
    first + key.rank * each + std::min<std::int64_t>(key.rank, longer);
  const auto count = each + (key.rank < longer ? 1 : 0);
  auto expected = begin;
  if (std::ssize(rows) != count || std::ssize(values) != count * shape_.columns
      || !std::ranges::all_of(
        rows, [&expected](node_id told) { return told == expected++; }))
    return fail(ec::invalid_data,
                "rank {} told {} {} of {} {} in step {}, and not {} of each of "
                "the {} {} to {}, which are its own",
                key.rank, values.size(), values_told(), rows.size(),
                rows_told(), key.step + 1, shape_.columns, rows_told(), begin,
                begin + count - 1);
  // Rows that are there twice would stand for others that are missing.
  if (!told_[key.rank].add(key.step))
    return fail(ec::invalid_data, "rank {} told of step {} twice", key.rank,
                key.step + 1);
  if (count == 0)
    return ok();
  if (!arrays_)
    GRAPHMILL_TRYV(open());
  GRAPHMILL_TRYV(arrays_->write(begin, values));
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

result<void> prediction_arrays::commit() {
  if (failure_)
    return *failure_;
  if (!arrays_ || rows_ != shape_.rows)
    return fail(ec::invalid_data,
                "trainers told the {} of {} {}, and there are {}",
                values_told(), rows_, rows_told(), shape_.rows);
  return arrays_->commit();
}

std::string_view prediction_arrays::rows_told() const {
  return shape_.edges ? "edges" : "nodes";
}

std::string_view prediction_arrays::values_told() const {
  return shape_.blocks.empty() ? "logits" : "outputs";
}

} // namespace graphmill
