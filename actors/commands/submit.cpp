#include "actors/cluster/client/submit_run.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/run_options.hpp"
#include "actors/commands/options/run_tags.hpp"
#include "actors/commands/sweep.hpp"
#include "actors/commands/text/run_watcher.hpp"
#include "actors/process/say.hpp"
#include "pipelines/definition/dataset_search.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/measured_seeds.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>

namespace graphmill {

namespace {

struct submit_options {
  cluster_options cluster;
  std::string file;
  std::string predict;  ///< Folder of a finished run, in the place of a file.
  std::string evaluate; ///< The same.
  /// Which one is evaluated, or has the edges that are predicted.
  std::string split = "test";
  bool names_split = false; ///< The user did.
  std::vector<std::string> overrides;
  std::vector<std::string> tags;
  std::vector<std::string> grid;
  std::uint32_t repeat = 1;
  std::uint32_t random = 0;
  std::uint64_t search_seed = 1;
  std::uint32_t halving = 0;
  bool tensorboard = false;
  bool watch = false;
  bool quiet = false;
};

struct watch_options {
  cluster_options cluster;
  std::string run;
  bool quiet = false;
};

/// Follows a run until it or the user's patience ends, or nobody reads on.
result<int> watch(cluster_client& client, const std::string& run,
                  signal_watch& signals, bool json, bool quiet) {
  run_watcher::settings with;
  with.run = run;
  with.table = quiet ? nullptr : json ? stderr : stdout;
  with.quiet = quiet;
  auto reader = output_reader::there;
  with.check = [&]() -> result<void> {
    GRAPHMILL_TRY(reader, flush_output());
    if (reader == output_reader::there)
      return ok();
    if (reader == output_reader::hung_up)
      signals.hang_up();
    return fail(ec::cancelled, "nobody reads the output");
  };
  auto ended = run_watcher{client, std::move(with)}.follow();
  if (ended)
    return conclude_run(ended.value(), json, quiet);
  if (reader == output_reader::gone)
    return 0;
  if (ended.error().code == ec::cancelled)
    return fail(ec::cancelled,
                "stopped watching; run {0} goes on. `graphmill watch {0}` "
                "shows it again, `graphmill cancel {0}` ends it",
                run);
  return ended.error();
}

result<submission> submission_of(const submit_options& options) {
  const auto split =
    measured_split_named(options.split).value_or(measured_split::test);
  if (!options.predict.empty())
    return prediction_by(options.predict,
                         options.names_split ? split : measured_split::none,
                         options.overrides);
  if (!options.evaluate.empty())
    return evaluation_by(options.evaluate, split, options.overrides);
  GRAPHMILL_TRY(auto source, load_definition(options.file, options.overrides));
  GRAPHMILL_TRYV(take_name_if_there(source));
  GRAPHMILL_TRYV(add_tags(source.value, options.tags));
  return submission{std::move(source.value)};
}

result<int> submit(const submit_options& options) {
  GRAPHMILL_TRY(const auto what, submission_of(options));
  signal_watch signals;
  const auto waits = options.watch || !what.def.model.weights.empty();
  GRAPHMILL_TRY(auto client,
                connect(options.cluster, "submit", waits ? &signals : nullptr));
  GRAPHMILL_TRY(const auto run,
                submit_run(client, what.def, options.tensorboard,
                           show_progress(options.quiet), what.learnt));
  const auto json = options.cluster.json;
  if (!options.quiet)
    say(json || options.watch ? stderr : stdout, "run {} submitted to {}\n",
        run, client.address());
  if (options.watch)
    return watch(client, run, signals, json, options.quiet);
  if (json)
    say("{}\n", one_line({{"run", run}}));
  return 0;
}

result<int> sweep(const submit_options& options) {
  const sweep_options all{.file = options.file,
                          .overrides = options.overrides,
                          .tags = options.tags,
                          .grid = options.grid,
                          .repeat = options.repeat,
                          .random = options.random,
                          .search_seed = options.search_seed,
                          .halving = options.halving,
                          .tensorboard = options.tensorboard,
                          .json = options.cluster.json,
                          .quiet = options.quiet};
  GRAPHMILL_TRY(auto plan, plan_sweep(all));
  signal_watch signals;
  GRAPHMILL_TRY(auto client, connect(options.cluster, "submit", &signals));
  return run_sweep(client, std::move(plan), all);
}

result<int> watch_run(const watch_options& options) {
  signal_watch signals;
  GRAPHMILL_TRY(auto client, connect(options.cluster, "watch", &signals));
  GRAPHMILL_TRY(const auto run, client.run(options.run));
  return watch(client, run.id, signals, options.cluster.json, options.quiet);
}

/// @pre what they exclude is there
void add_weights_options(CLI::App& command, submit_options& options) {
  auto* predict =
    command
      .add_option("--predict", options.predict,
                  "Instead of a definition, the folder of a finished run: the "
                  "cluster predicts all nodes with its weights. Of a task of "
                  "edges it computes embeddings of all nodes, or predicts the "
                  "edges of --split")
      ->type_name("RUN");
  auto* evaluate =
    command
      .add_option("--evaluate", options.evaluate,
                  "Instead of a definition, the folder of a finished run: the "
                  "cluster measures a split, as `graphmill evaluate` does")
      ->type_name("RUN")
      ->excludes(predict);
  add_split_option(command, options.split,
                   "The split that --evaluate measures, or whose edges "
                   "--predict predicts");
  for (const auto* other :
       {"file", "--tag", "--grid", "--repeat", "--tensorboard"})
    for (auto* option : {predict, evaluate})
      option->excludes(command.get_option(other));
}

void add_sweep_options(CLI::App& command, submit_options& options) {
  auto* grid =
    command
      .add_option("--grid", options.grid,
                  "Run every combination of values: --grid model.hidden=64,256 "
                  "(repeatable), and print a table, best first. With --random "
                  "also ranges, as in model.dropout=0..0.6 or "
                  "optimizer.learning_rate=log:1e-4..1e-1")
      ->check(parsed_by(parse_sweep_axis))
      ->type_name("FIELD=A,B")
      ->allow_extra_args(false);
  command
    .add_option("--repeat", options.repeat,
                "Run each setting so many times with consecutive seeds, for "
                "mean and deviation")
    ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{most_sweep_runs}))
    ->capture_default_str();
  auto* random =
    command
      .add_option("--random", options.random,
                  "Run only so many combinations of --grid, drawn at random")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{most_sweep_runs}))
      ->needs(grid);
  command
    .add_option("--search-seed", options.search_seed, "Random seed of --random")
    ->capture_default_str()
    ->needs(random);
  command
    .add_option("--halving", options.halving,
                "Successive halving: train all settings for a few epochs, then "
                "the best one in so many (as in 3) for longer, until the last "
                "ones have had train.epochs")
    ->check(CLI::Range(2u, 10u))
    ->needs(grid);
}

} // namespace

