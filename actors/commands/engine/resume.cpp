#include "actors/cluster/client/upload_files.hpp"
#include "actors/commands/engine/new_run.hpp"
#include "actors/commands/engine/training.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/run_options.hpp"
#include "actors/process/say.hpp"
#include "actors/process/signals.hpp"
#include "partition/dataset/label_sets.hpp"
#include "pipelines/definition/dataset_search.hpp"
#include "pipelines/definition/definition_changes.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/flow/course.hpp"
#include "pipelines/model/state_shapes.hpp"
#include "pipelines/results/checkpoint.hpp"
#include "pipelines/results/checkpoint_state.hpp"
#include "pipelines/results/run_folder.hpp"
#include "pipelines/task/chosen_target.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

struct resume_options {
  cluster_options cluster; ///< Without an address: a run of this machine.
  std::string run;
  std::string from;
  std::string data;
  std::string runs = "runs";
  std::vector<std::string> overrides;
  bool with_changes = false;
  bool from_start = false;
  bool tensorboard = false; ///< A run that has curves keeps them without it.
  training_options how;
};

/// A run that is to go on, and where from.
struct resumption {
  std::optional<run_folder> folder; ///< None: one is made for the checkpoint.
  std::optional<checkpoint> before; ///< None: from the beginning.
  std::string definition;           ///< By which it went until then.
  std::string dataset_digest;
  fs::path data;
};

bool is_checkpoint(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(path / "state.json", unknown);
}

/// @param name Of one in the run's folder, or the path of another.
fs::path place_of(const run_folder& folder, const std::string& name) {
  const auto own = folder.checkpoints() / name;
  return is_checkpoint(own) ? own : fs::path{name};
}

/// What a run has left, of which the newest checkpoint may be damaged.
result<std::optional<checkpoint>> last_of(const run_folder& folder) {
  GRAPHMILL_TRY(auto found, newest_checkpoint(folder.checkpoints()));
  if (!found)
    return std::optional<checkpoint>{};
  for (const auto& damage : found->passed_over)
    say(stderr, "{}; the checkpoint before it is used\n", damage);
  return std::optional{std::move(found->content)};
}

result<run_folder> reopen_run(const std::string& run) {
  auto folder = run_folder::reopen(run);
  const auto* cluster = std::getenv("GRAPHMILL_CLUSTER");
  if (folder || folder.error().code != ec::not_found || cluster == nullptr
      || !fs::path{run}.parent_path().empty())
    return folder;
  return fail(ec::not_found,
              "{}; a run of the cluster is continued by `graphmill resume {} "
              "--cluster {}`",
              folder.error().message, run, cluster);
}

/// Fails if a run that begins anew would replace what it has left.
result<void> check_replaceable(const run_folder& folder,
                               const definition& def) {
  std::error_code unknown;
  const auto* left = fs::exists(folder.weights(), unknown) ? "weights"
                     // Else it has ended before its first checkpoint.
                     : def.checkpoint.keep == 0
                         && fs::file_size(folder.metrics_file(), unknown) != 0
                         && !unknown
                       ? "metrics"
                       : nullptr;
  if (left == nullptr)
    return ok();
  return fail(ec::invalid_argument,
              "the run {} has {}, but no checkpoint: `checkpoint.keep: 0` "
              "writes none, and `graphmill fetch` brings none. --from-start "
              "trains it again and replaces its files; a run of a cluster is "
              "continued there by `graphmill resume` with --cluster and its id",
              folder.path().string(), left);
}

