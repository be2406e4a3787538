#include "actors/commands/engine/predict_edges.hpp"
#include "actors/commands/engine/predict_links.hpp"
#include "actors/commands/engine/prediction_files.hpp"
#include "actors/commands/engine/prediction_nodes.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/run_options.hpp"
#include "actors/process/say.hpp"
#include "actors/run/layerwise_run.hpp"
#include "actors/run/local_run.hpp"
#include "actors/run/run_reporter.hpp"
#include "messages/base/pluralized.hpp"
#include "pipelines/definition/yaml/problem.hpp"
#include "pipelines/kernels/class_scores.hpp"
#include "pipelines/kernels/cross_entropy.hpp"
#include "pipelines/task/chosen_target.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

/// The most that --top takes: what is kept of a node fits into memory.
constexpr std::int64_t most_links = 65'536;

struct predict_options : finished_run_options {
  std::string out = "predictions.npy";
  std::string nodes;    ///< A file; empty: all of the target type.
  std::string pairs;    ///< A file of edges, for a task of edges.
  std::string split;    ///< Whose edges are predicted; empty: of none.
  std::int64_t top = 0; ///< Links of each node; 0: none are searched for.
  std::string end; ///< Of links, which is searched for; empty: the default.
  std::string edge_type; ///< Of links; empty: all of the task.
  std::string known;     ///< "keep", "drop"; empty: the default.
  node_naming nodes_by = node_naming::either;
  bool probabilities = false;
  bool logits = false;
  bool embeddings = false;
  std::vector<std::string> embeddings_of; ///< Node types.
  bool all = false;                       ///< Layer by layer.
  std::string scratch;                    ///< Empty: where `out` goes.
};

prediction_request request_of(const predict_options& options) {
  prediction_request out{.out = options.out,
                         .listed = !options.nodes.empty(),
                         .probabilities = options.probabilities,
                         .logits = options.logits,
                         .embeddings = {}};
  if (options.embeddings)
    out.embeddings.emplace_back();
  for (const auto& type : options.embeddings_of)
    if (std::find(out.embeddings.begin(), out.embeddings.end(), type)
        == out.embeddings.end())
      out.embeddings.push_back(type);
  return out;
}

/// Collects the outputs of batches: a row for each node that is predicted, in
/// the order of original ids.
class collector {
public:
  /// @param nodes Ascending; empty: all of them. Outlives this.
  /// @param logits Whether they are wanted, whatever the request says.
  collector(const prediction_request& request,
            const std::vector<node_id>& nodes, std::int64_t all, bool logits)
    : nodes_(nodes),
      logits_wanted_(request.probabilities || request.logits || logits),
      embeddings_wanted_(!request.embeddings.empty()),
      classes_(nodes.empty() ? static_cast<std::size_t>(all) : nodes.size()) {}

  std::int64_t row_of(node_id node) const {
    return nodes_.empty() ? node
                          : std::lower_bound(nodes_.begin(), nodes_.end(), node)
                              - nodes_.begin();
  }

  void take(const step_result& result) {
    const auto& seeds = *result.original_seeds;
    const auto& output = *result.output;
    if (seeds.empty())
      return;
    for (std::size_t i = 0; i < seeds.size(); ++i)
      classes_[row_of(seeds[i])] = output.predictions[i];
    if (logits_wanted_)
      take_rows(seeds, output.logits, logits_, classes_of_logits_);
    if (embeddings_wanted_)
      take_rows(seeds, output.embeddings, embeddings_, width_);
  }

  /// Into `made`, in memory of this.
  void give(prediction& made) {
    const auto rows = std::ssize(classes_);
    made.classes = std::move(classes_);
    made.logits = {logits_.data(), rows, classes_of_logits_};
    if (embeddings_wanted_)
      made.embeddings = {{embeddings_.data(), rows, width_}};
  }

private:
  void take_rows(const std::vector<node_id>& seeds,
                 const std::vector<float>& values, std::vector<float>& into,
                 std::int64_t& columns) {
    const auto width = values.size() / seeds.size();
    columns = static_cast<std::int64_t>(width);
    into.resize(classes_.size() * width);
    for (std::size_t i = 0; i < seeds.size(); ++i)
      std::copy_n(values.data() + i * width, width,
                  into.data()
                    + static_cast<std::size_t>(row_of(seeds[i])) * width);
  }

