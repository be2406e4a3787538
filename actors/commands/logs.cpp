#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/process/say.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace graphmill {

namespace {

using namespace std::chrono_literals;

/// How often a log is looked at while its run is on.
constexpr auto follow_interval = 500ms;

constexpr const char* log_file = "log.txt";

struct logs_options {
  cluster_options cluster;
  std::string run;
  bool follow = false;
};

/// What one line of JSON takes of a log.
constexpr std::size_t longest_json_log = std::size_t{256} << 20;

using text_sink = std::function<result<void>(std::string_view)>;

/// Hands over what a log has from `offset` on, and moves `offset` to its end.
/// A run that waits has no log yet.
result<void> read_log(cluster_client& client, const std::string& run,
                      std::uint64_t& offset, const text_sink& out) {
  for (;;) {
    auto piece = client.fetch_file({run, log_file, offset});
    if (!piece && piece.error().code == ec::not_found)
      return ok();
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

/// Prints a log until its run is over.
result<int> follow_log(cluster_client& client, run_record run,
                       signal_watch& signals, const text_sink& out) {
  std::uint64_t offset = 0;
  while (signals.count() == 0) {
    // In this order: nothing is written after the end.
    const auto over = is_over(run.state);
    GRAPHMILL_TRYV(read_log(client, run.id, offset, out));
    if (over)
      return 0;
    signals.wait(follow_interval);
    GRAPHMILL_TRY(run, client.run(run.id));
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
  GRAPHMILL_TRY(auto run, client.run(options.run));
  if (options.follow)
    return follow_log(client, std::move(run), signals, print);
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
