#pragma once

#include <atomic>
#include <cstdint>

namespace graphmill {

/// What the answers of a daemon to others take of its memory, of all its
/// budgets for them. Those count, and whoever tells of it reads, on any thread.
struct reply_gauge {
  std::atomic<std::uint64_t> used{0};  ///< Bytes.
  std::atomic<std::uint64_t> limit{0}; ///< The same: of all budgets.
};

} // namespace graphmill