result<resumption> find_run(const resume_options& options) {
  resumption out;
  if (is_checkpoint(options.run)) {
    if (!options.from.empty() || options.from_start)
      return fail(ec::invalid_argument, "{} is a checkpoint: leave out {}",
                  options.run,
                  options.from_start ? "the start" : "--from " + options.from);
    GRAPHMILL_TRY(out.before, read_checkpoint(options.run));
  } else {
    GRAPHMILL_TRY(out.folder, reopen_run(options.run));
    GRAPHMILL_TRYV(out.folder->hold());
    if (!options.from.empty()) {
      GRAPHMILL_TRY(out.before,
                    read_checkpoint(place_of(*out.folder, options.from)));
    } else if (!options.from_start) {
      GRAPHMILL_TRY(out.before, last_of(*out.folder));
    }
  }
  if (out.before) {
    out.definition = out.before->definition;
    out.dataset_digest = out.before->dataset_digest;
    out.data = out.before->data;
  }
  if (out.folder) {
    out.data = out.folder->from().data;
    if (!out.before) {
      GRAPHMILL_TRY(const auto source, load_record(out.folder->definition()));
      if (!options.from_start)
        GRAPHMILL_TRYV(check_replaceable(*out.folder, source.value));
      out.definition = definition_yaml(source.value);
      out.dataset_digest = out.folder->from().learnt.dataset_digest;
    }
  }
  return out;
}

/// What was found once, as a definition with what the user sets.
result<definition_source> definition_of(const resumption& found,
                                        const resume_options& options) {
  auto source = parse_record(found.definition);
  if (source.problems.empty() && !options.overrides.empty()) {
    const auto before = source.value;
    source = parse_record(found.definition, options.overrides);
    if (source.problems.empty() && !options.with_changes)
      GRAPHMILL_TRYV(check_unchanged(before, source.value));
    if (source.problems.empty() && found.before)
      GRAPHMILL_TRYV(check_same_validation(before, source.value));
  }
  if (!source.problems.empty())
    return to_error(source.problems);
  return source;
}

/// Makes the folder of a run of which there is but a checkpoint.
result<void> make_folder(resumption& found, const resume_options& options,
                         const definition& def, const dataset_info& info) {
  GRAPHMILL_TRY(const auto learnt, learnt_on(def, info, found.data));
  GRAPHMILL_TRY(found.folder,
                run_folder::create(options.runs, def.name, definition_yaml(def),
                                   {found.data, learnt}));
  return ok();
}

/// That of its run.json, which stays. A checkpoint may be of another run.
result<void> check_kind_of_labels(const run_folder& folder,
                                  const definition& def,
                                  const dataset_info& info) {
  const auto own = load_record(folder.definition());
  GRAPHMILL_TRY(const auto before,
                meaning_of_target(info, own ? own.value().value : def));
  GRAPHMILL_TRY(const auto after, meaning_of_target(info, def));
  const auto then = before.kind;
  const auto now = after.kind;
  if (then == now)
    return ok();
  return fail(ec::invalid_argument,
              "the run would learn {} instead of {}, and its run.json cannot "
              "change: start a new run with `graphmill train`",
              traits_of(now).phrase, traits_of(then).phrase);
}

constexpr auto how_to_train_on =
  "`--set train.epochs=N --with-changes` trains it for longer";

/// Of a run that is to go on as it is, and has ended: there is nothing to do.
int tell_finished(const nlohmann::json& summary,
                  const resume_options& options) {
  if (!options.how.quiet)
    say(options.how.json ? stderr : stdout,
        "{} has finished and nothing is changed: {}\n", options.run,
        how_to_train_on);
  if (options.how.json)
    say("{}\n", one_line(summary));
  return 0;
}

/// Where a run begins that is gone on with.
std::string begin_text(const checkpoint* before, bool steps_left) {
  if (before == nullptr)
    return "starts over: there is no checkpoint";
  const auto& at = before->state.at;
  if (!steps_left)
    return fmt::format(
      "has done all its {} training steps and is tested again: {}",
      at.train_steps, how_to_train_on);
  return fmt::format(
    "continues after epoch {}, step {}: {} training steps are done", at.epoch,
    at.step, at.train_steps);
}

