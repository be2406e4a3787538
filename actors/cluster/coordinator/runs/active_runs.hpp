#pragma once

#include "actors/cluster/coordinator/runs/run_ptr.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

/// The runs that have left the queue and are not over, in the order in which
/// they began. Of the COORDINATOR's state. What is told later, of an attempt
/// that may be over by then, is looked up anew by run and attempt.
class active_runs {
public:
  /// Null: it is not on.
  run_ptr find(const std::string& id) const {
    return first([&id](const submitted_run& run) { return run.id == id; });
  }
  run_ptr find(const std::string& id, std::uint32_t attempt) const {
    return first([&](const submitted_run& run) {
      return run.id == id && run.attempts == attempt;
    });
  }

  /// One for which something holds, the first to begin; null: there is none.
  template <class Predicate>
  run_ptr first(Predicate&& holds) const {
    const auto it = std::ranges::find_if(
      runs_, [&holds](const auto& run) { return holds(*run); });
    return it == runs_.end() ? nullptr : *it;
  }

  /// Those that need a daemon.
  std::vector<std::string> needing(const std::string& daemon) const {
    std::vector<std::string> out;
    for (const auto& run : runs_)
      if (run->needs(daemon))
        out.push_back(run->id);
    return out;
  }

  /// A copy, so that runs may begin and end while one goes through them.
  std::vector<run_ptr> all() const { return runs_; }
  std::size_t size() const { return runs_.size(); }
  bool empty() const { return runs_.empty(); }

  void add(run_ptr run) { runs_.push_back(std::move(run)); }
  void remove(const run_ptr& run) { std::erase(runs_, run); }

private:
  std::vector<run_ptr> runs_;
};

} // namespace graphmill
