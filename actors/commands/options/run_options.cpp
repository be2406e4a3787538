#include "actors/commands/options/run_options.hpp"

#include "actors/commands/options/storage_options.hpp"
#include "actors/process/logger.hpp"
#include "actors/process/say.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/files/json_text.hpp"
#include "pipelines/definition/dataset_search.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/edge_predictions.hpp"
#include "pipelines/definition/measured_seeds.hpp"
#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/definition/yaml/problem.hpp"
#include "pipelines/definition/yaml/scalar_text.hpp"
#include "pipelines/results/named_tensor.hpp"
#include "pipelines/results/safetensors.hpp"
#include "pipelines/task/chosen_target.hpp"
#include "pipelines/task/task_traits.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// Whether a threshold is given, and not to be tuned.
bool is_fixed(const std::string& threshold) {
  const auto first = threshold.substr(0, threshold.find_first_of("@:"));
  return parse_number(first).has_value();
}

/// @returns what is wrong with --threshold.
std::string check_threshold_option(const std::string& text) {
  definition::evaluate_section given;
  given.threshold = text;
  if (text == "none")
    return "";
  if (is_fixed(text) && check_threshold(given))
    return "";
  return fmt::format(
    "{} is neither a probability with a class, as in 0.3:fraud, nor none",
    in_quotes(text));
}

} // namespace

void add_no_verify_option(CLI::App& command, bool& no_verify) {
  command.add_flag("--no-verify", no_verify,
                   "Do not compare data and weights with their recorded "
                   "digests. By default this happens in the background, sound "
                   "files are remembered, and a damaged file ends the run");
}

void add_tensorboard_flag(CLI::App& command, bool& tensorboard) {
  command.add_flag(
    "--tensorboard", tensorboard,
    "Also write loss and metrics for TensorBoard, to RUN/tensorboard");
}

void add_finished_run_options(CLI::App& command,
                              finished_run_options& options) {
  command.add_option("run", options.run, "Folder of a finished run")
    ->required();
  command.add_option(
    "--data", options.data,
    "The dataset, if it has moved; or another one with the same types, feature "
    "widths, number of classes and kind of labels");
  command
    .add_option(
      "--neighbours", options.neighbours,
      "Take sampled or all neighbours (default: as in the run's definition)")
    ->check(CLI::IsMember({"sampled", "all"}));
  command
    .add_option(
      "--threshold", options.threshold,
      "Predict a class from this probability on, as in 0.3:fraud; none: the "
      "likeliest class (default: the threshold of the run, if it has one)")
    ->check(check_threshold_option);
  add_no_verify_option(command, options.no_verify);
  add_storage_options(command, options.storage);
  command.add_flag("--json", options.json, "End with one line of JSON");
  command.add_flag("-q,--quiet", options.quiet, "Show no progress");
}

