#pragma once

#include "messages/base/ids.hpp"
#include "messages/definition/definition.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/flow/schedule.hpp"

#include <cstdint>
#include <optional>

namespace graphmill {

/// What a run does next.
enum class course_action : std::uint8_t {
  run_phase,    ///< A pass over a split.
  keep_best,    ///< Remember the weights.
  restore_best, ///< Go back to the remembered weights.
  finish,
};

struct course_step {
  course_action action = course_action::finish;
  graphmill::phase phase = graphmill::phase::train;
  std::int32_t epoch = 0;
  std::int64_t max_steps = 0; ///< Of the phase; 0 = all.
};

/// The order of the phases of a run, decided from their results: train an
/// epoch, validate every so often, keep the best weights, stop early, restore,
/// test. Pure: the conductor asks `next`, does it, and reports `finished`.
class course {
public:
  /// @param has_validation, has_test Whether these splits have seeds.
  /// @param steps_per_epoch Of training; with `max_steps` it cuts the last one.
  static course training(const definition& def, bool has_validation,
                         bool has_test, std::int64_t steps_per_epoch);

  /// A single pass, then the end.
  static course only(phase which);

  course_step next() const { return step_; }
  /// The step that `next` named is done; `metrics` of a phase.
  void finished(const batch_metrics& metrics);

  /// Of the epoch with the best weights; nothing without validation.
  std::optional<double> best_validation() const {
    return stopping_.best_value();
  }

private:
  course() : stopping_(0) {}
  void begin_epoch(std::int32_t epoch);
  void after_training();
  void end_of_epochs();
  void test_or_finish();

  course_step step_;
  early_stopping stopping_;
  bool single_ = false;
  bool has_validation_ = false;
  bool has_test_ = false;
  std::int32_t epochs_ = 0;
  std::int32_t every_ = 1;
  std::int64_t steps_per_epoch_ = 0;
  std::int64_t steps_left_ = -1; ///< Of max_steps; -1 = no limit.
};

} // namespace graphmill
