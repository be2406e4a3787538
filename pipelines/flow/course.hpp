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

/// The order of the phases of a run, decided from their results:
///
///     train epoch --> [validate [--> keep best]] --> train next epoch ...
///          |                  |
///          '-- the last one --'-- no gain for too long --> the end of epochs
///
///     end of epochs --> [restore best] --> [test] --> finish
///
/// Validation is due after every `evaluate.every` epochs and after the last
/// one. The best weights are restored if there was a validation that gave a
/// number. Value type without clock and threads: the CONDUCTOR asks `next`,
/// carries it out, and reports `finished`. It knows nothing of failures and
/// cancellation, which `run_course` puts around it.
class course {
public:
  /// @param has_validation, has_test Whether these splits have seeds.
  /// @param steps_per_epoch Of training; with `max_steps` it cuts the last one.
  static course training(const definition& def, bool has_validation,
                         bool has_test, std::int64_t steps_per_epoch);

  /// A single pass, then the end.
  static course only(phase which);

  /// What to do now; the same until `finished`.
  course_step next() const { return step_; }
  /// The step that `next` named is done.
  /// @param metrics What a phase gave; of other steps nobody looks at it.
  void finished(const batch_metrics& metrics);

  /// The accuracy of the epoch with the best weights; nothing without
  /// validation.
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
