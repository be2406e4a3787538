#include "actors/commands/engine/prediction_files.hpp"
#include "actors/commands/engine/prediction_nodes.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/run_options.hpp"
#include "actors/process/say.hpp"
#include "actors/run/local_run.hpp"
#include "actors/run/run_reporter.hpp"
#include "messages/base/pluralized.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

struct predict_options : finished_run_options {
  std::string out = "predictions.npy";
  std::string nodes; ///< A file; empty: all of the target type.
  bool probabilities = false;
  bool logits = false;
  bool embeddings = false;
};

prediction_request request_of(const predict_options& options) {
  prediction_request out{.out = options.out,
                         .listed = !options.nodes.empty(),
                         .probabilities = options.probabilities,
                         .logits = options.logits,
                         .embeddings = {}};
  if (options.embeddings)
    out.embeddings.emplace_back();
  return out;
}

/// Collects the outputs of batches: a row for each node that is predicted, in
/// the order of original ids.
class collector {
public:
  /// @param nodes Ascending; empty: all of them. Outlives this.
  collector(const prediction_request& request,
            const std::vector<node_id>& nodes, std::int64_t all)
    : nodes_(nodes), logits_wanted_(request.probabilities || request.logits),
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

void show(const predict_options& options, const prediction_files& files,
          const prediction& made, bool other_dataset, double seconds) {
  const auto names = files.names();
  if (options.json) {
    nlohmann::json summary{{"nodes", made.count()},
                           {"other_dataset", other_dataset},
                           {"seconds", seconds}};
    for (const auto& [name, path] : names)
      summary[name] = path;
    return say("{}\n", one_line(summary));
  }
  say("wrote the classes of {} to {}\n", pluralized(made.count(), "node"),
      names.front().second);
  for (std::size_t i = 1; i < names.size(); ++i)
    say("wrote {} to {}\n", names[i].first, names[i].second);
}

result<int> predict(const predict_options& options) {
  GRAPHMILL_TRY(auto run, open_finished_run(options));
  GRAPHMILL_TRY(auto graph, partitioned_graph::open(run.config.data));
  const auto target = graph.info().node_types[graph.info().target];
  const auto request = request_of(options);
  prediction made;
  made.class_names = target.class_names;
  if (request.listed) {
    GRAPHMILL_TRY(made.ids, read_node_list(options.nodes, target));
  }
  auto nodes = made.ids;
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  GRAPHMILL_TRY(auto files, prediction_files::create(request));
  collector outputs{request, nodes, target.count};
  run.config.mode = run_mode::predict;
  run.config.nodes = nodes;
  run_reporter reporter{nullptr, show_progress(options.quiet), nullptr};
  run.config.observer = reporter.observer();
  run.config.observer.on_output = [&outputs](const step_result& result) {
    outputs.take(result);
  };
  std::optional<signal_watch> signals; // Until all is written.
  GRAPHMILL_TRY(auto done, run_locally(std::move(run.config), signals));
  if (done.outcome.failure)
    return *done.outcome.failure;
  outputs.give(made);
  for (const auto id : made.ids)
    made.rows.push_back(outputs.row_of(id));
  GRAPHMILL_TRYV(files.write(made));
  show(options, files, made, run.other_dataset, done.seconds);
  return 0;
}

} // namespace

void add_predict_command(command_line& cli) {
  auto options = std::make_shared<predict_options>();
  auto* command = cli.app.add_subcommand(
    "predict", "Predict the classes of nodes with a finished run");
  add_finished_run_options(*command, *options);
  command
    ->add_option("--out", options->out,
                 "Where predictions go: [nodes] int64 classes (.npy), or a "
                 "line for each node (.csv)")
    ->capture_default_str();
  command->add_option("--nodes", options->nodes,
                      "Predict these alone: a file with one id in a line, or "
                      "a .npy of int64; their ids are written, too");
  command->add_flag("--probabilities", options->probabilities,
                    "Write [nodes, classes] float32, too: beside --out, or "
                    "as columns of a .csv");
  command->add_flag("--logits", options->logits, "The same before the softmax");
  command->add_flag("--embeddings", options->embeddings,
                    "Write the inputs of the last layer, too, beside it");
  command->callback(
    [&cli, options] { cli.run = [options] { return predict(*options); }; });
}

} // namespace graphmill