/// The definition of a run at the coordinator, with what the user sets.
result<definition_source> definition_at(cluster_client& client,
                                        const resume_options& options) {
  file_request wanted;
  wanted.run = options.run;
  wanted.file = "definition.yaml";
  GRAPHMILL_TRY(const auto found, client.fetch_file(wanted));
  const std::string text{reinterpret_cast<const char*>(found.bytes.data()),
                         found.bytes.size()};
  auto source = parse_record(text, options.overrides);
  if (!source.problems.empty())
    return to_error(source.problems);
  return source;
}

/// Has a cluster go on with one of its runs. @returns the new run.
result<std::string> resume_there(cluster_client& client,
                                 const resume_options& options) {
  if (const fs::path path{options.run}; path != path.filename())
    return fail(ec::invalid_argument,
                "{} is a path, but --cluster needs the id of a run, as "
                "`graphmill runs` lists it: give {} if it is that run. --from "
                "sends a local checkpoint to the cluster",
                options.run, (path / "").parent_path().filename().string());
  GRAPHMILL_TRY(const auto source, definition_at(client, options));
  return client.resume(
    source.value,
    {options.run, options.from, options.with_changes, options.tensorboard});
}

/// Has a cluster go on with a checkpoint that lies here. @returns the new run.
result<std::string> resume_uploaded(cluster_client& client,
                                    const resume_options& options) {
  const fs::path folder{options.from};
  GRAPHMILL_TRY(const auto found, read_checkpoint_state(folder));
  auto source = parse_record(found.content.definition, options.overrides);
  if (!source.problems.empty())
    return to_error(source.problems);
  // What it began with is behind it, and cannot be read there.
  source.value.model.weights.clear();
  GRAPHMILL_TRYV(
    upload_checkpoint(client, folder, show_progress(options.how.quiet)));
  return client.resume(source.value, {.with_changes = options.with_changes,
                                      .tensorboard = options.tensorboard,
                                      .uploaded = true});
}

/// Has a cluster go on with a run, as a new one: the old one's record stays.
result<int> resume_on_cluster(const resume_options& options) {
  signal_watch signals;
  GRAPHMILL_TRY(auto client, connect(options.cluster, "resume", &signals));
  GRAPHMILL_TRY(const auto run, options.run.empty()
                                  ? resume_uploaded(client, options)
                                  : resume_there(client, options));
  if (!options.how.quiet)
    say(options.how.json ? stderr : stdout,
        "run {} continues {}; `graphmill watch {}` shows it\n", run,
        options.run.empty() ? options.from : options.run, run);
  if (options.how.json)
    say("{}\n", one_line({{"run", run}}));
  return 0;
}

