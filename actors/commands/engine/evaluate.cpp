#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/run_options.hpp"
#include "actors/process/say.hpp"
#include "actors/run/local_run.hpp"
#include "actors/run/run_reporter.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/files/json_text.hpp"
#include "pipelines/definition/value_checks.hpp"
#include "pipelines/flow/batch_metrics.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace graphmill {

namespace {

struct evaluate_options : finished_run_options {
  std::string split = "test";
  bool scores = false;
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

/// Fails if scores are asked for, and the split has more than are brought
/// together. A definition is checked for validation and test; this split may be
/// that of training, so that numbers are looked at, too.
result<void> check_split(const local_run_config& config, bool scores) {
  GRAPHMILL_TRY(const auto whole, partitioned_graph::open(config.data));
  GRAPHMILL_TRY(const auto graph, whole.with_labels(config.def.labels));
  const auto& info = graph.info();
  if (const auto note =
        note_on_values(info, graph.seeds(config.evaluated).size()))
    say(stderr, "warning: {}: the loss alone is told\n", *note);
  if (!scores)
    return ok();
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  const std::uint64_t seeds = graph.seeds(config.evaluated).size();
  const auto classes = static_cast<std::uint64_t>(target.class_count);
  if (target.regression())
    return fail(ec::invalid_argument,
                "--scores is for classes, and labels of {} are numbers; leave "
                "it out",
                info.name);
  if (seeds * classes <= seed_outcomes::most_scores)
    return ok();
  return fail(ec::invalid_argument,
              "--scores takes a score for each class of each seed, and {} "
              "seeds with {} classes are more than {} scores; leave it out",
              seeds, classes, seed_outcomes::most_scores);
}

/// The line of metrics that look at each class; empty if there are none.
std::string class_text(const nlohmann::json& told) {
  const auto number = [&told](const char* key) {
    const auto value = told.value(key, nlohmann::json{});
    return value.is_number() ? fmt::format("{:.4f}", value.get<double>()) : "-";
  };
  std::string out;
  if (told.contains("f1_macro"))
    out += fmt::format("F1 {} macro, {} micro", number("f1_macro"),
                       number("f1_micro"));
  if (told.contains("mse"))
    out += fmt::format("MSE {}, RMSE {}, MAE {}, R2 {}", number("mse"),
                       number("rmse"), number("mae"), number("r2"));
  if (told.contains("roc_auc"))
    out +=
      fmt::format("{}ROC-AUC {}, average precision {}", out.empty() ? "" : "; ",
                  number("roc_auc"), number("average_precision"));
  return out;
}

void tell(const evaluate_options& options, const batch_metrics& metrics,
          nlohmann::json told, double seconds) {
  if (options.json) {
    told.update({{"split", options.split},
                 {"seeds", metrics.seeds},
                 {"loss", metrics.loss()},
                 {"seconds", seconds},
                 {"run", options.run}});
    say("{}\n", one_line(told));
    return;
  }
  const auto accuracy = told.contains("accuracy")
                          ? fmt::format("accuracy {:.4f}, ", metrics.accuracy())
                          : std::string{};
  say("{}: {}loss {:.4f} over {} in {:.1f} s\n", options.split, accuracy,
      metrics.loss(), pluralized(metrics.seeds, "node"), seconds);
  if (const auto line = class_text(told); !line.empty())
    say("{}\n", line);
}

result<int> evaluate(const evaluate_options& options) {
  GRAPHMILL_TRY(auto run, open_finished_run(options));
  run.config.mode = run_mode::evaluate;
  run.config.evaluated = options.split == "train"        ? split::train
                         : options.split == "validation" ? split::validation
                                                         : split::test;
  if (options.scores)
    run.config.def.evaluate.scores = true;
  GRAPHMILL_TRYV(check_split(run.config, options.scores));
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
  tell(options, metrics,
       reporter.told(drawn_as).is_null() ? nlohmann::json::object()
                                         : reporter.told(drawn_as),
       done.seconds);
  return 0;
}

} // namespace

void add_evaluate_command(command_line& cli) {
  auto options = std::make_shared<evaluate_options>();
  auto* command = cli.app.add_subcommand(
    "evaluate",
    "Measure accuracy and other metrics of a finished run on a split");
  add_finished_run_options(*command, *options);
  command->add_option("--split", options->split, "Which split")
    ->check(CLI::IsMember({"train", "validation", "test"}))
    ->capture_default_str();
  command->add_flag("--scores", options->scores,
                    "Tell ROC-AUC and average precision, too, whatever the "
                    "run's definition says");
  command->footer(
    "Sampled neighbours are drawn as in the run's own last test "
    "(with --split validation:\nits best validation), so that the "
    "numbers are those of the run.");
  command->callback(
    [&cli, options] { cli.run = [options] { return evaluate(*options); }; });
}

} // namespace graphmill