namespace {

/// Compares weights with the digest in the run's summary. A run that another
/// program has made, or that was copied without it, has none.
result<void> check_weights(const run_folder& run,
                           const std::vector<named_tensor>& weights) {
  const auto file = run.summary_file();
  const auto read = run.read_summary();
  if (!read && read.error().code == ec::not_found)
    return ok();
  if (!read && read.error().code != ec::invalid_data)
    return read.error();
  const auto& summary = read ? read.value() : nlohmann::json{};
  if (!summary.is_object())
    return fail(ec::invalid_data,
                "{} is damaged: copy the run again from a sound copy "
                "(--no-verify uses the weights as they are)",
                file.string());
  const auto digest = summary.value("digest", nlohmann::json{});
  if (!digest.is_string() || digest.get<std::string>().empty())
    return ok();
  if (const auto found = weights_digest(weights); found != digest)
    return fail(ec::invalid_data,
                "{} is damaged: its digest is {}, but {} is recorded in {}: "
                "copy the run again from a sound copy (if you have changed it, "
                "--no-verify uses it as it is)",
                run.weights().string(), found, digest.get<std::string>(),
                file.string());
  return ok();
}

/// The threshold that a finished run has, by its summary if it was tuned.
result<std::string> threshold_of_run(const run_folder& run,
                                     const std::string& wanted) {
  if (wanted.empty() || is_fixed(wanted))
    return wanted;
  const auto summary = run.read_summary();
  if (summary && summary.value().is_object())
    if (const auto found = summary.value().value("threshold", nlohmann::json{});
        found.is_string())
      return found.get<std::string>();
  return fail(ec::invalid_data,
              "the definition tunes a threshold by {}, but the run's summary "
              "has none: no validation had seeds of the class and of others. "
              "Give --threshold, as in 0.3:CLASS, or none",
              in_quotes(wanted));
}

/// The same, unless `--threshold` says otherwise.
result<std::string> chosen_threshold(const finished_run_options& options,
                                     const finished_run& run) {
  if (options.threshold == "none")
    return std::string{};
  return options.threshold.empty()
           ? threshold_of_run(run.folder, run.config.def.evaluate.threshold)
           : options.threshold;
}

/// Has a finished run told of as by its definition, without what is for its
/// training alone: other data need no validation seeds for that.
/// @param measures Whether the metric of one class is to be told again.
void leave_training_out(definition& def, bool measures) {
  def.evaluate.scores = def.evaluate.brings_scores();
  // Means over classes are told in any case, and say what labels are.
  if (!measures || def.evaluate.metric_detail.empty()) {
    def.evaluate.metric = is_of_values(def.evaluate.metric)
                            ? evaluation_metric::mse
                            : evaluation_metric::accuracy;
    def.evaluate.metric_detail.clear();
  }
  def.train.class_weights.clear();
  def.train.named_class_weights.clear();
  def.evaluate.predict = false;
  def.evaluate.only = measured_split::none;
  def.train.patience = 0;
  def.train.min_epochs = 0; // Which is for patience, as the next one.
  def.train.patience_window = 1;
  def.faults = {};
}

/// What other data say of labels: nothing, where none of them are those of the
/// run, or the data have none.
std::optional<label_meaning> labels_of(const dataset_info& info,
                                       const definition& def) {
  const auto found = meaning_of_target(info, def);
  if (!found || found.value().count == 0)
    return std::nullopt;
  return found.value();
}

/// Has labels of named data mean what a run has learnt. Fails if they are of
/// another kind, or if the run is to be measured by others.
/// @param told What the data are, for the error.
result<void> use_learnt_labels(const finished_run_options& options,
                               const dataset_info& info,
                               const std::string& told, finished_run& out) {
  auto& def = out.config.def;
  const auto& from = out.folder.from().learnt;
  const auto here = labels_of(info, def);
  if (here && options.measures)
    return expect_same_labels(*here, from, told,
                              "To evaluate the run, import the data with the "
                              "same labels; `predict` needs none");
  if (options.measures)
    return fail(
      ec::invalid_data,
      "{}, and it has no labels, which `evaluate` needs; `predict` needs none",
      told);
  if (here)
    GRAPHMILL_TRYV(expect_same_kind(*here, from, told));
  if (from.labels.count > 0) {
    out.config.learnt = from.labels;
    def.labels.clear(); // Which the data may not have.
  }
  return ok();
}

/// Lets a run be used on another dataset than its own, if it was named and what
/// the run has learnt can be of use there. Whether the shapes fit is seen when
/// weights are loaded.
result<void> use_other_dataset(const finished_run_options& options,
                               const dataset_info& info, finished_run& out) {
  const auto told =
    fmt::format("{} holds another dataset than the one that {} was trained on "
                "(digests {} and {})",
                out.config.data.string(), options.run, info.digest,
                out.folder.from().learnt.dataset_digest);
  if (options.data.empty())
    return fail(ec::invalid_data, "{}; to use the run on it, give --data",
                told);
  for (const auto& type : info.node_types)
    if (type.feature_width == 0)
      return fail(
        ec::invalid_data,
        "{}, and nodes of type {} have no features: the run has learnt a row "
        "for each of its own nodes, and has none for others",
        told, type.name);
  GRAPHMILL_TRYV(use_learnt_labels(options, info, told, out));
  const auto& from = out.folder.from().learnt;
  GRAPHMILL_TRYV(expect_same_window(out.config.def, info, from, told));
  GRAPHMILL_TRYV(
    expect_same_inputs(out.config.def, info, out.config.data, from, told));
  say(stderr, "note: {}\n", told);
  GRAPHMILL_TRY(const auto features,
                features_read(out.config.def, info, out.config.data));
  const auto& known = from.features;
  for (const auto& [type, of] : features)
    if (const auto at = known.find(type);
        of.scaled == "standardise" && at != known.end()
        && (of.scale.empty() || of.scale != at->second.scale))
      say(stderr,
          "note: features of {} are standardised separately in each dataset\n",
          type);
  out.config.def.dataset = info.name;
  out.other_dataset = true;
  return ok();
}

/// Lets a run be used on its own dataset by another name. Names are no part of
/// a digest, so that classes may be called otherwise, too.
result<void> use_renamed_dataset(const finished_run_options& options,
                                 const dataset_info& info, finished_run& out) {
  const auto told =
    fmt::format("{} holds the data that {} was trained on, with the name {}",
                out.config.data.string(), options.run, in_quotes(info.name));
  GRAPHMILL_TRYV(use_learnt_labels(options, info, told, out));
  out.config.def.dataset = info.name;
  return ok();
}

/// Where --data says, or else where the run has found it.
result<fs::path> data_of(const finished_run_options& options,
                         const finished_run& run) {
  if (!options.data.empty())
    return find_dataset(run.config.def, options.data);
  const fs::path before{run.folder.from().data};
  std::error_code failed;
  if (!fs::exists(before, failed))
    return fail(ec::not_found,
                "the folder {} with the run's dataset is gone; give its new "
                "place with --data",
                before.string());
  return before;
}

} // namespace

