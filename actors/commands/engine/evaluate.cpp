#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/run_options.hpp"
#include "actors/process/say.hpp"
#include "actors/run/local_run.hpp"
#include "actors/run/run_reporter.hpp"
#include "messages/base/pluralized.hpp"
#include "pipelines/flow/batch_metrics.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>

namespace graphmill {

namespace {

struct evaluate_options : finished_run_options {
  std::string split = "test";
};

result<int> evaluate(const evaluate_options& options) {
  GRAPHMILL_TRY(auto run, open_finished_run(options));
  run.config.mode = run_mode::evaluate;
  run.config.evaluated = options.split == "train"        ? split::train
                         : options.split == "validation" ? split::validation
                                                         : split::test;
  run_reporter reporter{nullptr, show_progress(options.quiet), nullptr};
  run.config.observer = reporter.observer();
  std::optional<signal_watch> signals;
  GRAPHMILL_TRY(auto done, run_locally(std::move(run.config), signals));
  if (done.outcome.failure)
    return *done.outcome.failure;
  const auto metrics = reporter.last(phase::test).value_or(batch_metrics{});
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
  command->callback(
    [&cli, options] { cli.run = [options] { return evaluate(*options); }; });
}

} // namespace graphmill
