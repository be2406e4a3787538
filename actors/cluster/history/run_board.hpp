#pragma once

#include "messages/wire/cluster.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// News of the runs of a coordinator, for those who watch them. A position
/// counts all news of a run so far; of progress only the latest is kept, and of
/// the ends of phases the last `most_news`.
class run_board {
public:
  static constexpr std::size_t most_news = 4096;
  /// Runs that are over whose news are kept.
  static constexpr std::size_t most_runs = 32;
  /// News of one answer; together they fit in a frame.
  static constexpr std::size_t most_at_once = 512;

  /// @param first Position of the first news of each run: above all that were
  /// told of it by a coordinator before this one.
  explicit run_board(std::uint64_t first = 0) : first_(first) {}

  void add(const std::string& run, run_news news);

  /// What was told of a run before, in its order, for who begins to watch it:
  /// its positions are below the first. Nothing is changed if there are news of
  /// the run already.
  void recall(const std::string& run, std::vector<run_news> before);

  /// Whether there are news of a run, so that `recall` changes nothing.
  bool knows(const std::string& run) const { return runs_.contains(run); }

  /// News from a position on, and the position after them.
  std::pair<std::uint64_t, std::vector<run_news>>
  since(const std::string& run, std::uint64_t position) const;

  /// A run is over: its news are kept until `most_runs` others are, too.
  void over(const std::string& run);

private:
  struct entry {
    std::uint64_t position = 0;
    run_news news;
  };
  struct lines {
    std::uint64_t next = 0;
    std::deque<entry> news;
  };
  std::uint64_t first_;
  std::map<std::string, lines> runs_;
  std::deque<std::string> over_; ///< The oldest first.
};

} // namespace graphmill
