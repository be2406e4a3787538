#include "actors/commands/engine/new_run.hpp"
#include "actors/commands/engine/training.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/run_tags.hpp"
#include "actors/process/say.hpp"
#include "actors/run/local_run.hpp"
#include "partition/dataset/inspection/class_census.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/definition/dataset_search.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/planning/budget_note.hpp"
#include "pipelines/planning/run_plan.hpp"
#include "pipelines/results/run_folder.hpp"

#include <cstdio>
#include <memory>
#include <utility>

namespace graphmill {

namespace {

struct train_options {
  std::string file;
  std::string data;
  std::string runs = "runs";
  std::vector<std::string> overrides;
  std::vector<std::string> tags;
  bool tensorboard = false;
  std::string curves; ///< Where those for it go; empty: to the run folder.
  training_options how;
};

/// Says what may go wrong without a word. What keeps the labels from being
/// counted ends the run with a sentence of its own.
void warn(const definition& def, const partitioned_graph& graph) {
  const auto warn_of = [](const std::string& note) {
    say(stderr, "warning: {}\n", note);
  };
  for (const auto& note :
       {note_on_graph(def, graph.info()), note_on_metric(def, graph.info()),
        note_on_proofs(def, graph)})
    if (note)
      warn_of(*note);
  if (const auto plan = plan_run(def, graph.info(), graph.part_count()))
    if (const auto note = note_on_budget(plan.value()))
      warn_of(*note);
  const auto shown = choose_target(graph, def);
  if (!shown)
    return;
  if (const auto census = count_classes_of_seeds(shown.value()))
    for (const auto& note : notes_on_training(census.value()))
      warn_of(note);
}

/// Fails if the weights that a run begins with would misread the dataset, as
/// far as their run tells.
result<void> check_weights_before(const definition& def,
                                  const dataset_info& info,
                                  const std::filesystem::path& data) {
  if (def.model.weights.empty())
    return ok();
  GRAPHMILL_TRY(const auto from, learnt_beside(def.model.weights));
  return from ? check_first_weights(
           def, info, data, *from,
           fmt::format("model.weights: {} holds another dataset than the one "
                       "that {} was trained on (digests {} and {})",
                       data.string(), def.model.weights, info.digest,
                       from->dataset_digest))
              : ok();
}

result<int> train(const train_options& options) {
  GRAPHMILL_TRY(auto source, load_definition(options.file, options.overrides));
  const auto& def = source.value;
  GRAPHMILL_TRY(auto data, find_dataset(source, options.data));
  GRAPHMILL_TRY(auto graph, partitioned_graph::open(data));
  take_name_at_path(source, options.data, graph.info());
  GRAPHMILL_TRYV(add_tags(source.value, options.tags));
  GRAPHMILL_TRYV(check_definition_against(source, data));
  GRAPHMILL_TRYV(check_weights_before(def, graph.info(), data));
  if (!options.how.quiet)
    warn(def, graph);
  if (!options.how.trace.empty()) // Better known now than after the run.
    GRAPHMILL_TRYV(scratch_file::create(options.how.trace, file_access::owner));
  GRAPHMILL_TRY(const auto learnt, learnt_on(def, graph.info(), data));
  GRAPHMILL_TRY(auto folder,
                run_folder::create(options.runs, def.name, definition_yaml(def),
                                   {data, learnt}));
  new_run fresh{folder};
  GRAPHMILL_TRYV(folder.hold());
  local_run_config config;
  config.def = def;
  config.data = data;
  config.on_prepared = [&]() -> result<void> {
    if (options.tensorboard)
      GRAPHMILL_TRYV(folder.keep_events(options.curves));
    fresh.begins();
    return ok();
  };
  return train_in(folder, std::move(config), graph.info().digest,
                  graph.part_count(), options.how);
}

} // namespace

void add_train_command(command_line& cli) {
  auto options = std::make_shared<train_options>();
  auto* command = cli.app.add_subcommand(
    "train", "Train the model of a definition on this machine");
  command->add_option("file", options->file, "Pipeline definition (YAML)")
    ->required();
  command->add_option("--data", options->data,
                      "The dataset, or the folder that holds it (default: "
                      "./data)");
  command->add_option("--runs", options->runs, "Folder for the run folder")
    ->capture_default_str();
  add_override_option(*command, options->overrides);
  add_tag_option(*command, options->tags);
  auto* curves = command
                   ->add_option("--tensorboard", options->curves,
                                "Also write loss and metrics for TensorBoard, "
                                "to RUN/tensorboard, or to DIR/RUN")
                   ->expected(0, 1)
                   ->type_name("[DIR]");
  command
    ->add_option("--trace", options->how.trace,
                 "Write what every actor did, batch by batch, in the last "
                 "65,536 spans, for Perfetto")
    ->type_name("FILE");
  add_training_options(*command, options->how);
  command->footer(
    "Ctrl-C finishes the step and saves weights and metrics; a second one "
    "stops at once.\n"
    "SIGTERM and a closed terminal act like Ctrl-C, unless nohup is used.\n"
    "Fields of a definition: graphmill help definition");
  command->callback([&cli, options, curves] {
    options->tensorboard = curves->count() > 0;
    cli.run = [options] { return train(*options); };
  });
}

} // namespace graphmill
