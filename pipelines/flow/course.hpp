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
  /// Of the phase, which have been done before: a run that is resumed may
  /// begin in the middle of an epoch.
  std::int64_t done_steps = 0;
};

/// Where a run stands between two training steps, by what its course depends
/// on. A run that goes on from here takes the same decisions as one that has
/// never stopped.
struct course_position {
  std::int32_t epoch = 0;       ///< That is on: so many are behind it.
  std::int64_t step = 0;        ///< Steps of that epoch that are done.
  std::int64_t train_steps = 0; ///< That are done, over all epochs.
  /// Of the validations before that epoch.
  std::optional<double> best_validation = {};
  /// Validations since the best one, without those before `train.min_epochs`.
  std::uint32_t since_best = 0;
  score_averages averages = {}; ///< With `train.patience_window` above 1.

  friend bool operator==(const course_position&,
                         const course_position&) = default;
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
  /// @param epoch Whose draws it has.
  static course only(phase which, std::int32_t epoch = 0);

  /// A single pass in pieces, each of which begins when all of the one before
  /// it has been told, so that no more than a piece is under way; then the end.
  /// @param steps Of the pass. @param at_once Of a piece; >= 1.
  static course in_pieces(phase which, std::int64_t steps,
                          std::int64_t at_once);

  /// Goes to where a run stood. A course of training at its beginning; one with
  /// fewer epochs than are done goes to their end. A single pass has no places
  /// to go to, and begins.
  void go_to(const course_position& at);

  /// What to do now; the same until `finished`.
  course_step next() const { return step_; }
  /// The step that `next` named is done.
  /// @param metrics What a phase gave; of other steps nobody looks at it.
  /// @param quality Of a validation, if it is not by the accuracy that the best
  /// epoch is chosen: the larger the better.
  void finished(const batch_metrics& metrics,
                std::optional<double> quality = {});

  /// Where the epoch that is on began, or where it was gone on with. When all
  /// epochs are over, the begin of the one that would follow.
  const course_position& epoch_begin() const { return began_; }

  /// The quality of the epoch with the best weights, which is its accuracy
  /// unless `finished` was told another one; nothing without validation.
  std::optional<double> best_validation() const {
    return stopping_.best_value();
  }

private:
  course() : stopping_(0, 1) {}
  void begin_epoch(std::int32_t epoch, std::int64_t done_steps = 0);
  bool out_of_steps() const;
  void note_begin(std::int32_t epoch, std::int64_t done_steps);
  void after_training();
  void end_of_epochs();
  void test_or_finish();

  course_step step_;
  course_position began_;
  std::uint32_t patience_ = 0;
  std::uint32_t patience_window_ = 1;
  std::int32_t min_epochs_ = 0; ///< Before patience counts.
  early_stopping stopping_;
  bool single_ = false;
  std::int64_t pass_steps_ = 0;  ///< Of a single pass in pieces; 0: in one.
  std::int64_t piece_steps_ = 0; ///< Of its pieces.
  bool has_validation_ = false;
  bool has_test_ = false;
  std::int32_t epochs_ = 0;
  std::int32_t every_ = 1;
  std::int64_t steps_per_epoch_ = 0;
  std::int64_t max_steps_ = 0;    ///< Over all epochs; 0 = no limit.
  std::int64_t steps_before_ = 0; ///< Of the epochs that are behind.
};

/// Whether a run that stands there has steps left to train.
/// @param train_seeds Of an epoch.
bool has_steps_left(const definition& def, std::int64_t train_seeds,
                    const course_position& at);

} // namespace graphmill