result<finished_run> open_finished_run(const finished_run_options& options) {
  finished_run out;
  GRAPHMILL_TRY(out.folder, run_folder::open(options.run));
  GRAPHMILL_TRY(auto source, load_record(out.folder.definition()));
  out.config.def = source.value;
  GRAPHMILL_TRY(out.config.data, data_of(options, out));
  if (!options.neighbours.empty())
    out.config.def.evaluate.neighbours =
      options.neighbours == "all" ? neighbour_use::all : neighbour_use::sampled;
  out.config.verify = !options.no_verify;
  GRAPHMILL_TRY(out.threshold, chosen_threshold(options, out));
  out.config.def.evaluate.threshold =
    options.measures ? out.threshold : std::string{};
  leave_training_out(out.config.def, options.measures);
  out.config.storage = options.storage;
  GRAPHMILL_TRY(auto weights, read_safetensors(out.folder.weights()));
  if (!options.no_verify)
    GRAPHMILL_TRYV(check_weights(out.folder, weights.tensors));
  out.config.weights = std::move(weights.tensors);
  GRAPHMILL_TRY(auto graph, partitioned_graph::open(out.config.data));
  const auto& info = graph.info();
  if (info.digest != out.folder.from().learnt.dataset_digest) {
    GRAPHMILL_TRYV(use_other_dataset(options, info, out));
  } else if (info.name != out.config.def.dataset) {
    GRAPHMILL_TRYV(use_renamed_dataset(options, info, out));
  }
  GRAPHMILL_TRY(out.config.log, make_logger({}));
  return out;
}

result<std::optional<threshold_choice>> threshold_in(const finished_run& run,
                                                     const dataset_info& info) {
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  definition::evaluate_section decided;
  decided.threshold = run.threshold;
  GRAPHMILL_TRY(auto out, threshold_of(decided, target));
  if (out && !task_of(target).decides)
    return fail(ec::invalid_argument,
                "--threshold is for classes, and {} of {} are {}; leave it out",
                info.chosen_task ? "outputs" : "labels", info.name,
                task_of(target).outputs());
  return out;
}

std::string threshold_line(const threshold_choice& threshold,
                           std::string_view rows) {
  return format_printable("{} are predicted as {} from probability {:.4f} on",
                          rows, threshold.class_name,
                          threshold.fixed.value_or(0.5));
}

std::int32_t drawn_in(const run_folder& run, split which) {
  const auto summary = run.read_summary();
  if (!summary || !summary.value().is_object())
    return 0;
  const auto* key = which == split::validation ? "best_epoch" : "epochs";
  const auto epoch = integer_of(summary.value().value(key, nlohmann::json{}));
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
    epoch.value_or(1) - 1, 0, std::numeric_limits<std::int32_t>::max()));
}

void go_over(finished_run& run, split which) {
  auto& config = run.config;
  config.mode = run_mode::evaluate;
  config.evaluated = which;
  config.drawn_as = drawn_as(which);
  config.drawn_in = drawn_in(run.folder, which);
}

