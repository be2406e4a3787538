#include "pipelines/definition/validation/validation.hpp"

#include "messages/work/seed_outcomes.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/definition/class_names.hpp"
#include "pipelines/definition/definition_help.hpp"
#include "pipelines/definition/edge_predictions.hpp"
#include "pipelines/definition/measured_seeds.hpp"
#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/definition/model_traits.hpp"
#include "pipelines/definition/validation/edge_features.hpp"
#include "pipelines/definition/validation/edge_weights.hpp"
#include "pipelines/definition/validation/sampling_checks.hpp"
#include "pipelines/definition/validation/task_checks.hpp"
#include "pipelines/definition/validation/time_checks.hpp"
#include "pipelines/definition/validation/value_checks.hpp"
#include "pipelines/task/chosen_target.hpp"
#include "pipelines/task/task_traits.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace graphmill {

namespace {

/// What the checks work on.
struct checked {
  const definition_source& source;
  const definition& def;
  const dataset_info& info;
  data_use use;
  std::vector<problem>& problems;

  void report(const std::string& path, std::string text) const {
    problem found;
    found.where = source.where(path);
    found.text = std::move(text);
    problems.push_back(std::move(found));
  }
  /// Those of fields without problems of their own.
  void
  report_usable(std::vector<std::pair<std::string, std::string>> found) const {
    for (auto& [path, text] : found)
      if (source.usable(path))
        report(path, std::move(text));
  }

