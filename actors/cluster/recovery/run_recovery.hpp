#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace graphmill {

/// A place in the course of training: so many steps of an epoch are done.
struct trained_until {
  std::int32_t epoch = 0;
  std::int64_t step = 0;

  friend auto operator<=>(const trained_until&, const trained_until&) = default;
};

/// Whether a run that has lost a daemon is attempted again, and for how long it
/// waits until it can be, after a loss or a pause:
///
///     on ---> waiting ---> on ...
///      |         |
///      |         '--> over: nobody has come in time
///      '--> over: too many attempts in a row have trained nothing new
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
  /// @param reached Up to where it has been heard to train. It was of use if no
  /// attempt before came as far: else whoever repeats a step could have the run
  /// attempted forever.
  /// @returns why there is no other attempt; nothing if the run waits for one.
  std::optional<error> broken(const error& reason,
                              const std::optional<trained_until>& reached,
                              clock::time_point now);

  /// The run was left by a coordinator that is gone, and waits for its next
  /// attempt. @pre it is wanted
  void left(error reason, clock::time_point now);

  /// An attempt has ended in order, for another number of trainers: the run
  /// waits for the next one as after a loss, or for some seconds if it recovers
  /// from none.
  /// @param reached Up to where it has trained. Attempts before it are no
  /// longer in a row with those that follow, if none of them came as far.
  void paused(error reason, const trained_until& reached,
              clock::time_point now);

  /// The next attempt begins.
  void begin() { until_.reset(); }

  bool waits() const { return until_.has_value(); }
  /// How long it waits still. @pre it waits
  clock::duration left_at(clock::time_point now) const {
    return until_.value_or(now) - now;
  }
  /// It waits for so much longer, if it waits: nobody could come meanwhile.
  void put_off(clock::duration by) {
    if (until_)
      *until_ += by;
  }
  /// It waits from now on, as after the loss: so far others were in its way,
  /// and it lacked nobody. @pre it waits
  void renew(clock::time_point now) { until_ = now + time_; }
  /// Whether it has waited for too long.
  bool is_over(clock::time_point now) const { return until_ && now >= *until_; }
  /// How long the next attempt is put off: none after one that was of use, else
  /// twice as long after each that was not, up to half a minute and half of
  /// what the run may wait.
  std::chrono::milliseconds pause() const;

  /// What the run's record says while it waits.
  /// @param missing What it waits for. @param wall The time of day at `now`.
  std::string says(const error& missing, clock::time_point now,
                   std::chrono::system_clock::time_point wall) const;
  /// The same while it waits for room alone, however long that takes.
  std::string says_held_up(const error& missing) const;
  /// Why it ends, when nobody has come.
  error gave_up(const error& missing) const;

private:
  bool note_progress(const std::optional<trained_until>& reached);
  void wait(error reason, std::chrono::seconds time, clock::time_point now);

  definition::recovery_section how_;
  std::optional<clock::time_point> until_;
  std::chrono::seconds time_{0};          ///< That it waits.
  std::optional<trained_until> furthest_; ///< Of all attempts.
  std::uint32_t fruitless_ = 0; ///< Attempts in a row that got no further.
  error lost_;                  ///< What ended the last attempt.
};

} // namespace graphmill
