#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/time_text.hpp"
#include "actors/commands/text/follow.hpp"
#include "actors/commands/text/run_log.hpp"
#include "actors/process/logs/log_levels.hpp"
#include "actors/process/logs/log_lines.hpp"
#include "actors/process/say.hpp"
#include "messages/base/printable.hpp"
#include "messages/words/enumerated.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

using namespace std::chrono_literals;
using log_clock = std::chrono::steady_clock;

/// How long lines are waited for that daemons have written by now, and how
/// often the coordinator is asked meanwhile.
constexpr auto collection_patience = 3s;
constexpr auto collection_interval = 100ms;

struct logs_options {
  cluster_options cluster;
  std::string run;
  std::string daemon;          ///< Empty: all.
  std::string level = "debug"; ///< The least.
  bool follow = false;
};

/// A run that waits has no log yet. One whose folder is gone has none any more.
result<void> no_log(cluster_client& client, const std::string& run) {
  const auto files = client.fetch_file({run, {}, 0});
  if (!files)
    return files.error();
  return ok();
}

/// Lines that have been printed, by their hashes: the last ones, of more than a
/// coordinator remembers. Whose clock is wrong, or set back, is known again.
class printed_lines {
public:
  static constexpr std::size_t most = std::size_t{1} << 18;

  /// @param writer Who says it.
  bool has(std::string_view writer, const log_line& line) const {
    return known_.contains(hash_of(writer, line));
  }

  void add(std::string_view writer, const log_line& line) {
    const auto hash = hash_of(writer, line);
    if (!known_.insert(hash).second)
      return;
    order_.push_back(hash);
    if (order_.size() > most) {
      known_.erase(order_.front());
      order_.pop_front();
    }
  }

private:
  /// Of what fits in an answer: in a file it may go on.
  static std::size_t hash_of(std::string_view writer, const log_line& line) {
    return std::hash<std::string>{}(
      fmt::format("{} {} {}", line.time.count(), writer,
                  shortened(line.text, log_limits::text)));
  }

  std::unordered_set<std::size_t> known_;
  std::deque<std::size_t> order_; ///< The same, the oldest first.
};

/// Prints the lines of a run as the coordinator has collected them, those of
/// each daemon in their order, and those in the run's folder that it has no
/// more, where they belong by their time. Each line once, also when another
/// coordinator begins to collect what daemons have. Used by one thread.
class line_printer {
public:
  line_printer(cluster_client& client, log_request first, bool json)
    : client_(client), asked_(std::move(first)), json_(json) {}

  /// Prints what there is by now.
  /// @returns the last answer.
  result<log_reply> print_new() {
    for (;;) {
      GRAPHMILL_TRY(auto page, client_.logs(asked_));
      is_anew_ = is_anew_ || page.anew;
      if (page.anew || !begun_)
        begin_file();
      if (page.missing > 0)
        say(stderr,
            "graphmill: {} here, as the coordinator has forgotten them\n",
            page.missing == 1
              ? "a line is missing"
              : fmt::format("{} lines are missing", page.missing));
      for (const auto& line : page.lines) {
        print_file(line.time);
        print_collected(line);
      }
      const auto stands = page.next == asked_.after;
      const auto is_last = !page.more || stands;
      if (is_last)
        print_file(unix_time::max());
      asked_.after = page.next;
      std::fflush(stdout);
      if (is_last)
        return page;
    }
  }

  /// The same, with what daemons have written by now and the coordinator does
  /// not have yet. One that does not answer is not waited for.
  result<void> print_all(signal_watch& signals) {
    GRAPHMILL_TRY(auto page, print_new());
    const auto begun = page.begun;
    const auto until = log_clock::now() + collection_patience;
    while (page.collected <= begun && log_clock::now() < until
           && signals.count() == 0) {
      signals.wait(collection_interval);
      GRAPHMILL_TRY(page, print_new());
    }
    return ok();
  }

  std::size_t printed() const { return printed_; }

private:
  /// The log in the run's folder does not say which daemon led the cluster, so
  /// it is left out where one is asked for.
  void begin_file() {
    begun_ = true;
    if (!asked_.daemon.empty())
      return;
    file_.emplace(client_, asked_.run);
    read_file();
  }

  void read_file() {
    auto next = file_->next();
    if (next)
      in_file_ = std::move(next).value();
    else
      say(stderr,
          "graphmill: lines may be missing: the log in the run's folder cannot "
          "be read: {}\n",
          next.error().message);
    if (!next || !in_file_)
      file_.reset();
  }

  /// Prints what of the file is from before that time and has not come by the
  /// other way.
  void print_file(unix_time until) {
    while (file_ && in_file_->line.time < until) {
      const auto& [line, is_whole] = *in_file_;
      const auto is_known = collected_.has(own_log, line)
                            || (is_anew_ && filed_.has(own_log, line));
      filed_.add(own_log, line);
      if ((line.level >= asked_.level || !is_whole) && !is_known)
        print(line);
      read_file();
    }
  }

