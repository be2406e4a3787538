#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/text/run_watcher.hpp"
#include "actors/process/say.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

namespace graphmill {

namespace {

using namespace std::chrono_literals;
using log_clock = std::chrono::steady_clock;

/// How often a log is looked at while its run is on.
constexpr auto follow_interval = 500ms;

/// How long the coordinator may be out of reach meanwhile.
constexpr auto follow_patience = 60s;

constexpr const char* log_file = "log.txt";

struct logs_options {
  cluster_options cluster;
  std::string run;
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

/// Hands over what a log has from `offset` on, and moves `offset` to its end.
result<void> read_log(cluster_client& client, const std::string& run,
                      std::uint64_t& offset, const text_sink& out) {
  for (;;) {
    auto piece = client.fetch_file({run, log_file, offset});
    if (!piece && piece.error().code == ec::not_found)
      return no_log(client, run);
    if (!piece)
      return piece.error();
    const auto& bytes = piece.value().bytes;
    if (bytes.empty())
      return ok();
    GRAPHMILL_TRYV(
      out({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    offset += bytes.size();
    if (offset >= piece.value().size)
      return ok();
  }
}

/// Hands over what is new in a log. @returns whether its run is over.
result<bool> look_at_log(cluster_client& client, const std::string& run,
                         std::uint64_t& offset, const text_sink& out) {
  // In this order: nothing is written after the end.
  GRAPHMILL_TRY(const auto now, client.run(run));
  GRAPHMILL_TRYV(read_log(client, run, offset, out));
  return is_over(now.state);
}

/// Prints a log until its run is over. The coordinator may be started anew
/// meanwhile.
result<int> follow_log(cluster_client& client, const run_record& run,
                       signal_watch& signals, const text_sink& out) {
  std::uint64_t offset = 0;
  auto reached = log_clock::now();
  for (auto told = false; signals.count() == 0;) {
    const auto over = look_at_log(client, run.id, offset, out);
    if (over && over.value())
      return 0;
    if (over) {
      reached = log_clock::now();
      told = false;
    } else if (!may_pass(over.error())
               || log_clock::now() - reached >= follow_patience) {
      return over.error();
    } else if (!std::exchange(told, true)) {
      say(stderr, "graphmill: {}; trying again\n", over.error().message);
    }
    signals.wait(follow_interval);
  }
  return fail(ec::cancelled, "follows no more; run {} goes on", run.id);
}

result<int> logs(const logs_options& options) {
  const auto print = [](std::string_view text) -> result<void> {
    say_lines(text);
    std::fflush(stdout);
    return ok();
  };
  signal_watch signals;
  GRAPHMILL_TRY(auto client, connect(options.cluster, "logs", &signals));
  GRAPHMILL_TRY(const auto run, client.run(options.run));
  if (options.follow)
    return follow_log(client, run, signals, print);
  std::uint64_t offset = 0;
  if (!options.cluster.json) {
    GRAPHMILL_TRYV(read_log(client, run.id, offset, print));
    return 0;
  }
  std::string whole;
  GRAPHMILL_TRYV(read_log(
    client, run.id, offset, [&whole](std::string_view text) -> result<void> {
      whole += text;
      if (whole.size() > longest_json_log)
        return fail(ec::invalid_argument,
                    "the log is too long for a line of JSON; "
                    "print it without --json");
      return ok();
    }));
  say("{}\n", one_line({{"run", run.id}, {"log", whole}}));
  return 0;
}

} // namespace

void add_logs_command(command_line& cli) {
  auto options = std::make_shared<logs_options>();
  auto* command =
    cli.app.add_subcommand("logs", "Print the log of a run of a cluster");
  command->add_option("run", options->run, "Id of the run (default: latest)");
  auto* follow = command->add_flag("-f,--follow", options->follow,
                                   "Go on until the run is over");
  add_cluster_options(*command, options->cluster);
  follow->excludes(command->get_option("--json"));
  command->callback(
    [&cli, options] { cli.run = [options] { return logs(*options); }; });
}

} // namespace graphmill
