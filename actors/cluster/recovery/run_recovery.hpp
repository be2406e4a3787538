#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "messages/wire/run.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// Whether a run that has lost a daemon is attempted again, and for how long it
/// waits until it can be:
///
///     on ---> waiting ---> on ...
///      |         |
///      |         '--> over: nobody has come in time
///      '--> over: too many attempts in a row have trained nothing
///
/// A value without clock and actors: the COORDINATOR tells it what happens, and
/// when.
class run_recovery {
public:
  using clock = std::chrono::steady_clock;

  explicit run_recovery(const definition::recovery_section& how = {})
    : how_(how) {}

  /// Whether the definition wants it.
  bool is_wanted() const { return how_.wait != 0; }

  /// The attempt that was on has ended, since a daemon was lost.
  /// @param trained Whether it had done a step of training.
  /// @returns why there is no other attempt; nothing if the run waits for one.
  std::optional<error> broken(const error& reason, bool trained,
                              clock::time_point now);

  /// The run was left by a coordinator that is gone, and waits for its next
  /// attempt. @pre it is wanted
  void left(error reason, clock::time_point now);

  /// The next attempt begins.
  void begin() { until_.reset(); }

  bool waits() const { return until_.has_value(); }
  /// How long it waits still. @pre it waits
  clock::duration left_at(clock::time_point now) const {
    return until_.value_or(now) - now;
  }
  /// Whether it has waited for too long.
  bool is_over(clock::time_point now) const { return until_ && now >= *until_; }
  /// Whether the last attempt has trained nothing: the next one is not to be
  /// rushed.
  bool is_stuck() const { return fruitless_ != 0; }

  /// What the run's record says while it waits.
  /// @param missing What it waits for. @param wall The time of day at `now`.
  std::string says(const error& missing, clock::time_point now,
                   std::chrono::system_clock::time_point wall) const;
  /// Why it ends, when nobody has come.
  error gave_up(const error& missing) const;

private:
  definition::recovery_section how_;
  std::optional<clock::time_point> until_;
  std::uint32_t fruitless_ = 0; ///< Attempts in a row that trained nothing.
  error lost_;                  ///< What ended the last attempt.
};

/// What a daemon has kept of a run.
struct kept_offer {
  std::string daemon;
  std::string address;
  run_position at;
  std::string digest;
  std::vector<tensor_shape> tensors;
};

/// Checks what a daemon has given of what it offered.
/// @param digest Of the weights that have come.
result<void> check_given(const kept_offer& offer, const std::string& digest);

/// Whether `at` is behind the other position, in the course of one run.
bool is_further(const run_position& at, const run_position& than);

/// The position in `offers` of the one that is furthest; nothing if there is
/// none. Fails if two that are equally far have other weights.
result<std::optional<std::size_t>>
furthest_of(const std::vector<kept_offer>& offers);

} // namespace graphmill
