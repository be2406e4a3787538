#pragma once

#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/flow/course.hpp"
#include "pipelines/results/checkpoint.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

/// Puts a checkpoint together, of a trainer's state and of the results of just
/// the steps that it has taken: a trainer is asked between any two steps and
/// answers with the state of then, while results of other ranks are still on
/// their way. One is made at a time. Part of the CONDUCTOR's state, which does
/// the asking.
class checkpoint_maker {
public:
  /// What the steps of an epoch gave before this one; nothing as long as
  /// results are missing, and for a step that the epoch does not have.
  using sums = std::function<std::optional<batch_metrics>(std::int64_t step)>;

  /// The training of an epoch has begun, of so many steps.
  void follow(std::int32_t epoch, std::int64_t steps, sums results);

  /// A trainer is asked for its state. What was asked for before does not count
  /// any more.
  /// @param begin Of the epoch that is on. @param before What the steps until
  /// then gave, if it was gone on with in its middle.
  /// @returns the number of the question.
  std::uint64_t ask(const course_position& begin, const batch_metrics& before);

  bool is_on() const { return on_.has_value(); }
  bool awaits(std::uint64_t number) const { return on_ && number == number_; }

  /// The trainer's answer: `replica::state` after so many steps of training.
  void answer(std::int64_t steps,
              std::shared_ptr<const std::vector<named_tensor>> state);

  void give_up() { on_.reset(); }

  /// The checkpoint, once it is whole; then the next one can be asked for.
  std::optional<training_state> take();

  /// Whether it never will be whole. @param over No more results will come.
  bool is_lost(bool over) const;

private:
  struct training {
    std::int32_t epoch = -1;
    std::int64_t steps = 0;
    sums results;
  };
  struct making {
    training_state state;
    course_position begin;
    batch_metrics before;
    training follows; ///< That of the epoch, as soon as it has begun.
  };

  std::optional<batch_metrics> so_far() const;

  training last_;
  std::optional<making> on_;
  std::uint64_t number_ = 0;
};

} // namespace graphmill