  const std::vector<node_id>& nodes_;
  const bool logits_wanted_;
  const bool embeddings_wanted_;
  std::vector<std::int64_t> classes_;
  std::vector<float> logits_;
  std::int64_t classes_of_logits_ = 0;
  std::vector<float> embeddings_;
  std::int64_t width_ = 0;
};

/// What predicting took, for people and for `--json`.
struct predict_cost {
  double seconds = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t scratch_bytes = 0;
};

nlohmann::json threshold_json(const prediction& made) {
  return made.threshold ? nlohmann::json(made.threshold->name)
                        : nlohmann::json();
}

void show(const predict_options& options, const prediction_files& files,
          const prediction& made, bool other_dataset,
          const predict_cost& cost) {
  const auto names = files.names();
  if (options.json) {
    nlohmann::json summary{{"nodes", made.count()},
                           {"other_dataset", other_dataset},
                           {"layer_by_layer", options.all},
                           {"threshold", threshold_json(made)},
                           {"peak_memory_bytes", cost.peak_memory_bytes},
                           {"scratch_bytes", cost.scratch_bytes},
                           {"seconds", cost.seconds}};
    for (const auto& [name, path] : names)
      summary[name] = path;
    return say("{}\n", one_line(summary));
  }
  say("wrote the {} of {} to {}\n", made.task.outputs(),
      pluralized(made.count(), "node"), names.front().second);
  if (made.threshold)
    say("{}\n", threshold_line(*made.threshold, "nodes"));
  for (std::size_t i = 1; i < names.size(); ++i)
    say("wrote {} to {}\n", names[i].first, names[i].second);
}

constexpr auto embeddings_of_batches =
  "--embeddings-of needs --all: batches hold only nodes of the target type";
constexpr auto scratch_of_batches =
  "--scratch is for layers of --all and --top; leave it out";

/// Refuses what does not go together.
void check_words(const predict_options& options) {
  if (options.all && options.neighbours == "sampled")
    refuse_words("--all takes all neighbours: leave --neighbours sampled out");
  const auto& types = options.embeddings_of;
  if (!options.all && !options.embeddings && !types.empty())
    refuse_words(embeddings_of_batches);
  for (auto at = types.begin(); at != types.end(); ++at)
    if (std::find(types.begin(), at, *at) != at)
      refuse_words(
        fmt::format("--embeddings-of names {} twice", in_quotes(*at)));
  if (options.nodes_by != node_naming::either && options.nodes.empty()
      && options.pairs.empty())
    refuse_words("--nodes-by needs --nodes or --pairs");
  const auto layers = options.all || options.embeddings || options.top != 0;
  if (!layers && !options.scratch.empty())
    refuse_words(scratch_of_batches);
  if (options.top != 0 && options.neighbours == "sampled")
    refuse_words("--top takes all neighbours: leave --neighbours sampled out");
  if (options.top == 0
      && !(options.end + options.edge_type + options.known).empty())
    refuse_words("--end, --type and --known need --top");
}

/// @returns what is wrong with a name, by which the format is chosen.
std::string check_name(const std::string& out) {
  const auto end = fs::path{out}.extension();
  return end == ".npy" || end == ".csv"
           ? ""
           : fmt::format("{} ends neither in .npy nor in .csv", in_quotes(out));
}

/// By number, in the order of `prediction_request::embeddings`.
result<std::vector<node_type_id>> types_of(const prediction_request& request,
                                           const dataset_info& info) {
  std::vector<node_type_id> out;
  for (const auto& name : request.embeddings) {
    const auto found = name.empty() ? info.target : info.find_node_type(name);
    if (!found)
      return fail(ec::not_found, "{} has no node type {}", in_quotes(info.name),
                  in_quotes(name));
    out.push_back(*found);
  }
  return out;
}

/// The ids of the tables that nodes were imported from.
/// @param embeddings By type, in the order of `prediction_request::embeddings`.
result<void> take_names(const fs::path& data, const dataset_info& info,
                        const std::vector<node_type_id>& embeddings,
                        prediction& made) {
  GRAPHMILL_TRY(made.names, table_ids::open(data, info, info.target));
  for (const auto type : embeddings) {
    GRAPHMILL_TRY(auto names, table_ids::open(data, info, type));
    made.embedding_names.push_back(std::move(names));
  }
  return ok();
}

