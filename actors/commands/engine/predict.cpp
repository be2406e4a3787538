#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/run_options.hpp"
#include "actors/process/say.hpp"
#include "actors/run/local_run.hpp"
#include "actors/run/run_reporter.hpp"
#include "messages/base/pluralized.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/npy/npy.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

struct predict_options : finished_run_options {
  std::string out = "predictions.npy";
  bool embeddings = false;
};

/// Collects the outputs of batches in the order of original node ids.
struct collector {
  std::vector<std::int64_t> classes;
  std::vector<float> embeddings; ///< [nodes, width], if wanted.
  std::int64_t width = 0;
  bool want_embeddings = false;

  void take(const step_result& result) {
    const auto& seeds = *result.original_seeds;
    const auto& output = *result.output;
    if (want_embeddings && width == 0 && !seeds.empty()) {
      width = output.embedding_width;
      embeddings.resize(classes.size() * static_cast<std::size_t>(width));
    }
    const auto row = static_cast<std::size_t>(width);
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      const auto node = static_cast<std::size_t>(seeds[i]);
      classes[node] = output.predictions[i];
      if (want_embeddings)
        std::copy_n(output.embeddings.data() + i * row, row,
                    embeddings.data() + node * row);
    }
  }
};

/// predictions.npy -> predictions.embeddings.npy
fs::path embeddings_path(const fs::path& predictions) {
  auto out = predictions;
  out.replace_extension(".embeddings.npy");
  return out;
}

/// Where results go. Made before the work, which an unwritable place would
/// waste.
struct output_files {
  scratch_file predictions;
  std::optional<scratch_file> embeddings;

  static result<output_files> create(const predict_options& options) {
    GRAPHMILL_TRY(auto predictions, scratch_file::create(options.out));
    output_files out{std::move(predictions), std::nullopt};
    if (options.embeddings) {
      GRAPHMILL_TRY(out.embeddings,
                    scratch_file::create(embeddings_path(options.out)));
    }
    return out;
  }

  result<void> write(const collector& outputs) {
    const auto nodes = static_cast<std::int64_t>(outputs.classes.size());
    GRAPHMILL_TRYV(write_npy_bytes(predictions.fd(), predictions.path(),
                                   dtype::int64, {nodes},
                                   std::as_bytes(std::span{outputs.classes})));
    if (embeddings)
      GRAPHMILL_TRYV(write_npy_bytes(
        embeddings->fd(), embeddings->path(), dtype::float32,
        {nodes, outputs.width}, std::as_bytes(std::span{outputs.embeddings})));
    if (embeddings)
      GRAPHMILL_TRYV(embeddings->commit());
    return predictions.commit();
  }
};

result<int> predict(const predict_options& options) {
  GRAPHMILL_TRY(auto run, open_finished_run(options));
  GRAPHMILL_TRY(auto files, output_files::create(options));
  GRAPHMILL_TRY(auto graph, partitioned_graph::open(run.config.data));
  const auto& info = graph.info();
  collector outputs;
  outputs.classes.resize(
    static_cast<std::size_t>(info.node_types[info.target].count));
  outputs.want_embeddings = options.embeddings;
  run.config.mode = run_mode::predict;
  run_reporter reporter{nullptr, show_progress(options.quiet), nullptr};
  reporter.call_work("predict");
  run.config.observer = reporter.observer();
  run.config.observer.on_output = [&outputs](const step_result& result) {
    outputs.take(result);
  };
  std::optional<signal_watch> signals; // Until all is written.
  GRAPHMILL_TRY(auto done, run_locally(std::move(run.config), signals));
  if (done.outcome.failure)
    return *done.outcome.failure;
  GRAPHMILL_TRYV(files.write(outputs));
  nlohmann::json summary{{"nodes", outputs.classes.size()},
                         {"predictions", options.out},
                         {"seconds", done.seconds}};
  if (options.embeddings)
    summary["embeddings"] = embeddings_path(options.out).string();
  if (options.json)
    say("{}\n", one_line(summary));
  else
    say("wrote the classes of {} to {}{}\n",
        pluralized(outputs.classes.size(), "node"), options.out,
        options.embeddings
          ? fmt::format(" and embeddings of width {} to {}", outputs.width,
                        embeddings_path(options.out).string())
          : "");
  return 0;
}

} // namespace

void add_predict_command(command_line& cli) {
  auto options = std::make_shared<predict_options>();
  auto* command = cli.app.add_subcommand(
    "predict", "Predict the class of every node with a finished run");
  add_finished_run_options(*command, *options);
  command
    ->add_option("--out", options->out,
                 "Where predictions go: [nodes] int64 classes (.npy)")
    ->capture_default_str();
  command->add_flag("--embeddings", options->embeddings,
                    "Write the inputs of the last layer, too, beside it");
  command->callback(
    [&cli, options] { cli.run = [options] { return predict(*options); }; });
}

} // namespace graphmill
