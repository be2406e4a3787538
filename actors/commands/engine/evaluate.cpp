#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/run_options.hpp"
#include "actors/commands/text/evaluation_text.hpp"
#include "actors/process/say.hpp"
#include "actors/run/class_report.hpp"
#include "actors/run/local_run.hpp"
#include "actors/run/run_reporter.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/definition/validation/time_checks.hpp"
#include "pipelines/definition/validation/value_checks.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/task/chosen_target.hpp"
#include "pipelines/task/task_traits.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace graphmill {

namespace {

struct evaluate_options : finished_run_options {
  std::string split = "test";
  bool scores = false;
};

/// Fails if scores are asked for, and the split has more than are brought
/// together. A definition is checked for validation and test; this split may be
/// that of training, so that numbers are looked at, too.
result<void> check_split(const local_run_config& config, bool scores) {
  GRAPHMILL_TRY(const auto whole, partitioned_graph::open(config.data));
  GRAPHMILL_TRY(const auto info, choose_target(whole.info(), config.def));
  const auto seeds =
    static_cast<std::uint64_t>(seed_count(info, config.def, config.evaluated));
  if (seeds > 0 && !can_be_measured(info, config.def, config.evaluated))
    return fail(ec::invalid_argument,
                "no edge of the {0} split has a label, so that there is "
                "nothing to measure; `graphmill predict --split {0}` predicts "
                "these edges",
                file_stem(config.evaluated));
  if (const auto note = note_on_values(info, seeds))
    say(stderr, "warning: {}: only the loss is printed\n", *note);
  if (!scores)
    return ok();
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  const auto classes = static_cast<std::uint64_t>(target.class_count);
  if (task_of(target).outcomes == outcome_form::values)
    return fail(
      ec::invalid_argument,
      "--scores is for classes, and labels of {} are numbers; leave it out",
      info.name);
  if (seeds * classes <= seed_outcomes::most_scores)
    return ok();
  return fail(ec::invalid_argument,
              "--scores and thresholds take a score for each class of each "
              "seed, and {} seeds with {} classes are more than {} scores; "
              "leave --scores out, and give --threshold none",
              seeds, classes, seed_outcomes::most_scores);
}

/// How many of the rows are older than rows of the training split, so that a
/// model may have learnt from what they do not see.
result<std::int64_t> early_rows(const local_run_config& config) {
  if (config.def.task.empty())
    return 0;
  GRAPHMILL_TRY(const auto whole, partitioned_graph::open(config.data));
  GRAPHMILL_TRY(const auto chosen, choose_target(whole, config.def));
  return count_early_rows(config.def, chosen, config.evaluated);
}

/// Gives the edge types of links their names.
result<void> name_edge_types(const std::filesystem::path& data,
                             const definition& def, nlohmann::json& told) {
  if (!told.contains("edge_types"))
    return ok();
  GRAPHMILL_TRY(const auto whole, partitioned_graph::open(data));
  GRAPHMILL_TRY(const auto info, choose_target(whole.info(), def));
  for (auto& one : told["edge_types"])
    one["name"] = info.edge_type_name(
      chosen_task(info)->edge_types.at(one["edge_type"].get<std::size_t>()));
  return ok();
}

void tell(const evaluate_options& options, nlohmann::json told,
          double seconds) {
  if (options.json) {
    told.update(
      {{"split", options.split}, {"seconds", seconds}, {"run", options.run}});
    say("{}\n", one_line(told));
    return;
  }
  say("{}: {} in {:.1f} s\n", options.split, measured_text(told), seconds);
  if (const auto line = metrics_text(told); !line.empty())
    say("{}\n", line);
  for (const auto& [name, value] : told.items())
    if (name.find(':') != std::string::npos && value.is_number())
      say("{} {:.4f}\n", name, value.get<double>());
  if (const auto line = threshold_text(told); !line.empty())
    say("{}\n", line);
  if (told.contains("edge_types"))
    for (const auto& one : told["edge_types"])
      say("{}: MRR {:.4f}, hits@10 {:.4f} over {}\n",
          one["name"].get<std::string>(), one["mrr"].get<double>(),
          one["hits@10"].get<double>(),
          pluralized(one["seeds"].get<std::uint64_t>(), "edge"));
}

result<int> evaluate(const evaluate_options& options) {
  GRAPHMILL_TRY(auto run, open_finished_run(options));
  go_over(run, options.split == "train"        ? split::train
               : options.split == "validation" ? split::validation
                                               : split::test);
  if (options.scores)
    run.config.def.evaluate.scores = true;
  GRAPHMILL_TRYV(
    check_split(run.config, options.scores || !run.threshold.empty()));
  GRAPHMILL_TRY(const auto early, early_rows(run.config));
  const auto as = run.config.drawn_as;
  run_reporter reporter{nullptr, show_progress(options.quiet), nullptr};
  reporter.call_work("evaluate " + options.split);
  run.config.observer = reporter.observer();
  const auto data = run.config.data;
  const auto def = run.config.def;
  std::optional<signal_watch> signals;
  GRAPHMILL_TRY(auto done, run_locally(std::move(run.config), signals));
  if (done.outcome.failure)
    return *done.outcome.failure;
  if (reporter.last(as).value_or(batch_metrics{}).seeds == 0)
    return nothing_measured(options.split);
  auto told = reporter.told(as);
  GRAPHMILL_TRYV(name_edge_types(data, def, told));
  if (early > 0) {
    told["rows_before_training"] = early;
    say(stderr,
        "warning: {} of the {} split {} older than the last training row of "
        "this dataset: if the run has learnt from that row, the figures may be "
        "too good\n",
        pluralized(early, "row"), options.split, early == 1 ? "is" : "are");
  }
  tell(options, std::move(told), done.seconds);
  return 0;
}

} // namespace

void add_evaluate_command(command_line& cli) {
  auto options = std::make_shared<evaluate_options>();
  options->measures = true;
  auto* command = cli.app.add_subcommand(
    "evaluate",
    "Measure accuracy and other metrics of a finished run on a split");
  add_finished_run_options(*command, *options);
  add_split_option(*command, options->split, "Which split");
  command->add_flag(
    "--scores", options->scores,
    "Print ROC-AUC and average precision, whatever the run's definition says");
  command->footer("Sampled neighbours are drawn as in the run's last test "
                  "(with --split validation: its\n"
                  "best validation), so the numbers equal those of the run.");
  command->callback(
    [&cli, options] { cli.run = [options] { return evaluate(*options); }; });
}

} // namespace graphmill