/// Predicts in either way, and writes what was asked for. Borrows options, run
/// and info; serves one call.
class predict_work {
public:
  predict_work(const predict_options& options, finished_run& run,
               const dataset_info& info, prediction made,
               std::vector<node_type_id> embeddings, prediction_files files)
    : options_(options), run_(run), info_(info), made_(std::move(made)),
      embeddings_(std::move(embeddings)), files_(std::move(files)) {}

  result<void> by_batches() {
    auto nodes = made_.ids;
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    collector outputs{request_of(options_), nodes,
                      info_.node_types[info_.target].count,
                      !made_.task.one_class || made_.threshold};
    auto& config = run_.config;
    config.mode = run_mode::predict;
    config.nodes = nodes;
    run_reporter reporter{nullptr, show_progress(options_.quiet), nullptr};
    reporter.call_work("predict");
    config.observer = reporter.observer();
    config.observer.on_output = [&outputs](const step_result& result) {
      outputs.take(result);
    };
    std::optional<signal_watch> signals; // Until all is written.
    GRAPHMILL_TRY(auto done, run_locally(std::move(config), signals));
    if (done.outcome.failure)
      return *done.outcome.failure;
    outputs.give(made_);
    decide();
    for (const auto id : made_.ids)
      made_.rows.push_back(outputs.row_of(id));
    return write({done.seconds, done.work.peak_memory_bytes, 0});
  }

  result<void> by_layers() {
    auto& config = run_.config;
    const auto on_progress = show_progress(options_.quiet);
    auto layers =
      layers_of(config, options_.scratch, options_.out, on_progress);
    layers.embeddings = embeddings_;
    std::optional<signal_watch> signals; // Until all is written.
    GRAPHMILL_TRY(auto done, run_layerwise(std::move(layers), signals));
    if (on_progress)
      on_progress({}); // What is written is told on lines of its own.
    made_.logits = done.made.outputs.front().view;
    argmax(made_.logits, made_.classes);
    decide();
    for (const auto& rows : done.made.embeddings)
      made_.embeddings.push_back(rows.view);
    made_.rows = made_.ids;
    return write({done.seconds, done.peak_memory_bytes, done.made.file_bytes});
  }

private:
  /// Of several labels, the one of the threshold is decided as it is written.
  void decide() {
    if (made_.threshold && made_.task.one_class && made_.logits.rows > 0)
      apply_threshold(made_.logits, *made_.threshold, made_.classes);
  }

  result<void> write(const predict_cost& cost) {
    GRAPHMILL_TRYV(files_.write(made_));
    show(options_, files_, made_, run_.other_dataset, cost);
    return ok();
  }

  const predict_options& options_;
  finished_run& run_;
  const dataset_info& info_;
  prediction made_;
  std::vector<node_type_id> embeddings_;
  prediction_files files_;
};

