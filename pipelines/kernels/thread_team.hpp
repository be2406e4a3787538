#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace graphmill {

/// A few threads that help their owner with loops. Helpers sleep between loops
/// (OpenMP's would spin, on cores that samplers could use) and block signals.
/// Pieces do not depend on the number of threads, so neither do sums that are
/// made per piece and added in the order of pieces.
///
/// A loop is open from its start until the owner finds no more pieces; helpers
/// that wake up later skip it. The owner works, too, and returns when all
/// pieces are done and no helper works any more. So loops may refer to its
/// stack. One owner at a time, on any thread; loops must not be nested. The
/// team owns its helpers, and its destructor joins them.
class thread_team {
public:
  /// @param threads Including the owner's. Helpers start with the first loop of
  /// more than one piece.
  explicit thread_team(unsigned threads) : threads_(std::max(threads, 1u)) {}
  ~thread_team();
  thread_team(const thread_team&) = delete;
  thread_team& operator=(const thread_team&) = delete;

  /// Calls `f(piece, begin, end)` for the pieces of `grain` rows of [0, rows),
  /// in any order and at once. The first exception of `f` is rethrown after all
  /// helpers have stopped; pieces that were not started are left out. Throws
  /// std::system_error if the system refuses helpers.
  template <class F>
  void for_pieces(std::int64_t rows, std::int64_t grain, const F& f) {
    run((rows + grain - 1) / grain, [rows, grain, &f](std::int64_t piece) {
      f(piece, piece * grain, std::min(rows, (piece + 1) * grain));
    });
  }

  /// Processor time of the helpers so far, without the owner's.
  std::chrono::nanoseconds helper_cpu() const {
    return std::chrono::nanoseconds{helper_cpu_.load()};
  }

private:
  using work = std::function<void(std::int64_t)>;

  void run(std::int64_t pieces, const work& body);
  void help();
  void take_pieces();

  const unsigned threads_;
  std::vector<std::thread> helpers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  bool stop_ = false;
  bool open_ = false; ///< Helpers may still join the present loop.
  unsigned busy_ = 0; ///< Helpers at work.
  const work* body_ = nullptr;
  std::int64_t pieces_ = 0;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<std::int64_t> helper_cpu_ = 0; ///< Nanoseconds.
  std::exception_ptr failure_;
};

} // namespace graphmill
