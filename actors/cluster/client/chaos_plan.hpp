#pragma once

#include "messages/wire/chaos.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

/// What `graphmill chaos` is to do to a cluster.
struct chaos_wishes {
  std::uint64_t seed = 0;
  std::vector<chaos_kind> kinds;    ///< At least one.
  std::vector<std::string> daemons; ///< By name, in order; at least one.
  std::uint32_t faults = 0;
  /// Between a fault and the next, on average.
  std::chrono::milliseconds every{0};
  /// Who leads, and who may train: for moments that do not come to others.
  std::string coordinator{};
  std::vector<std::string> trainers{};
};

/// One fault of a plan.
struct planned_fault {
  std::chrono::milliseconds after{0}; ///< The one before, or the begin.
  chaos_request request;

  friend bool operator==(const planned_fault&, const planned_fault&) = default;
};

/// The faults in their order. Fault i is a pure function of seed, i and the
/// other wishes but `faults`: a longer plan begins with a shorter one. Draws
/// are Philox's (`random_stream`). @pre `every` is at most 2^31 ms
std::vector<planned_fault> plan_chaos(const chaos_wishes& wishes);

} // namespace graphmill
