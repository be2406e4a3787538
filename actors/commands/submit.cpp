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
  std::string split = "test"; ///< Which one is evaluated.
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
    return fail(ec::cancelled, "nobody reads what is printed");
  };
  auto ended = run_watcher{client, std::move(with)}.follow();
  if (ended)
    return conclude_run(ended.value(), json, quiet);
  if (reader == output_reader::gone)
    return 0;
  if (ended.error().code == ec::cancelled)
    return fail(ec::cancelled,
                "watches no more; run {0} goes on. `graphmill watch {0}` shows "
                "it again, `graphmill cancel {0}` ends it",
                run);
  return ended.error();
}

result<submission> submission_of(const submit_options& options) {
  if (!options.predict.empty())
    return prediction_by(options.predict, options.overrides);
  if (!options.evaluate.empty())
    return evaluation_by(
      options.evaluate,
      measured_split_named(options.split).value_or(measured_split::test),
      options.overrides);
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
                  "In the place of a definition the folder of a finished run, "
                  "whose weights are sent: the cluster predicts all nodes")
      ->type_name("RUN");
  auto* evaluate =
    command
      .add_option("--evaluate", options.evaluate,
                  "The same: the cluster measures a split, as `graphmill "
                  "evaluate` does")
      ->type_name("RUN")
      ->excludes(predict);
  command
    .add_option("--split", options.split, "Which split --evaluate measures")
    ->check(CLI::IsMember({"train", "validation", "test"}))
    ->capture_default_str()
    ->needs(evaluate);
  for (const auto* other :
       {"file", "--tag", "--grid", "--repeat", "--tensorboard"})
    for (auto* option : {predict, evaluate})
      option->excludes(command.get_option(other));
}

void add_sweep_options(CLI::App& command, submit_options& options) {
  auto* grid =
    command
      .add_option(
        "--grid", options.grid,
        "Run every combination of values of fields: --grid "
        "model.hidden=64,256 (repeatable), and print a table, best "
        "first; with --random also ranges, as in model.dropout=0..0.6 "
        "or optimizer.learning_rate=log:1e-4..1e-1")
      ->check(parsed_by(parse_sweep_axis))
      ->type_name("FIELD=A,B")
      ->allow_extra_args(false);
  command
    .add_option("--repeat", options.repeat,
                "Run each so many times, with seeds one apart, for mean and "
                "deviation")
    ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{most_sweep_runs}))
    ->capture_default_str();
  auto* random =
    command
      .add_option("--random", options.random,
                  "Of --grid run so many combinations that are drawn at random")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{most_sweep_runs}))
      ->needs(grid);
  command
    .add_option("--search-seed", options.search_seed,
                "Which ones --random draws: the same for the same number")
    ->capture_default_str()
    ->needs(random);
  command
    .add_option("--halving", options.halving,
                "Successive halving: train all for few epochs first, and go on "
                "with the best one in so many, as in 3, until these have had "
                "train.epochs")
    ->check(CLI::Range(2u, 10u))
    ->needs(grid);
}

} // namespace

void add_submit_command(command_line& cli) {
  auto options = std::make_shared<submit_options>();
  auto* command = cli.app.add_subcommand(
    "submit", "Give a pipeline definition to a cluster, which runs it");
  command->add_option("file", options->file, "Pipeline definition (YAML)");
  add_override_option(*command, options->overrides);
  add_tag_option(*command, options->tags);
  add_sweep_options(*command, *options);
  add_tensorboard_flag(*command, options->tensorboard);
  add_weights_options(*command, *options);
  command->add_flag("-w,--watch", options->watch,
                    "Show the run and wait for its end");
  command->add_flag("-q,--quiet", options->quiet,
                    "No progress, no table; errors only");
  add_cluster_options(*command, options->cluster);
  command->footer(
    "The definition is checked here first, then against the cluster's "
    "dataset.\nRuns wait for each other in a queue. Ctrl-C ends --watch, not "
    "the run;\nso does a terminal that is closed.\nWith --watch, the exit code "
    "is 0 only if the run finished, and "
    "--json\nprints the same line as `graphmill train --json`.\n"
    "With --grid or --repeat it waits for all runs, which are queued at once, "
    "90 at\nthe most. Best is the best mean of evaluate.metric over "
    "validation. Ctrl-C ends\nthe waiting and prints what there is; the runs "
    "go on. --json ends with {\"sweep\":\na "
    "row each, with the ids of its runs, \"error\"}. Runs are called like the "
    "values that they\nhave, as in people-hidden64-dropout0.3.\n"
    "--halving stops the others early and takes a fraction of the time; the "
    "table says\nhow many epochs each row had.\n"
    "What --predict gives is in the run's folder, which `graphmill fetch` "
    "brings:\nlogits.npy and predictions.npy, row i of node i before the "
    "dataset was cut; of\nall neighbours, unless --set "
    "evaluate.neighbours=sampled says otherwise.\n--evaluate tells the "
    "metrics of `graphmill evaluate` with as many trainers; with\n--json they "
    "are under \"evaluation\". --set evaluate.scores=true adds ROC-AUC and\n"
    "average precision, --set evaluate.neighbours=all takes all neighbours. "
    "Both use\nthe decision threshold of the run, or that of --set "
    "evaluate.threshold=0.3:CLASS.");
  command->callback([&cli, options] {
    if (options->file.empty() && options->predict.empty()
        && options->evaluate.empty())
      refuse_words("file is required, or --predict RUN or --evaluate RUN, the "
                   "folder of a finished run");
    const auto many = !options->grid.empty() || options->repeat > 1;
    cli.run = [options, many] {
      return many ? sweep(*options) : submit(*options);
    };
  });
}

void add_watch_command(command_line& cli) {
  auto options = std::make_shared<watch_options>();
  auto* command = cli.app.add_subcommand(
    "watch", "Show a run of a cluster and wait for its end");
  command->add_option("run", options->run, "Id of the run (default: latest)");
  command->add_flag("-q,--quiet", options->quiet,
                    "No progress, no table; errors only");
  add_cluster_options(*command, options->cluster);
  command->footer("Ctrl-C ends the command, not the run.");
  command->callback(
    [&cli, options] { cli.run = [options] { return watch_run(*options); }; });
}

} // namespace graphmill
