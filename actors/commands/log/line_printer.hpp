#pragma once

#include "actors/cluster/client/client.hpp"
#include "actors/commands/log/run_log.hpp"
#include "actors/process/signals.hpp"
#include "messages/wire/log.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace graphmill {

/// Lines that have been printed, by their hashes: the last ones, of more than a
/// coordinator remembers. Whose clock is wrong, or set back, is known again.
class printed_lines {
public:
  static constexpr std::size_t most = std::size_t{1} << 18;

  /// @param writer Who says it.
  bool has(std::string_view writer, const log_line& line) const;
  void add(std::string_view writer, const log_line& line);

private:
  std::unordered_set<std::size_t> known_;
  std::deque<std::size_t> order_; ///< The same, the oldest first.
};

/// Prints the lines of a run that the coordinator has collected by now, and
/// those in the run's folder that it has no more, by their times; but those of
/// one daemon in their order, also if its clock was set back. Each line once,
/// also when another coordinator begins to collect what daemons have. Used by
/// one thread.
class line_printer {
public:
  /// @param client Outlives it. @param json A line of JSON for each.
  line_printer(cluster_client& client, log_request first, bool json)
    : client_(client), asked_(std::move(first)), json_(json) {}

  /// Prints what there is by now.
  /// @returns the last answer.
  result<log_reply> print_new();

  /// The same, with what daemons have written by now and the coordinator does
  /// not have yet. One that does not answer is not waited for.
  result<void> print_all(signal_watch& signals);

  std::size_t printed() const { return printed_; }

private:
  void begin_file();
  void read_file();
  void leave_file(const error& reason);
  void print_file(unix_time until);
  void hold(log_line line);
  void print_held();
  void print_collected(const log_line& line);
  void print(const log_line& line);

  cluster_client& client_;
  log_request asked_;
  bool json_;
  /// A line that is to be printed, in the place of that time.
  struct held_line {
    unix_time place;
    log_line line;
  };
  std::vector<held_line> held_;
  std::size_t held_bytes_ = 0;
  std::map<std::string, unix_time> places_; ///< Of the last one, by daemon.
  std::size_t printed_ = 0;
  printed_lines collected_, filed_; ///< By which way lines have come.
  bool is_anew_ = false;            ///< Lines may come that have been printed.
  bool begun_ = false;
  std::optional<run_log> file_; ///< None: there is no more to print of it.
  std::optional<run_log::entry> in_file_; ///< Its next line.
};

} // namespace graphmill
