#include "actors/commands/log/line_printer.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/text/follow.hpp"
#include "actors/process/logs/log_levels.hpp"
#include "actors/process/say.hpp"
#include "messages/words/enumerated.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

namespace {

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
  say(stderr, "graphmill: no line of run {} matches{}\n", run.id,
      options.daemon.empty() ? ""
                             : " any more; without --daemon, its log file is "
                               "printed");
  return 0;
}

} // namespace

void add_logs_command(command_line& cli) {
  auto options = std::make_shared<logs_options>();
  auto* command = cli.app.add_subcommand(
    "logs", "Print the log lines of all daemons about a run");
  command->add_option("run", options->run, "Id of the run (default: latest)");
  command->add_flag("-f,--follow", options->follow,
                    "Follow until the run ends");
  command->add_option("--daemon", options->daemon, "Only lines of this daemon");
  command
    ->add_option(
      "--level", options->level,
      "Only lines of this level or above: debug, info, warn, error, critical")
    ->check(parsed_by(parse_log_level))
    ->capture_default_str();
  add_cluster_options(*command, options->cluster);
  command->footer(
    "The coordinator keeps the last 16 MiB of lines of all daemons in memory.\n"
    "Older lines of the run, also from before a restart, come from the log in "
    "the\n"
    "run's folder, without a daemon's name.\n"
    "With --json, each line is an object as in /api/logs.");
  command->callback(
    [&cli, options] { cli.run = [options] { return logs(*options); }; });
}

} // namespace graphmill
