#pragma once

#include "messages/wire/health.hpp"

#include <string>
#include <utility>
#include <vector>

// What verdicts are made of: how actors are named, and who is to blame when the
// trainers of a daemon starve.

namespace graphmill {

/// A share of time that is worth a word.
inline constexpr double worth_naming = 0.1;
/// That of workers which have no time to spare.
inline constexpr double full_share = 0.8;

/// An actor, and whose it is.
struct placed {
  const daemon_health* at = nullptr;
  const actor_health* actor = nullptr;

  explicit operator bool() const { return actor != nullptr; }
};

inline double percent_of(double share) {
  return 100 * share;
}

/// A verdict without evidence yet.
inline verdict verdict_saying(std::string limit, std::string sentence) {
  return {std::move(limit), std::move(sentence), {}};
}

/// All actors of a kind.
std::vector<placed> all_of(const run_health& run, actor_kind kind);

/// "sampler at daemon "a"".
std::string title_of(const placed& who);

/// Evidence: where its time goes, and how long its answers take.
std::string shares_of(const placed& who);
std::string latency_of(const placed& who);

/// Share of the time in which the workers of a stage have jobs.
double occupied(const actor_health& stage);

/// Why the trainers of a daemon starve.
verdict blame_pipeline(const run_health& run, const daemon_health& in);

} // namespace graphmill