result<int> resume(const resume_options& options) {
  if (!options.cluster.address.empty())
    return resume_on_cluster(options);
  GRAPHMILL_TRY(auto found, find_run(options));
  GRAPHMILL_TRY(const auto source, definition_of(found, options));
  const auto& def = source.value;
  if (!options.data.empty()) {
    GRAPHMILL_TRY(found.data, find_dataset(def, options.data));
  }
  GRAPHMILL_TRY(const auto graph, partitioned_graph::open(found.data));
  if (graph.info().digest != found.dataset_digest)
    return fail(
      ec::invalid_data,
      "{} holds another dataset than the one that the run was trained on "
      "(digests {} and {}): give the folder of that one with --data",
      found.data.string(), graph.info().digest, found.dataset_digest);
  GRAPHMILL_TRYV(check_definition_against(source, found.data));
  if (found.folder)
    GRAPHMILL_TRYV(check_kind_of_labels(*found.folder, def, graph.info()));
  auto* before = found.before ? &*found.before : nullptr;
  const auto at = before != nullptr ? before->state.at : course_position{};
  const auto steps_left =
    has_steps_left(def, seed_count(graph.info(), def, split::train), at);
  const auto as_it_is = options.overrides.empty() && options.from.empty()
                        && !options.tensorboard && found.folder;
  if (as_it_is && !steps_left)
    if (const auto summary = found.folder->summary_at_end(); !summary.is_null())
      return tell_finished(summary, options);
  if (before != nullptr)
    GRAPHMILL_TRYV(check_restorable(def, graph.info(), *before->state.tensors));
  std::optional<new_run> fresh;
  if (!found.folder) {
    GRAPHMILL_TRYV(make_folder(found, options, def, graph.info()));
    fresh.emplace(*found.folder);
    GRAPHMILL_TRYV(found.folder->hold());
  }
  auto& folder = *found.folder;
  if (!options.how.quiet)
    say(options.how.json ? stderr : stdout, "{}\n",
        begin_text(before, steps_left));
  local_run_config config;
  config.def = def;
  config.data = found.data;
  // What cannot be prepared leaves the run as it was.
  config.on_prepared = [&folder, &fresh, &options, before, at,
                        &def]() -> result<void> {
    if (options.tensorboard)
      GRAPHMILL_TRYV(folder.keep_events());
    if (fresh)
      fresh->begins();
    GRAPHMILL_TRYV(
      remove_checkpoints_after(folder.checkpoints(), checkpoint_name(at)));
    // Of many epochs, they take memory that training need not do without.
    auto metrics = nlohmann::json::array();
    if (before != nullptr)
      metrics.swap(before->metrics);
    return folder.go_back(metrics, at, definition_yaml(def));
  };
  return train_in(folder, std::move(config), graph.info().digest,
                  graph.part_count(), options.how, before);
}

} // namespace

void add_resume_command(command_line& cli) {
  auto options = std::make_shared<resume_options>();
  options->cluster.address.clear();
  auto* command = cli.app.add_subcommand(
    "resume",
    "Continue a run that was stopped, has failed or should train for longer");
  command->add_option("run", options->run,
                      "Folder of the run, or of a checkpoint, which gets a new "
                      "run; with --cluster the id of a run");
  command->add_option(
    "--from", options->from,
    "Checkpoint to continue from: a name in RUN/checkpoints, or a path "
    "(default: the newest one). With --cluster and without RUN: the folder of "
    "a local checkpoint, which is sent there");
  command->add_option(
    "--data", options->data,
    "The dataset, or the folder that holds it, if it has moved");
  command
    ->add_option("--runs", options->runs,
                 "Folder for the run folder of a checkpoint")
    ->capture_default_str();
  command
    ->add_flag("--from-start", options->from_start,
               "Train the run again, and replace all its files")
    ->excludes("--from");
  auto* cluster =
    command->add_option("--cluster", options->cluster.address,
                        "Let the cluster with this coordinator continue one of "
                        "its runs, or a checkpoint, as a new run");
  add_key_options(*command, options->cluster.key, options->cluster.insecure);
  add_override_option(*command, options->overrides);
  command->add_flag("--with-changes", options->with_changes,
                    "Allow --set to change what is computed from here on, such "
                    "as more epochs or another learning rate");
  add_tensorboard_flag(*command, options->tensorboard);
  add_training_options(*command, options->how);
  // A cluster has data, folders and memory of its own.
  for (const auto* own : {"--data", "--runs", "--from-start", "--no-verify",
                          "--storage", "--disk-cache", "--memory"})
    cluster->excludes(command->get_option(own));
  command->footer("The weights equal those of a run that was never stopped. "
                  "Checkpoints and metrics\n"
                  "after the checkpoint are removed.");
  command->callback([&cli, options] {
    if (options->cluster.address.empty() && options->run.empty())
      refuse_words(
        "say what to continue: the folder of a run or of a checkpoint");
    if (options->run.empty() && options->from.empty())
      refuse_words("say what the cluster should continue: the id of one of its "
                   "runs, or with --from the folder of a local checkpoint");
    cli.run = [options] { return resume(*options); };
  });
}

} // namespace graphmill
