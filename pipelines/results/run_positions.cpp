#include "pipelines/results/run_positions.hpp"

namespace graphmill {

run_position wire_form(const course_position& at, const batch_metrics& so_far) {
  run_position out;
  out.epoch = at.epoch;
  out.step = at.step;
  out.train_steps = at.train_steps;
  out.validated = at.best_validation.has_value();
  out.best_validation = at.best_validation.value_or(0);
  out.since_best = at.since_best;
  out.average = at.averages.now;
  out.best_average = at.averages.best;
  out.loss_sum = so_far.loss_sum;
  out.correct = so_far.correct;
  out.seeds = so_far.seeds;
  return out;
}

course_position position_in(const run_position& from) {
  course_position out;
  out.epoch = from.epoch;
  out.step = from.step;
  out.train_steps = from.train_steps;
  if (from.validated)
    out.best_validation = from.best_validation;
  out.since_best = from.since_best;
  out.averages = {from.average, from.best_average};
  return out;
}

batch_metrics sums_in(const run_position& from) {
  return {from.loss_sum, from.correct, from.seeds};
}

} // namespace graphmill
