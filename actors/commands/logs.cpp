#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/time_text.hpp"
#include "actors/commands/text/follow.hpp"
#include "actors/process/logs/log_levels.hpp"
#include "actors/process/logs/log_lines.hpp"
#include "actors/process/say.hpp"
#include "messages/words/enumerated.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
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

/// Of a run; the first one has what was put aside.
constexpr const char* log_file_names[]{"log.txt.old", "log.txt"};

struct logs_options {
  cluster_options cluster;
  std::string run;
  std::string daemon;          ///< Empty: all.
  std::string level = "debug"; ///< The least.
  bool follow = false;
};

/// What one line of JSON takes of a log.
constexpr std::size_t longest_json_log = std::size_t{256} << 20;

using text_sink = std::function<result<void>(std::string_view)>;

/// A run that waits has no log yet. One whose folder is gone has none any more.
result<void> no_log(cluster_client& client, const std::string& run) {
  const auto files = client.fetch_file({run, {}, 0});
  if (!files)
    return files.error();
  return ok();
}

/// Hands over what a file of a run has.
/// @returns whether there is such a file.
result<bool> read_log_file(cluster_client& client, const std::string& run,
                           const char* name, const text_sink& out) {
  for (std::uint64_t offset = 0;;) {
    auto piece = client.fetch_file({run, name, offset});
    if (!piece && piece.error().code == ec::not_found)
      return false;
    if (!piece)
      return piece.error();
    const auto& bytes = piece.value().bytes;
    if (bytes.empty())
      return true;
    GRAPHMILL_TRYV(
      out({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    offset += bytes.size();
    if (offset >= piece.value().size)
      return true;
  }
}

/// Hands over a log, with what was put aside of a long one.
result<void> read_log(cluster_client& client, const std::string& run,
                      const text_sink& out) {
  auto found = false;
  for (const auto* name : log_file_names) {
    GRAPHMILL_TRY(const auto there, read_log_file(client, run, name, out));
    found = found || there;
  }
  return found ? ok() : no_log(client, run);
}

/// Prints the log files of a run that the coordinator has no lines of any more.
result<void> print_log_files(cluster_client& client, const std::string& run,
                             bool json) {
  if (!json)
    return read_log(client, run, [](std::string_view text) {
      say_lines(text);
      return ok();
    });
  std::string whole;
  GRAPHMILL_TRYV(
    read_log(client, run, [&whole](std::string_view text) -> result<void> {
      whole += text;
      if (whole.size() > longest_json_log)
        return fail(ec::invalid_argument,
                    "the log is too long for a line of JSON; "
                    "print it without --json");
      return ok();
    }));
  say("{}\n", one_line({{"run", run}, {"log", whole}}));
  return ok();
}

/// Prints the lines of a run as the coordinator has collected them, those of
/// each daemon in their order. Used by one thread.
class line_printer {
public:
  line_printer(cluster_client& client, log_request first, bool json)
    : client_(client), asked_(std::move(first)), json_(json) {}

  /// Prints what there is by now.
  /// @returns the last answer.
  result<log_reply> print_new() {
    for (;;) {
      GRAPHMILL_TRY(auto page, client_.logs(asked_));
      if (page.missing > 0)
        say(stderr,
            "graphmill: {} here, as the coordinator has forgotten them\n",
            page.missing == 1
              ? "a line is missing"
              : fmt::format("{} lines are missing", page.missing));
      for (const auto& line : page.lines)
        print(line);
      printed_ += page.lines.size();
      const auto stands = page.next == asked_.after;
      asked_.after = page.next;
      std::fflush(stdout);
      if (!page.more || stands)
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
  void print(const log_line& line) const {
    if (json_)
      say("{}\n", one_line(log_line_json(line)));
    else
      say("{}.{:03} {} {:<5} {}\n", time_text(line.time),
          line.time.count() % 1000, line.daemon, to_string(line.level),
          line.text);
  }

  cluster_client& client_;
  log_request asked_;
  bool json_;
  std::size_t printed_ = 0;
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
  const auto json = options.cluster.json;
  line_printer lines{
    client, {.run = run.id, .daemon = options.daemon, .level = level}, json};
  GRAPHMILL_TRYV(lines.print_new());
  if (lines.printed() == 0 && !options.daemon.empty()) {
    GRAPHMILL_TRY(const auto now, client.status());
    GRAPHMILL_TRYV(expect_daemon(now, options.daemon));
  }
  GRAPHMILL_TRYV(options.follow ? follow_log(client, run.id, lines, signals)
                                : lines.print_all(signals));
  const auto is_chosen = !options.daemon.empty() || level != log_level::debug;
  if (lines.printed() > 0)
    return 0;
  if (!is_chosen) {
    GRAPHMILL_TRYV(print_log_files(client, run.id, json));
    return 0;
  }
  say(stderr,
      "graphmill: the coordinator knows no such line of run {} (any more); "
      "without --daemon and --level, its log files are printed then\n",
      run.id);
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
    "Of a run from before that, it prints the log files in the run's folder.\n"
    "With --json, each line is an object, as /api/logs has it.");
  command->callback(
    [&cli, options] { cli.run = [options] { return logs(*options); }; });
}

} // namespace graphmill
