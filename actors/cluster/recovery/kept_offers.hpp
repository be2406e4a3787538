#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/run.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

/// What a daemon says it has kept of a run.
struct kept_offer {
  std::string daemon;
  std::string address;
  run_position at;
  std::string digest;
  std::vector<tensor_shape> tensors;
  std::uint32_t attempt = 0; ///< Whose trainers had it.
};

/// What the coordinator knows itself of the course of a run.
struct known_course {
  std::int64_t epochs = 0;          ///< Of its definition.
  std::int64_t epochs_told = 0;     ///< Whose metrics are in its folder.
  std::int64_t steps_per_epoch = 0; ///< Of training.
  std::int64_t max_steps = 0;       ///< Over all epochs; 0: no limit.
  /// It goes on with another run, whose definition may have counted otherwise.
  bool is_resumed = false;
  /// The last attempt that has begun, of a run whose number of trainers follows
  /// from who is there: what an earlier one had is no state of it as its sizes
  /// are noted. 0: of another run, which has one course, whatever happens.
  std::uint32_t only_attempt = 0;
};

/// Whether a run can stand there. Fails with `invalid_data` if it cannot.
result<void> check_position(const run_position& at, const known_course& of);

/// The same of what a daemon offers; also checks whose it is.
result<void> check_offer(const kept_offer& offer, const known_course& of);

/// Checks what a daemon has given of what it offered.
/// @param digest Of the weights that have come.
result<void> check_given(const kept_offer& offer, const std::string& digest);

/// Whether `at` is behind the other position, in the course of one run.
bool is_further(const run_position& at, const run_position& than);

/// Offers in the order in which they are to be tried, and what is odd about
/// them.
struct preferred_offers {
  std::vector<kept_offer> offers;
  std::vector<std::string> disputes; ///< Sentences that name both sides.
};

/// The furthest come first. Where daemons have other weights after the same
/// step, those count that more of them have; if none do, nobody is believed
/// about that step.
preferred_offers by_preference(std::vector<kept_offer> offers);

} // namespace graphmill