  void print_collected(const log_line& line) {
    const auto is_own =
      line.module == "run"; // Or of an agent, which is no harm.
    const auto is_known = (is_own && filed_.has(own_log, line))
                          || (is_anew_ && collected_.has(line.daemon, line));
    if (is_own)
      collected_.add(own_log, line);
    collected_.add(line.daemon, line);
    if (!is_known)
      print(line);
  }

  void print(const log_line& line) {
    ++printed_;
    if (json_)
      say("{}\n", one_line(log_line_json(line)));
    else
      say("{}.{:03} {} {:<5} {}\n", time_text(line.time),
          line.time.count() % 1000, line.daemon.empty() ? "-" : line.daemon,
          to_string(line.level), line.text);
  }

  /// The writer of what is in the file, in the place of a daemon.
  static constexpr std::string_view own_log = "";

  cluster_client& client_;
  log_request asked_;
  bool json_;
  std::size_t printed_ = 0;
  printed_lines collected_, filed_; ///< By which way lines have come.
  bool is_anew_ = false;            ///< Lines may come that have been printed.
  bool begun_ = false;
  std::optional<run_log> file_; ///< None: there is no more to print of it.
  std::optional<run_log::entry> in_file_; ///< Its next line.
};

/// Prints lines until the run is over. The coordinator may be started anew
/// meanwhile.
result<void> follow_log(cluster_client& client, const std::string& run,
                        line_printer& lines, signal_watch& signals) {
  const auto look = [&]() -> result<bool> {
    // In this order: what is written after the end is collected below.
    GRAPHMILL_TRY(const auto now, client.run(run));
    GRAPHMILL_TRYV(lines.print_new());
    return is_over(now.state);
  };
  GRAPHMILL_TRY(const auto over, follow(look, signals));
  if (!over)
    return fail(ec::cancelled, "follows no more; run {} goes on", run);
  return lines.print_all(signals);
}

/// A name that is neither that of a daemon nor of one that has said something
/// is a slip of the pen.
result<void> expect_daemon(const status_reply& now, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& daemon : now.daemons)
    names.push_back(daemon.name);
  if (std::ranges::find(names, name) != names.end())
    return ok();
  return fail(ec::not_found, "there is no daemon {}; there are {}",
              in_quotes(name), enumerated(names));
}

result<int> logs(const logs_options& options) {
  signal_watch signals;
  GRAPHMILL_TRY(const auto level, parse_log_level(options.level));
  GRAPHMILL_TRY(auto client, connect(options.cluster, "logs", &signals));
  GRAPHMILL_TRY(const auto run, client.run(options.run));
  line_printer lines{client,
                     {.run = run.id, .daemon = options.daemon, .level = level},
                     options.cluster.json};
  GRAPHMILL_TRYV(lines.print_new());
  if (lines.printed() == 0 && !options.daemon.empty()) {
    GRAPHMILL_TRY(const auto now, client.status());
    GRAPHMILL_TRYV(expect_daemon(now, options.daemon));
  }
  GRAPHMILL_TRYV(options.follow ? follow_log(client, run.id, lines, signals)
                                : lines.print_all(signals));
  if (lines.printed() > 0)
    return 0;
  if (options.daemon.empty())
    GRAPHMILL_TRYV(no_log(client, run.id));
  say(stderr, "graphmill: there is no such line of run {}{}\n", run.id,
      options.daemon.empty() ? ""
                             : " any more; without --daemon, its log file is "
                               "printed");
  return 0;
}

} // namespace

void add_logs_command(command_line& cli) {
  auto options = std::make_shared<logs_options>();
  auto* command = cli.app.add_subcommand(
    "logs", "Print what all daemons of a cluster log of a run");
  command->add_option("run", options->run, "Id of the run (default: latest)");
  command->add_flag("-f,--follow", options->follow,
                    "Go on until the run is over");
  command->add_option("--daemon", options->daemon, "Only lines of this daemon");
  command
    ->add_option("--level", options->level,
                 "Only lines of this level and worse: debug, info, warn, "
                 "error, critical")
    ->check(parsed_by(parse_log_level))
    ->capture_default_str();
  add_cluster_options(*command, options->cluster);
  command->footer(
    "The coordinator keeps the last lines of all daemons in memory, 16 MiB.\n"
    "What it had said of the run before that, also before it was started "
    "anew,\n"
    "is printed from the log in the run's folder, without a daemon's name.\n"
    "With --json, each line is an object, as /api/logs has it.");
  command->callback(
    [&cli, options] { cli.run = [options] { return logs(*options); }; });
}

} // namespace graphmill
