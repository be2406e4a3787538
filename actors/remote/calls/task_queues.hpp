#pragma once

#include "partition/sampling/inclusion.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace graphmill {

/// The tasks of a hop, in a queue for each part. A bounded number of each queue
/// is under way at a time, the others wait in order. Pure.
class task_queues {
public:
  using task = inclusion::task;

  /// @param windows Tasks under way at most, by part; at least 1.
  explicit task_queues(const std::vector<std::uint32_t>& windows);

  void push(const task& next);

  /// A task whose turn has come; it is under way from now on.
  std::optional<task> next();

  /// A task has been answered. If it is not done, it comes again before the
  /// others of its part.
  void settle(const task& next, bool done);

  /// Nothing waits or is under way.
  bool empty() const { return open_ == 0; }

private:
  struct queue {
    std::uint32_t window = 1;
    std::uint32_t under_way = 0;
    std::deque<task> waiting;
  };

  queue& of(const task& next) {
    return queues_[static_cast<std::size_t>(next.part)];
  }

  std::vector<queue> queues_;
  std::size_t open_ = 0;
};

} // namespace graphmill