namespace {

/// A field that a submission decides, or has no use for: another value of it
/// would be dropped.
struct decided_field {
  const char* path;
  const char* reason;
};

constexpr decided_field decided_by_prediction[] = {
  {"evaluate.predict", "--predict has the cluster predict"},
  {"evaluate.only", "--predict measures nothing; --evaluate does, and --split "
                    "says which edges are predicted"},
  {"evaluate.scores", "--predict measures nothing; --evaluate does"}};

constexpr decided_field decided_by_evaluation[] = {
  {"evaluate.predict", "--evaluate predicts nothing; --predict does"},
  {"evaluate.only", "--split says which split is measured"},
  {"train.epochs",
   "neighbours are drawn as the run has drawn them for that split"}};

constexpr const char* for_training =
  "it is for training, and the run is finished";

constexpr decided_field decided_by_weights[] = {
  {"model.weights", "the weights are those of the run"},
  {"evaluate.metric", "it chooses the best epoch, and there is none to choose"},
  {"evaluate.every", for_training},
  {"train.balance_classes", for_training},
  {"train.class_weights", for_training},
  {"train.focal_gamma", for_training},
  {"train.max_steps", for_training},
  {"train.min_epochs", for_training},
  {"train.patience", for_training},
  {"train.patience_window", for_training},
  {"train.record_steps", for_training},
  {"trainer.sizes", for_training}};

/// Fails if an override sets a field that is not the user's to set.
result<void> refuse_decided(const definition_source& source,
                            std::span<const decided_field> decided) {
  for (const auto& field : decided) {
    const auto found = source.fields.find(field.path);
    // What a file says has a line.
    if (found != source.fields.end() && found->second.where.line == 0)
      return fail(ec::invalid_argument, "{}: {}; leave it out",
                  found->second.where.origin, field.reason);
  }
  return ok();
}

/// Fails if an override is about how weights are learnt.
result<void> refuse_optimizer(const definition_source& source) {
  for (const auto& [path, field] : source.fields)
    if (path.starts_with("optimizer.") && field.where.line == 0)
      return fail(ec::invalid_argument, "{}: {}; leave it out",
                  field.where.origin, for_training);
  return ok();
}

/// A run that uses the weights of a finished one, and is yet to be told what
/// for.
/// @param settings As those of `load_definition`.
/// @param decided What these must not set.
/// @param measures Whether metrics are told.
result<submission>
submission_of_weights(const run_folder& folder,
                      const std::vector<std::string>& settings,
                      std::span<const decided_field> decided, bool measures) {
  GRAPHMILL_TRY(auto source, load_record(folder.definition(), settings));
  GRAPHMILL_TRYV(refuse_decided(source, decided));
  GRAPHMILL_TRYV(refuse_decided(source, decided_by_weights));
  GRAPHMILL_TRYV(refuse_optimizer(source));
  GRAPHMILL_TRY(const auto weights, read_safetensors(folder.weights()));
  GRAPHMILL_TRYV(check_weights(folder, weights.tensors));
  auto& def = source.value;
  const auto faults = def.faults; // They show that they change nothing.
  if (const auto given = source.fields.find("evaluate.threshold");
      given == source.fields.end() || given->second.where.line != 0) {
    GRAPHMILL_TRY(def.evaluate.threshold,
                  threshold_of_run(folder, def.evaluate.threshold));
  } else if (!def.evaluate.threshold.empty()
             && !is_fixed(def.evaluate.threshold)) {
    return fail(ec::invalid_argument,
                "{}: a finished run cannot tune a threshold; give a "
                "probability, as in 0.3:fraud",
                given->second.where.origin);
  }
  leave_training_out(def, measures);
  def.faults = faults;
  def.train.record_steps = false;
  def.train.balance_classes = false;
  def.trainer.min_replicas = 0;
  def.trainer.sizes.clear();
  def.model.weights = folder.weights();
  const auto& from = folder.from();
  return submission{std::move(def), from.learnt};
}

/// What a run has evaluated in one batch is predicted in several, where that
/// would be more than an answer may tell. With all neighbours the predictions
/// are the same; of sampled ones, others would be drawn.
/// @param columns Values of a row; 0: it is not known how many.
void fit_batches(definition& def, std::int64_t columns) {
  const auto each =
    static_cast<std::uint64_t>(std::max<std::int64_t>(columns, 1));
  const auto most = std::min<std::uint64_t>(
    most_told_seeds, seed_outcomes::most_batch_scores / each);
  def.evaluate.batch_size = static_cast<std::uint32_t>(std::min<std::uint64_t>(
    def.evaluate.batch_size, std::max<std::uint64_t>(most, 1)));
}

} // namespace

result<submission> prediction_by(const std::string& run, measured_split rows,
                                 const std::vector<std::string>& overrides) {
  GRAPHMILL_TRY(const auto folder, run_folder::open(run));
  std::vector<std::string> settings{"evaluate.neighbours=all"};
  settings.insert(settings.end(), overrides.begin(), overrides.end());
  GRAPHMILL_TRY(auto out, submission_of_weights(folder, settings,
                                                decided_by_prediction, false));
  out.def.evaluate.scores = false; // Nothing is evaluated.
  out.def.evaluate.predict = true;
  if (rows != measured_split::none && out.def.task.empty())
    return fail(ec::invalid_argument,
                "--split: {} has learnt nodes, and --predict predicts all of "
                "them; leave it out",
                in_quotes(run));
  out.def.evaluate.only = rows;
  const auto is_asked = std::ranges::any_of(overrides, [](const auto& setting) {
    return setting.starts_with("evaluate.batch_size=");
  });
  if (!is_asked && out.def.evaluate.neighbours == neighbour_use::all)
    fit_batches(out.def,
                told_columns(out.def, folder.from().learnt.labels.count));
  return out;
}

result<submission> evaluation_by(const std::string& run, measured_split which,
                                 const std::vector<std::string>& overrides) {
  GRAPHMILL_TRY(const auto folder, run_folder::open(run));
  GRAPHMILL_TRY(auto out, submission_of_weights(folder, overrides,
                                                decided_by_evaluation, true));
  out.def.evaluate.only = which;
  out.def.train.epochs = static_cast<std::uint32_t>(
    std::int64_t{1} + drawn_in(folder, split_of(which).value_or(split::test)));
  return out;
}

} // namespace graphmill
