#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/run_options.hpp"
#include "actors/process/say.hpp"
#include "actors/run/local_run.hpp"
#include "actors/run/run_reporter.hpp"
#include "messages/base/pluralized.hpp"
#include "partition/files/json_text.hpp"
#include "pipelines/flow/batch_metrics.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

namespace graphmill {

namespace {

struct evaluate_options : finished_run_options {
  std::string split = "test";
};

/// In which epoch the run has evaluated its weights: if neighbours are sampled,
/// the draws depend on it. A run without a summary has said nothing.
/// @param key Of the summary, which counts from 1.
std::int32_t epoch_of_summary(const run_folder& run, const char* key) {
  const auto summary = run.read_summary();
  if (!summary || !summary.value().is_object())
    return 0;
  const auto epoch = integer_of(summary.value().value(key, nlohmann::json{}));
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
    epoch.value_or(1) - 1, 0, std::numeric_limits<std::int32_t>::max()));
}

/// Has neighbours drawn as the run has drawn them for the numbers that it
/// ends with, so that these are the same.
void draw_as_the_run(finished_run& run) {
  auto& config = run.config;
  config.drawn_as =
    config.evaluated == split::validation ? phase::validation : phase::test;
  config.drawn_in = epoch_of_summary(
    run.folder,
    config.evaluated == split::validation ? "best_epoch" : "epochs");
}

result<int> evaluate(const evaluate_options& options) {
  GRAPHMILL_TRY(auto run, open_finished_run(options));
  run.config.mode = run_mode::evaluate;
  run.config.evaluated = options.split == "train"        ? split::train
                         : options.split == "validation" ? split::validation
                                                         : split::test;
  draw_as_the_run(run);
  const auto drawn_as = run.config.drawn_as;
  run_reporter reporter{nullptr, show_progress(options.quiet), nullptr};
  reporter.call_work("evaluate " + options.split);
  run.config.observer = reporter.observer();
  std::optional<signal_watch> signals;
  GRAPHMILL_TRY(auto done, run_locally(std::move(run.config), signals));
  if (done.outcome.failure)
    return *done.outcome.failure;
  const auto metrics = reporter.last(drawn_as).value_or(batch_metrics{});
  if (metrics.seeds == 0)
    return fail(ec::invalid_argument,
                "the {} split has no labelled nodes, so that there is nothing "
                "to measure: name another one by --split",
                options.split);
  if (options.json)
    say("{}\n", one_line({{"split", options.split},
                          {"seeds", metrics.seeds},
                          {"accuracy", metrics.accuracy()},
                          {"loss", metrics.loss()},
                          {"seconds", done.seconds},
                          {"run", options.run}}));
  else
    say("{}: accuracy {:.4f}, loss {:.4f} over {} in {:.1f} s\n", options.split,
        metrics.accuracy(), metrics.loss(), pluralized(metrics.seeds, "node"),
        done.seconds);
  return 0;
}

} // namespace

void add_evaluate_command(command_line& cli) {
  auto options = std::make_shared<evaluate_options>();
  auto* command = cli.app.add_subcommand(
    "evaluate", "Measure the accuracy of a finished run on a split");
  add_finished_run_options(*command, *options);
  command->add_option("--split", options->split, "Which split")
    ->check(CLI::IsMember({"train", "validation", "test"}))
    ->capture_default_str();
  command->footer(
    "Sampled neighbours are drawn as in the run's own last test "
    "(with --split validation:\nits best validation), so that the "
    "numbers are those of the run.");
  command->callback(
    [&cli, options] { cli.run = [options] { return evaluate(*options); }; });
}

} // namespace graphmill
