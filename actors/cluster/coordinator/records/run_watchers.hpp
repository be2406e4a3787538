#pragma once

#include "actors/cluster/coordinator/records/run_archive.hpp"
#include "actors/cluster/history/run_board.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

namespace graphmill {

/// Clients that watch runs, and the news that they are answered with. Of the
/// COORDINATOR's state, used in its handlers alone.
class run_watchers {
public:
  using clock = std::chrono::steady_clock;

  /// @param generation Of the coordinator. Watchers know positions of those
  /// before this one.
  run_watchers(run_archive& archive, std::uint64_t generation)
    : archive_(archive), board_(generation << 32) {}

  run_board& board() { return board_; }

  /// Answers when there are news of the run, it is over, or time is up.
  void watch(const payload& request, const responder& reply);

  /// Answers those that can be answered. To be called after each change, and
  /// now and then.
  void look(clock::time_point now);

private:
  struct waiting_watcher {
    watch_request request;
    responder reply;
    clock::time_point until;
  };

  bool answer(const waiting_watcher& waiting, clock::time_point now) const;

  run_archive& archive_;
  run_board board_;
  std::vector<waiting_watcher> waiting_;
};

} // namespace graphmill