/// Of a run that has learnt a task of edges: listed edges, those of a split,
/// the likeliest links, or embeddings.
result<int> predict_task(const predict_options& options, finished_run& run) {
  const auto refuse = [&](const std::string& what) {
    return fail(ec::invalid_argument, "{} has learnt the task {} of edges, {}",
                options.run, in_quotes(run.config.def.task), what);
  };
  const auto embeds = options.all || options.embeddings;
  const auto lists = !options.pairs.empty() || !options.split.empty();
  if (!lists && options.top == 0 && !embeds)
    return refuse("and predicts those that --pairs lists, in a CSV with the "
                  "columns source and destination; those of a --split; the "
                  "likeliest links of each node, with --top; or embeddings, "
                  "with --all");
  const auto decides =
    !options.threshold.empty() && options.threshold != "none";
  if ((options.probabilities || options.logits || decides) && !lists)
    return refuse(fmt::format("and --{} is for edges that --pairs lists, or "
                              "those of a --split",
                              options.logits          ? "logits"
                              : options.probabilities ? "probabilities"
                                                      : "threshold"));
  if (embeds && (options.top != 0 || !options.nodes.empty() || lists))
    return refuse("and --all and --embeddings write those of all nodes, and "
                  "nothing else: leave --nodes, --pairs, --split and --top "
                  "out");
  if (embeds && options.neighbours == "sampled")
    return refuse("whose embeddings take all neighbours: leave --neighbours "
                  "sampled out");
  if (embeds) {
    GRAPHMILL_TRYV(predict_outputs({.types = options.embeddings_of,
                                    .out = options.out,
                                    .scratch = options.scratch,
                                    .json = options.json,
                                    .quiet = options.quiet},
                                   run));
    return 0;
  }
  if (fs::path{options.out}.extension() != ".csv")
    return refuse("and its predictions are a CSV: give --out a name that ends "
                  "in .csv");
  if (options.top != 0) {
    GRAPHMILL_TRYV(predict_links({.most = options.top,
                                  .nodes = options.nodes,
                                  .nodes_by = options.nodes_by,
                                  .to_sources = options.end == "source",
                                  .edge_type = options.edge_type,
                                  .keeps_known = options.known == "keep",
                                  .computes = !options.neighbours.empty(),
                                  .out = options.out,
                                  .scratch = options.scratch,
                                  .json = options.json,
                                  .quiet = options.quiet},
                                 run));
    return 0;
  }
  GRAPHMILL_TRYV(predict_edges({.edges = options.pairs,
                                .split = options.split,
                                .out = options.out,
                                .nodes_by = options.nodes_by,
                                .probabilities = options.probabilities,
                                .logits = options.logits,
                                .computes = !options.neighbours.empty(),
                                .json = options.json,
                                .quiet = options.quiet},
                               run));
  return 0;
}

result<int> predict(const predict_options& options) {
  GRAPHMILL_TRY(auto run, open_finished_run(options));
  run.config.def.evaluate.scores = false; // Nothing is evaluated.
  if (!run.config.def.task.empty())
    return predict_task(options, run);
  const auto* of_edges = !options.pairs.empty()   ? "pairs"
                         : !options.split.empty() ? "split"
                         : options.top != 0       ? "top"
                                                  : nullptr;
  if (of_edges != nullptr)
    return fail(ec::invalid_argument,
                "--{} is for a run of a task of edges, and {} has learnt "
                "nodes: name them with --nodes",
                of_edges, options.run);
  if (!options.all && !options.embeddings_of.empty())
    return fail(ec::invalid_argument, embeddings_of_batches);
  if (!options.all && !options.scratch.empty())
    return fail(ec::invalid_argument, scratch_of_batches);
  GRAPHMILL_TRY(const auto whole, partitioned_graph::open(run.config.data));
  const auto& learnt = run.config.learnt;
  GRAPHMILL_TRY(const auto graph, learnt
                                    ? whole.with_unknown_labels(*learnt)
                                    : choose_target(whole, run.config.def));
  const auto& info = graph.info();
  const auto& target = info.node_types[info.target];
  const auto request = request_of(options);
  GRAPHMILL_TRY(auto embeddings, types_of(request, info));
  prediction made;
  if (request.csv() || request.listed)
    GRAPHMILL_TRYV(take_names(run.config.data, info, embeddings, made));
  made.class_names = target.class_names;
  made.task = task_of(target);
  GRAPHMILL_TRY(made.threshold, threshold_in(run, info));
  if (!made.task.decides && (options.probabilities || options.logits))
    return fail(ec::invalid_argument,
                "--{} is for classes, and labels of {} are numbers, which are "
                "written as they come out; leave it out",
                options.probabilities ? "probabilities" : "logits", info.name);
  if (request.listed) {
    GRAPHMILL_TRY(made.ids, read_node_list(options.nodes, target,
                                           made.names.get(), options.nodes_by));
  }
  GRAPHMILL_TRY(auto files, prediction_files::create(request));
  predict_work work{
    options,         run, info, std::move(made), std::move(embeddings),
    std::move(files)};
  GRAPHMILL_TRYV(options.all ? work.by_layers() : work.by_batches());
  return 0;
}

} // namespace