void add_submit_command(command_line& cli) {
  auto options = std::make_shared<submit_options>();
  auto* command =
    cli.app.add_subcommand("submit", "Run a definition on a cluster");
  command->add_option("file", options->file, "Pipeline definition (YAML)");
  add_override_option(*command, options->overrides);
  add_tag_option(*command, options->tags);
  add_sweep_options(*command, *options);
  add_tensorboard_flag(*command, options->tensorboard);
  add_weights_options(*command, *options);
  command->add_flag("-w,--watch", options->watch, "Show the run until it ends");
  command->add_flag("-q,--quiet", options->quiet,
                    "No progress, no table; errors only");
  add_cluster_options(*command, options->cluster);
  command->footer(
    "The definition is checked here first, then against the cluster's "
    "dataset.\n"
    "Runs wait in a queue. Ctrl-C or a closed terminal ends --watch, not the "
    "run.\n"
    "With --watch, the exit code is 0 only if the run has finished, and "
    "--json\n"
    "prints the same line as `graphmill train --json`.\n"
    "\n"
    "Many settings: --grid and --repeat queue all runs at once, at most 90, "
    "wait for\n"
    "them, and print the best mean of evaluate.metric over validation first. "
    "Ctrl-C\n"
    "ends the wait and prints the table so far; the runs go on. --json ends "
    "with\n"
    "{\"sweep\": a row each, with the ids of its runs, \"error\"}. Runs are "
    "named after\n"
    "their values, as in people-hidden64-dropout0.3. --halving stops the other "
    "settings\n"
    "early and takes a fraction of the time; the table shows the epochs of "
    "each row.\n"
    "\n"
    "--predict writes logits.npy and predictions.npy to the run's folder, "
    "which\n"
    "`graphmill fetch` brings. Row i is node i before partitioning. It takes "
    "all\n"
    "neighbours, unless --set evaluate.neighbours=sampled is given.\n"
    "Of a task of edges it writes embeddings.TYPE.npy, which `graphmill "
    "predict` uses\n"
    "for --top and --pairs; or, with --split, row i of the others is edge i of "
    "it.\n"
    "\n"
    "--evaluate prints the metrics of `graphmill evaluate` with as many "
    "trainers; --json\n"
    "has them under \"evaluation\". --set evaluate.scores=true adds ROC-AUC "
    "and average\n"
    "precision, --set evaluate.neighbours=all takes all neighbours.\n"
    "\n"
    "Both use the decision threshold of the run, or that of\n"
    "--set evaluate.threshold=0.3:CLASS.");
  command->callback([&cli, options, command] {
    if (options->file.empty() && options->predict.empty()
        && options->evaluate.empty())
      refuse_words("file is required, or --predict RUN or --evaluate RUN, the "
                   "folder of a finished run");
    options->names_split = command->count("--split") != 0;
    if (options->names_split && options->predict.empty()
        && options->evaluate.empty())
      refuse_words("--split needs --evaluate or --predict");
    const auto many = !options->grid.empty() || options->repeat > 1;
    cli.run = [options, many] {
      return many ? sweep(*options) : submit(*options);
    };
  });
}

void add_watch_command(command_line& cli) {
  auto options = std::make_shared<watch_options>();
  auto* command =
    cli.app.add_subcommand("watch", "Show a run of a cluster until it ends");
  command->add_option("run", options->run, "Id of the run (default: latest)");
  command->add_flag("-q,--quiet", options->quiet,
                    "No progress, no table; errors only");
  add_cluster_options(*command, options->cluster);
  command->footer("Ctrl-C ends the command, not the run.");
  command->callback(
    [&cli, options] { cli.run = [options] { return watch_run(*options); }; });
}

} // namespace graphmill
