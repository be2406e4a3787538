#include "actors/bench/bench_graph.hpp"
#include "actors/run/local_run.hpp"
#include "pipelines/definition/definition_file.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>

namespace graphmill {

namespace {

/// Share of a run's processor time that may go to anything but the work itself.
constexpr double most_overhead = 3; // per cent

constexpr auto definition_text = R"(
dataset: {}
seed: {}
sampler: {{fanouts: [15, 10, 5]}}
model: {{kind: sage, hidden: 256, dropout: 0.5}}
train: {{batch_size: {}}}
trainer: {{threads: 1}}
)";

result<run_result> run_epoch(const bench_context& context) {
  GRAPHMILL_TRY(const auto data, bench_dataset(context));
  GRAPHMILL_TRY(const auto graph, partitioned_graph::open(data));
  local_run_config config;
  const auto source =
    parse_definition(fmt::format(definition_text, graph.info().name,
                                 context.seed, bench_batch_size),
                     "bench.yaml");
  if (!source.problems.empty())
    return fail(ec::internal, "the benchmark's definition is wrong: {}",
                source.problems.front().text);
  config.def = source.value;
  config.data = data;
  config.verify = false; // Measured is the epoch alone.
  config.mode = run_mode::epoch;
  config.log = std::make_shared<spdlog::logger>(
    "bench", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  config.log->set_level(spdlog::level::warn);
  std::optional<signal_watch> signals;
  auto done = run_locally(std::move(config), signals);
  if (done && done.value().outcome.failure)
    return *done.value().outcome.failure;
  return done;
}

} // namespace

result<std::vector<bench_figure>> bench_epoch(const bench_context& context) {
  GRAPHMILL_TRY(const auto run, run_epoch(context));
  double busiest = 0;
  double at_work = 0;
  for (const auto& stage : table_of(run.work)) {
    busiest = std::max(busiest, stage.busy_seconds / stage.replicas);
    at_work += stage.cpu_seconds;
  }
  const auto overhead =
    100 * std::max(0.0, run.work.cpu_seconds - at_work) / run.work.cpu_seconds;
  return std::vector<bench_figure>{
    // The limit: the busiest stage alone, the others all behind it.
    {"epoch", run.seconds, "s", busiest, run.seconds / busiest},
    {"epoch overhead", overhead, "% of cpu", most_overhead,
     overhead / most_overhead},
  };
}

} // namespace graphmill