void add_predict_command(command_line& cli) {
  auto options = std::make_shared<predict_options>();
  auto* command = cli.app.add_subcommand(
    "predict",
    "Predict the classes, labels or numbers of nodes or edges, or scores of "
    "links, with a finished run");
  add_finished_run_options(*command, *options);
  command
    ->add_option("--out", options->out,
                 "File of the predictions. .npy: [nodes] int64 classes, "
                 "[nodes, labels] uint8 for several labels, [nodes] or [nodes, "
                 "numbers] float32 for numbers. .csv: a line for each node")
    ->check(check_name)
    ->capture_default_str();
  auto* nodes = command->add_option(
    "--nodes", options->nodes,
    "Predict only these nodes: a file with one node a line, by its id in the "
    "tables or its number in the dataset, or a .npy of int64. Their numbers "
    "are written, too");
  auto* pairs = command->add_option(
    "--pairs", options->pairs,
    "Of a run that has learnt a task of edges: a CSV with the columns source "
    "and destination, and type where there are several edge types. --out is a "
    "CSV of the same edges, each with its score, class, labels or numbers");
  pairs->excludes(nodes);
  add_split_option(
    *command, options->split,
    "Of a run that has learnt a task of edges: predict the edges "
    "of a split, each by its own features and time. Neighbours "
    "are those of `graphmill evaluate`. --out is a CSV with a "
    "line for each, in the order of the split, with its position and time");
  auto* rows = command->get_option("--split");
  rows->excludes(nodes)->excludes(pairs);
  auto* top =
    command
      ->add_option("--top", options->top,
                   "Of a run that has learnt links: find the K links with the "
                   "largest scores for each node, or for those of --nodes. "
                   "--out is a CSV with a line for each")
      ->type_name("K")
      ->check(CLI::Range(std::int64_t{1}, most_links));
  top->excludes(pairs)->excludes(rows);
  command
    ->add_option("--end", options->end,
                 "With --top: which end of links is found. Nodes are sources, "
                 "or with `source` destinations (default: destination)")
    ->check(CLI::IsMember({"destination", "source"}));
  command
    ->add_option("--type", options->edge_type,
                 "With --top: the edge type (default: all of the task)")
    ->type_name("EDGE_TYPE");
  command
    ->add_option("--known", options->known,
                 "With --top: drop links that the graph has, in any split, and "
                 "those of a node with itself, or keep them (default: drop)")
    ->check(CLI::IsMember({"drop", "keep"}));
  command
    ->add_option_function<std::string>(
      "--nodes-by",
      [options](const std::string& word) {
        options->nodes_by =
          word == "name" ? node_naming::name : node_naming::number;
      },
      "How --nodes and --pairs name nodes; default: whatever fits all entries")
    ->check(CLI::IsMember({"number", "name"}));
  command->add_flag("--probabilities", options->probabilities,
                    "Also write probabilities, [nodes, classes] float32, "
                    "beside --out or as columns of a .csv");
  command->add_flag("--logits", options->logits,
                    "Also write logits: the values before the softmax, or "
                    "before the logistic function of labels");
  command->add_flag("--embeddings", options->embeddings,
                    "Also write embeddings: the inputs of the last layer. Of a "
                    "run that has learnt edges: of all nodes, what the decoder "
                    "takes");
  command
    ->add_option("--embeddings-of", options->embeddings_of,
                 "With --all: embeddings of all nodes of another type, as they "
                 "enter the last layer that reads them; repeatable")
    ->allow_extra_args(false);
  command->add_flag("--all", options->all,
                    "Compute layer by layer with all neighbours: each layer "
                    "once for each node");
  command->add_option("--scratch", options->scratch,
                      "With --all or --top: folder for layers that do not "
                      "fit into "
                      "memory (default: that of --out)");
  command->footer(
    "Extra outputs are PREDICTIONS.ids.npy, .probabilities.npy, .logits.npy,\n"
    ".embeddings.npy and .embeddings.TYPE.npy beside PREDICTIONS.npy. Without "
    "--nodes,\n"
    "row i is node i. --all gives the same bits for any number of threads and "
    "parts;\n"
    "batches with --neighbours all agree with it to a few units in the seventh "
    "decimal.\n"
    "Layers get half of the free memory, or of --memory.");
  command->callback([&cli, options] {
    check_words(*options);
    cli.run = [options] { return predict(*options); };
  });
}

} // namespace graphmill
