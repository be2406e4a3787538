#include "actors/cluster/client/fetch_trace.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/process/say.hpp"
#include "messages/base/pluralized.hpp"
#include "pipelines/health/trace_events.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>

namespace graphmill {

namespace {

struct trace_options {
  cluster_options cluster;
  std::string run;
  std::string out = "trace.json";
  double last_seconds = 10;
  std::size_t steps = 0;
};

/// @returns nothing when all of them are there.
std::string holes_in(const run_trace& trace) {
  std::string out;
  for (const auto& daemon : trace.daemons)
    if (daemon.lost != 0)
      out += fmt::format("; the first {} of daemon {} were overwritten before",
                         pluralized(daemon.lost, "span"), daemon.name);
  if (!trace.missing.empty())
    out += fmt::format("; without {}, which did not answer",
                       fmt::join(trace.missing, ", "));
  return out;
}

int tell_trace(const run_trace& trace, const trace_options& options) {
  std::size_t spans = 0;
  std::int64_t error = 0;
  for (const auto& daemon : trace.daemons) {
    spans += daemon.size();
    error = std::max(error, daemon.clock.error);
  }
  // Parts of others may lie beside those that were asked for.
  const auto steps = options.steps == 0
                       ? steps_in(trace)
                       : std::min(options.steps, steps_in(trace));
  if (options.cluster.json)
    say("{}\n", one_line({{"run", trace.run},
                          {"file", options.out},
                          {"daemons", trace.daemons.size()},
                          {"steps", steps},
                          {"spans", spans},
                          {"clock_error_us", double(error) * 1e-3},
                          {"missing", trace.missing}}));
  else
    say("{}: {} of run {}, {} of {}, clocks aligned to {:.0f} us; open it in "
        "ui.perfetto.dev or chrome://tracing{}\n",
        options.out, pluralized(steps, "training step"), trace.run,
        pluralized(spans, "span"), pluralized(trace.daemons.size(), "daemon"),
        double(error) * 1e-3, holes_in(trace));
  return 0;
}

result<int> trace(const trace_options& options) {
  signal_watch signals;
  GRAPHMILL_TRY(auto client, connect(options.cluster, "trace", &signals));
  GRAPHMILL_TRY(const auto run, client.run(options.run));
  // Daemons know still what a run did that waits for its next attempt.
  if (run.state == run_state::queued && run.started == unix_time{0})
    return fail(ec::unavailable,
                "run {} has not started yet: there is nothing to trace",
                run.id);
  trace_wish wish;
  wish.run = run.id;
  wish.last = std::chrono::duration_cast<std::chrono::milliseconds>(
    std::chrono::duration<double>(options.last_seconds));
  wish.steps = options.steps;
  GRAPHMILL_TRY(const auto seen, fetch_trace(client, wish, signals));
  GRAPHMILL_TRYV(write_trace_file(seen, options.out));
  return tell_trace(seen, options);
}

} // namespace

void add_trace_command(command_line& cli) {
  auto options = std::make_shared<trace_options>();
  auto* command = cli.app.add_subcommand(
    "trace",
    "Write what every actor of a run did, batch by batch, for Perfetto");
  command->add_option("run", options->run, "Id of the run (default: latest)");
  auto* last =
    command
      ->add_option("--last", options->last_seconds,
                   "How far back from now, or from the end of the run, as in "
                   "10s or 500ms. Each daemon keeps its last 65,536 spans")
      ->transform(
        CLI::AsNumberWithUnit(std::map<std::string, double>{
                                {"ms", 0.001}, {"s", 1.0}, {"min", 60.0}})
          .description(""))
      ->check(CLI::Range(0.001, 86'400.0).description("1ms to 1440min"))
      ->type_name("TIME")
      ->capture_default_str();
  command
    ->add_option("--steps", options->steps,
                 "Instead of --last: so many training steps from now on, or "
                 "the last ones of a finished run")
    ->check(CLI::Range(std::size_t{1}, most_traced_steps))
    ->excludes(last);
  command
    ->add_option("--out", options->out,
                 "File to write, JSON in Chrome's trace event format")
    ->capture_default_str();
  add_cluster_options(*command, options->cluster);
  command->callback(
    [&cli, options] { cli.run = [options] { return trace(*options); }; });
}

} // namespace graphmill