  const node_type_info& target() const {
    return info.node_types[static_cast<std::size_t>(info.target)];
  }
  /// What is learnt of, for sentences.
  const char* row() const { return info.chosen_task ? "edge" : "node"; }
  const char* rows() const { return info.chosen_task ? "edges" : "nodes"; }
};

/// Names of node types, not more than fit a sentence.
std::string node_types_text(const dataset_info& info) {
  constexpr std::size_t shown = 5;
  std::vector<std::string> names;
  for (const auto& type : info.node_types)
    if (names.size() < shown)
      names.push_back(type.name);
  if (info.node_types.size() > shown)
    names.push_back("...");
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The kinds to advise to somebody whose dataset has several node types: those
/// that can take them, hear neighbours and learn any task.
std::string typed_kinds_text() {
  std::vector<std::string> names;
  for (const auto& of : model_kinds)
    if (of.typed && of.hears() && !of.looks_up)
      names.push_back(fmt::format("`kind: {}`", of.name));
  const auto last = names.back();
  names.pop_back();
  return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

void check_dataset_name(const checked& c) {
  if (c.source.usable("dataset") && c.def.dataset != c.info.name)
    c.report("dataset",
             fmt::format("`dataset` is {}, but the data at hand are called {}: "
                         "give their path, as in `dataset: data/{}`, or that "
                         "name and --data FOLDER, or say with --data where the "
                         "right ones lie",
                         in_quotes(c.def.dataset), in_quotes(c.info.name),
                         c.def.dataset));
}

/// With `hgt`, fanouts are of node types.
void check_budgets(const checked& c) {
  for (const auto& [key, values] : c.def.sampler.edge_fanouts)
    if (!c.info.find_node_type(key))
      c.report("sampler.fanouts." + key, no_node_type(c.info, key));
}

void check_edge_types(const checked& c) {
  if (c.def.sampler.method == sampling_method::hgt)
    return check_budgets(c);
  std::map<edge_type_id, std::string> seen;
  for (const auto& [key, values] : c.def.sampler.edge_fanouts) {
    const auto path = "sampler.fanouts." + key;
    const auto type = c.info.find_edge_type(key);
    if (!type) {
      c.report(path, fmt::format("{} has no edge type {}{}",
                                 in_quotes(c.info.name), in_quotes(key),
                                 suggestion(key, edge_type_names(c.info))));
    } else if (const auto [first, fresh] = seen.emplace(*type, key); !fresh) {
      c.report(path, fmt::format("{} and {} name the same edge type",
                                 in_quotes(first->second), in_quotes(key)));
    }
  }
}

void check_model(const checked& c) {
  if (!traits_of(c.def.model.kind).typed && c.info.node_types.size() != 1
      && c.source.usable("model.kind"))
    c.report("model.kind",
             fmt::format("this kind of model knows a single node type, and {} "
                         "has {} ({}); use {}",
                         in_quotes(c.info.name), c.info.node_types.size(),
                         node_types_text(c.info), typed_kinds_text()));
}

/// Embeddings are for node types without features alone.
void check_embedding(const checked& c) {
  if (std::ranges::any_of(c.info.node_types, [](const auto& type) {
        return type.feature_width == 0;
      }))
    return;
  const auto& model = c.def.model;
  const auto& optimizer = c.def.optimizer;
  const std::pair<std::string, bool> fields[]{
    {"model.embedding", model.embedding != default_of("model", "embedding")},
    {"model.embedding_scale",
     model.embedding_scale != default_of("model", "embeddingScale")},
    {"optimizer.embedding_decay", optimizer.embedding_decay != 0}};
  for (const auto& [path, given] : fields)
    if (given && c.source.fields.contains(path) && c.source.usable(path))
      c.report(path,
               fmt::format("`{}` is for node types without features, and {} "
                           "has none; leave it out",
                           path, in_quotes(c.info.name)));
}

void check_edge_weights(const checked& c) {
  const auto path = "model.edge_weights";
  const auto given = c.source.fields.contains(path);
  if (auto text = problem_with_edge_weights(c.def, c.info, given);
      text && c.source.usable(path) && c.source.usable("model.kind"))
    c.report(given ? path : "model.kind", *std::move(text));
}

void check_edge_features(const checked& c) {
  const auto path = "model.edge_features";
  const auto given = c.source.fields.contains(path);
  if (auto text = problem_with_edge_features(c.def, c.info, given);
      text && c.source.usable(path) && c.source.usable("model.kind"))
    c.report(given ? path : "model.kind", *std::move(text));
  if (auto text = problem_with_ages(c.def, c.info);
      text && c.source.usable("model.edge_ages")
      && c.source.usable("model.kind"))
    c.report("model.edge_ages", *std::move(text));
  if (auto text = problem_with_decoded_features(c.def, c.info);
      text && c.source.usable("decoder.edge_features"))
    c.report("decoder.edge_features", *std::move(text));
}

/// What shapes the cross-entropy of classes has no meaning for labels of which
/// a node may have several, each with a cross-entropy of its own, nor for
/// numbers.
void check_loss(const checked& c) {
  const auto& target = c.target();
  if (task_of(target).one_class
      || task_of(target).outcomes == outcome_form::ranks) // `task_checks.hpp`
    return;
  const auto refuse = [&c, &target](const char* path, bool given) {
    if (given && c.source.usable(path))
      c.report(path,
               fmt::format("`{}` is for one class for each {}, and "
                           "{} of {} {}; leave it out",
                           path, c.row(), c.rows(), in_quotes(c.info.name),
                           task_of(target).instead()));
  };
  const auto& train = c.def.train;
  refuse("train.label_smoothing", train.label_smoothing != 0);
  refuse("train.class_weights",
         !train.class_weights.empty() || !train.named_class_weights.empty());
  refuse("train.balance_classes", train.balance_classes);
}

void check_named_weights(const checked& c) {
  const auto& target = c.target();
  const auto& named = c.def.train.named_class_weights;
  if (named.empty() || !task_of(target).one_class
      || !c.source.usable("train.class_weights"))
    return;
  auto all_known = true;
  for (const auto& [name, weight] : named)
    if (const auto found = class_named(target, name); !found) {
      all_known = false;
      c.report("train.class_weights." + name,
               "`train.class_weights`: " + found.error().message);
    }
  if (!all_known)
    return;
  const auto weights = class_weights_of(c.def.train, target);
  if (!weights)
    c.report("train.class_weights", weights.error().message);
  else if (std::ranges::all_of(weights.value(),
                               [](double weight) { return weight == 0; }))
    c.report("train.class_weights",
             "`train.class_weights` are all 0, so that nothing would be "
             "learnt; give one class more");
}

void check_task(const checked& c) {
  const auto& target = c.target();
  if (target.class_count == 0) {
    c.report("dataset",
             fmt::format("nodes of type {} of {} have no labels to "
                         "learn{}",
                         in_quotes(target.name), in_quotes(c.info.name),
                         target.label_sets.empty()
                           ? ""
                           : "; `labels` chooses one of their label sets"));
    return;
  }
  if (c.use == data_use::training && task_of(target).one_class
      && target.class_count > std::max(target.count, unquestioned_classes))
    c.report("dataset",
             fmt::format("{} has {} classes for {} nodes of type {}, so most "
                         "have no node, and each costs a row of weights: "
                         "number the labels from 0 (graphmill import npy "
                         "--renumber-labels)",
                         in_quotes(c.info.name), target.class_count,
                         target.count, in_quotes(target.name)));
  const auto seeds = [&target](split which) {
    return target.split_counts[static_cast<std::size_t>(which)];
  };
  if (c.use == data_use::training && seeds(split::train) == 0)
    c.report("dataset",
             fmt::format("{} has no training seeds{}", in_quotes(c.info.name),
                         !c.def.task.empty()
                           ? " of the task " + in_quotes(c.def.task)
                         : !c.def.labels.empty()
                           ? " of the label set " + in_quotes(c.def.labels)
                           : ""));
  check_loss(c);
  const auto weights = std::ssize(c.def.train.class_weights);
  if (weights != 0 && task_of(target).one_class && weights != target.class_count
      && c.source.usable("train.class_weights"))
    c.report("train.class_weights",
             fmt::format("`train.class_weights` has {} numbers, but {} has {} "
                         "classes; give one for each, from class 0 on",
                         weights, in_quotes(c.info.name), target.class_count));
  check_named_weights(c);
  if (c.def.train.patience != 0 && seeds(split::validation) == 0
      && c.source.usable("train.patience"))
    c.report("train.patience",
             fmt::format("`train.patience` needs validation seeds, and {} has "
                         "none; leave it out",
                         in_quotes(c.info.name)));
}

/// What is told of an evaluation must fit into memory and messages.
void check_scores(const checked& c) {
  const auto& evaluate = c.def.evaluate;
  const auto path = evaluate.scores                 ? "evaluate.scores"
                    : takes_scores(evaluate.metric) ? "evaluate.metric"
                                                    : "evaluate.threshold";
  if (!evaluate.brings_scores() || evaluate.predict || !c.source.usable(path))
    return;
  const auto& target = c.target();
  const auto classes = task_of(target).outcomes == outcome_form::ranks
                         ? std::uint64_t{2} // Of the edge and of a negative.
                         : static_cast<std::uint64_t>(target.class_count);
  const auto most = most_measured_seeds(c.def, target);
  if (most * classes > seed_outcomes::most_scores)
    c.report(path, fmt::format("`{}` takes a score for each class of each seed "
                               "of a split, and {} seeds of {} with {} classes "
                               "are more than {} scores; leave it out",
                               path, most, in_quotes(c.info.name), classes,
                               seed_outcomes::most_scores));
  const auto batch = std::min<std::uint64_t>(evaluate.batch_size, most);
  if (batch * classes > seed_outcomes::most_batch_scores
      && c.source.usable("evaluate.batch_size"))
    c.report("evaluate.batch_size",
             fmt::format("`evaluate.batch_size` may be {} at the most for {} "
                         "classes and `{}`, which takes a score for each of "
                         "them",
                         seed_outcomes::most_batch_scores / classes, classes,
                         path));
}

/// A split that is measured alone has seeds.
void check_measured(const checked& c) {
  const auto only = split_of(c.def.evaluate.only);
  if (only && most_measured_seeds(c.def, c.target()) == 0
      && c.source.usable("evaluate.only"))
    c.report("evaluate.only",
             fmt::format("the {} split of {} has no seeds, so that there is "
                         "nothing to measure: name another one",
                         to_string(c.def.evaluate.only),
                         in_quotes(c.info.name)));
}

/// What a batch gives must fit into a message.
void check_predictions(const checked& c) {
  const auto& evaluate = c.def.evaluate;
  const auto columns =
    static_cast<std::uint64_t>(told_columns(c.def, c.target().class_count));
  const auto most = seed_outcomes::most_batch_scores / columns;
  const auto rows = chosen_task(c.info) == nullptr
                      ? static_cast<std::uint64_t>(c.target().count)
                      : std::uint64_t{evaluate.batch_size};
  if (!evaluate.predict || !c.source.usable("evaluate.batch_size")
      || std::min<std::uint64_t>(evaluate.batch_size, rows) <= most)
    return;
  c.report(
    "evaluate.batch_size",
    predicts_outputs(c.def)
      ? fmt::format("`evaluate.batch_size` may be {} at the most for "
                    "outputs of {} values and `evaluate.predict`, which "
                    "tells those of both ends of a row",
                    most, columns / 2)
      : fmt::format("`evaluate.batch_size` may be {} at the most for {} "
                    "classes and `evaluate.predict`, which tells a logit "
                    "for each of them",
                    most, columns));
}

/// Metrics that count what seeds were taken for.
bool counts_pairs(evaluation_metric metric) {
  return metric == evaluation_metric::f1_macro
         || metric == evaluation_metric::f1_micro
         || metric == evaluation_metric::f1
         || metric == evaluation_metric::precision
         || metric == evaluation_metric::recall;
}

/// Reports what the dataset has no class, no seeds or too many classes for.
/// @param wrong With what `path` names; null: nothing.
void check_choice(const checked& c, const std::string& path, const error* wrong,
                  evaluation_metric metric) {
  const auto& target = c.target();
  if (!c.source.usable(path))
    return;
  if (wrong != nullptr)
    c.report(path, fmt::format("`{}`: {}", path, wrong->message));
  if (c.use == data_use::training && !trains_nothing(c.def)
      && target.split_counts[static_cast<std::size_t>(split::validation)] == 0)
    c.report(path, fmt::format("`{}` needs validation seeds, and {} has none; "
                               "leave it out",
                               path, in_quotes(c.info.name)));
  if (counts_pairs(metric) && !task_of(target).counts(target.class_count))
    c.report(path,
             fmt::format("{} is for up to {} classes, and {} has {}; "
                         "take another metric",
                         to_string(metric), seed_outcomes::most_counted_classes,
                         in_quotes(c.info.name), target.class_count));
}

/// A threshold that is tuned takes the validation, one that is given does not.
void check_threshold_of(const checked& c) {
  const auto& evaluate = c.def.evaluate;
  const auto path = "evaluate.threshold";
  if (evaluate.threshold.empty() || !c.source.usable(path))
    return;
  if (task_of(c.target()).outcomes == outcome_form::ranks)
    return; // `task_checks.hpp`
  const auto chosen = threshold_of(evaluate, c.target());
  if (!task_of(c.target()).decides)
    c.report(path, fmt::format("`{}` is for classes, and labels of {} are "
                               "numbers; leave it out",
                               path, in_quotes(c.info.name)));
  else if (!chosen)
    c.report(path, fmt::format("`{}`: {}", path, chosen.error().message));
  else if (!chosen.value()->fixed)
    check_choice(c, path, nullptr, evaluation_metric::accuracy);
}

void check_metric(const checked& c) {
  const auto metric = c.def.evaluate.metric;
  const auto& target = c.target();
  if (target.class_count == 0)
    return; // That has been reported.
  c.report_usable(problems_with_values(c.def, c.info));
  if (chosen_task(c.info) != nullptr)
    c.report_usable(problems_with_task(c.def, c.info));
  check_scores(c);
  check_measured(c);
  check_predictions(c);
  check_threshold_of(c);
  // Where there is no other choice, these stand there without validations, too.
  if (metric == evaluation_metric::accuracy || is_of_values(metric)
      || !task_of(target).has(metric))
    return;
  const auto chosen = metric_of(c.def.evaluate, target);
  check_choice(c, "evaluate.metric", chosen ? nullptr : &chosen.error(),
               metric);
}

} // namespace

std::vector<problem> problems_with(const definition_source& source,
                                   const dataset_info& info, data_use use) {
  std::vector<problem> problems;
  const auto chosen = choose_target(info, source.value);
  const checked c{source, source.value, chosen ? chosen.value() : info, use,
                  problems};
  check_dataset_name(c);
  check_edge_types(c);
  c.report_usable(problems_with_times(c.def, c.info, use == data_use::feeding));
  c.report_usable(
    problems_with_sampling(c.def, c.info, use == data_use::feeding));
  if (use != data_use::feeding) {
    check_model(c);
    check_embedding(c);
    check_edge_weights(c);
    check_edge_features(c);
  }
  if (chosen && use != data_use::feeding) {
    check_task(c);
    check_metric(c);
  } else if (chosen && chosen_task(c.info) != nullptr) {
    c.report_usable(problems_with_negatives(c.def, c.info));
  } else if (const std::string path =
               source.value.task.empty() ? "labels" : "task";
             !chosen && source.usable(path)
             && (source.value.task.empty() || source.value.labels.empty())) {
    c.report(path, fmt::format("`{}`: {}", path, chosen.error().message));
  }
  return problems;
}

std::vector<problem> problems_with(const definition_source& source,
                                   const partitioned_graph& graph) {
  auto problems = problems_with(source, graph.info());
  const auto path = "evaluate.visible";
  const auto& def = source.value;
  if (def.evaluate.visible != visible_edges::past || trains_nothing(def)
      || !problems.empty() || !source.usable(path))
    return problems;
  for (part_id p = 0; p < graph.part_count() && problems.empty(); ++p)
    if (const auto part = graph.open_shard(p))
      if (const auto sound = check_visible_past(def, *part.value()); !sound)
        problems.push_back({source.where(path), sound.error().message});
  return problems;
}

namespace {

/// Of two classes, people often mean the metric of one by its mean over both.
/// The ROC-AUC of both is the same.
std::optional<std::string> note_on_mean(const definition& def,
                                        const node_type_info& target) {
  const auto metric = def.evaluate.metric;
  const auto word =
    metric == evaluation_metric::f1_macro ? evaluation_metric::f1 : metric;
  const auto is_mean = word == evaluation_metric::f1
                       || word == evaluation_metric::average_precision;
  if (!is_mean || !def.evaluate.metric_detail.empty()
      || !task_of(target).one_class || target.class_count != 2)
    return std::nullopt;
  return fmt::format("`evaluate.metric: {0}` is the mean over both classes; "
                     "`{1}:{2}` and `{1}:{3}` are those of one",
                     to_string(metric), to_string(word),
                     class_name_of(target, 0), class_name_of(target, 1));
}

} // namespace

std::optional<std::string> note_on_metric(const definition& def,
                                          const dataset_info& info) {
  const auto chosen = choose_target(info, def);
  if (!chosen)
    return std::nullopt;
  const auto& target =
    chosen.value().node_types[static_cast<std::size_t>(chosen.value().target)];
  if (target.split_counts[static_cast<std::size_t>(split::validation)] == 0)
    return std::nullopt;
  if (task_of(target).outcomes != outcome_form::labels
      || def.evaluate.metric != evaluation_metric::accuracy)
    return note_on_mean(def, target);
  return fmt::format("{0} of {1} may have several labels, and the best epoch "
                     "is chosen by accuracy, the share of {0} of which all "
                     "labels are right; `evaluate.metric: f1_micro` counts "
                     "each label",
                     def.task.empty() ? "nodes" : "edges",
                     in_quotes(info.name));
}

std::optional<std::string> note_on_graph(const definition& def,
                                         const dataset_info& info) {
  if (!traits_of(def.model.kind).hears())
    return std::nullopt;
  // Edges of a task have neighbours at either end.
  return def.task.empty() ? note_on_reach(info) : std::nullopt;
}

result<void> check_against(const definition& def, const dataset_info& info,
                           data_use use) {
  definition_source source;
  source.value = def;
  source.file = def.name;
  const auto problems = problems_with(source, info, use);
  if (!problems.empty())
    return to_error(problems);
  return ok();
}

result<void> check_definition_against(const definition_source& source,
                                      const std::filesystem::path& data) {
  GRAPHMILL_TRY(const auto graph, partitioned_graph::open(data));
  const auto problems = problems_with(source, graph);
  if (!problems.empty())
    return to_error(problems);
  return ok();
}

result<void> check_provable(const definition& def,
                            const partitioned_graph& graph) {
  if (def.fetch.verify != 0 && !def.labels.empty())
    return fail(ec::invalid_argument,
                "`fetch.verify` is {}, but the files of a label set (`labels: "
                "{}`) have no digests of blocks; leave one of the two out",
                def.fetch.verify, def.labels);
  if (def.fetch.verify != 0 && !def.task.empty())
    return fail(ec::invalid_argument,
                "`fetch.verify` is {}, but the files of a task (`task: {}`) "
                "have no digests of blocks; leave one of the two out",
                def.fetch.verify, def.task);
  if (def.fetch.verify != 0
      && (reads_edge_features(def, graph.info()) || decodes_edge_features(def)))
    return fail(ec::invalid_argument,
                "`fetch.verify` is {}, but features of edges have no digests "
                "of blocks to check values against; leave `fetch.verify` out, "
                "or set model.edge_features: ignore",
                def.fetch.verify);
  if (def.fetch.verify != 0)
    for (const auto& type : graph.info().node_types)
      if (type.sparse_features)
        return fail(ec::invalid_argument,
                    "`fetch.verify` is {}, but the features of {} are sparse, "
                    "which have no digests of blocks; leave it out, or import "
                    "the dataset without --sparse",
                    def.fetch.verify, in_quotes(type.name));
  if (def.fetch.verify == 0 || graph.proves_rows())
    return ok();
  return fail(ec::invalid_argument,
              "`fetch.verify` is {}, but dataset {} has no digests of blocks "
              "in a partitions.json: partition it (again; one part will do), "
              "or leave `fetch.verify` out",
              def.fetch.verify, in_quotes(graph.info().name));
}

std::optional<std::string> note_on_proofs(const definition& def,
                                          const partitioned_graph& graph) {
  const auto provable = check_provable(def, graph);
  if (provable)
    return std::nullopt;
  return fmt::format(
    "a cluster refuses this definition, and one process checks "
    "nothing: {}",
    provable.error().message);
}

} // namespace graphmill
