#pragma once

#include <chrono>

namespace graphmill {

/// Gives memory that the allocator keeps free back to the system, every so
/// often. Batches come in all sizes, from many threads, so that holes in the
/// allocator's heaps grow for as long as a run lasts, by less and less; each
/// heap keeps its own. Giving them back takes a few milliseconds, and what is
/// used again is faulted in again.
///
/// For the thread of a process that waits for the end of its work.
class heap_trimmer {
public:
  using clock = std::chrono::steady_clock;

  static constexpr std::chrono::seconds interval{20};

  /// Gives memory back if that is due.
  /// @returns whether it was due.
  bool tick(clock::time_point now = clock::now());

private:
  clock::time_point due_{}; ///< At the first call.
};

} // namespace graphmill
