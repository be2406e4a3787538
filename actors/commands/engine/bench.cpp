#include "actors/bench/bench.hpp"
#include "actors/bench/limits.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/process/say.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

/// Every benchmark, in the order in which they run.
const std::array benchmarks{
  benchmark{"sampling", "Sampled edges per second, one thread", bench_sampling},
  benchmark{"gather", "Gathered feature rows, one thread", bench_gather},
  benchmark{"assembly", "Transposed edges per second, one thread",
            bench_assembly},
  benchmark{"step",
            "A training step of GraphSAGE, one thread; the limit is its matrix "
            "products",
            bench_step},
  benchmark{"spans",
            "A state of an actor that is recorded for traces; the limit is one "
            "that is not",
            bench_spans},
  benchmark{"status",
            "The answer to status of 200 daemons with 50 actors each; the "
            "limit is writing its text",
            bench_status},
  benchmark{"epoch",
            "An epoch of training, and its overhead beyond the work itself",
            bench_epoch},
};

struct bench_options {
  std::vector<std::string> names;
  bench_context context;
  bool json = false;
};

fs::path default_cache() {
  if (const auto* cache = std::getenv("XDG_CACHE_HOME");
      cache != nullptr && *cache != '\0')
    return fs::path{cache} / "graphmill";
  if (const auto* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path{home} / ".cache" / "graphmill";
  return "graphmill-cache";
}

void print(const bench_figure& figure, bool json) {
  if (json) {
    say("{}\n", one_line({{"name", figure.name},
                          {"value", figure.value},
                          {"unit", figure.unit},
                          {"limit", figure.limit},
                          {"ratio", figure.ratio}}));
  } else if (figure.limit != 0) {
    say("{:<24} {:>12.4g} {:<16} {:>12.4g} {:>8.3f}\n", figure.name,
        figure.value, figure.unit, figure.limit, figure.ratio);
  } else {
    say("{:<24} {:>12.4g} {:<16} {:>12} {:>8}\n", figure.name, figure.value,
        figure.unit, "-", "-");
  }
  std::fflush(stdout);
}

/// Says so if a limit is much slower than it was: then the ratio flatters.
void compare_with_record(const bench_figure& figure) {
  const auto* record = std::find_if(
    recorded_limits.begin(), recorded_limits.end(),
    [&figure](const auto& each) { return each.figure == figure.name; });
  if (record == recorded_limits.end() || figure.limit <= 0)
    return;
  const auto fraction = record->higher_is_faster ? figure.limit / record->limit
                                                 : record->limit / figure.limit;
  if (fraction < least_fraction_of_limit)
    say(stderr,
        "warning: the limit of {} is {:.4g} {} here, {:.0f} % of the "
        "{:.4g} recorded on {}\n",
        figure.name, figure.limit, figure.unit, fraction * 100, record->limit,
        limits_machine);
}

result<std::vector<benchmark>> chosen(const std::vector<std::string>& names) {
  std::vector<benchmark> out;
  for (const auto& name : names) {
    const auto* found =
      std::find_if(benchmarks.begin(), benchmarks.end(),
                   [&name](const auto& each) { return each.name == name; });
    if (found == benchmarks.end())
      return fail(ec::not_found,
                  "there is no benchmark \"{}\"; see bench "
                  "--help",
                  name);
    out.push_back(*found);
  }
  if (names.empty())
    out.assign(benchmarks.begin(), benchmarks.end());
  return out;
}

result<int> run_bench(const bench_options& options) {
  GRAPHMILL_TRY(const auto to_run, chosen(options.names));
  if (!options.json)
    say("{:<24} {:>12} {:<16} {:>12} {:>8}\n", "name", "value", "unit", "limit",
        "ratio");
  for (const auto& each : to_run) {
    GRAPHMILL_TRY(const auto figures, each.run(options.context));
    for (const auto& figure : figures) {
      print(figure, options.json);
      if (options.context.scale == bench_context{}.scale)
        compare_with_record(figure);
    }
  }
  return 0;
}

} // namespace

void add_bench_command(command_line& cli) {
  auto* app = cli.app.add_subcommand(
    "bench", "Measure the hot paths beside their limits on this machine");
  auto options = std::make_shared<bench_options>();
  options->context.cache = default_cache();
  options->context.on_progress = show_progress(false);
  std::string names;
  for (const auto& each : benchmarks)
    names += fmt::format("\n  {:<12} {}", each.name, each.help);
  app->add_option("NAME", options->names,
                  "What to measure; default all:" + names);
  app->add_flag("--json", options->json, "One line of JSON per figure");
  app
    ->add_option("--cache", options->context.cache,
                 "Folder that keeps the generated graph")
    ->capture_default_str();
  app
    ->add_option("--scale", options->context.scale,
                 "2^SCALE nodes of the R-MAT graph, 24 edges each")
    ->capture_default_str()
    ->check(CLI::Range(8, 26));
  app->callback(
    [&cli, options] { cli.run = [options] { return run_bench(*options); }; });
}

} // namespace graphmill
