#include "pipelines/definition/validation/task_checks.hpp"

#include "messages/work/seed_outcomes.hpp"
#include "pipelines/definition/decoder_words.hpp"
#include "pipelines/definition/definition_help.hpp"
#include "pipelines/definition/edge_predictions.hpp"
#include "pipelines/definition/measured_seeds.hpp"
#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/definition/yaml/problem.hpp"
#include "pipelines/task/chosen_target.hpp"
#include "pipelines/task/ranked_ends.hpp"
#include "pipelines/task/task_traits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace graphmill {

namespace {

using found_problems = std::vector<std::pair<std::string, std::string>>;

/// What the checks work on.
struct checked_task {
  const definition& def;
  const dataset_info& info;
  const edge_task_info& task;
  found_problems& problems;

  void report(const char* path, std::string text) const {
    problems.emplace_back(path, std::move(text));
  }

  /// Refuses a field that the task takes no notice of.
  void refuse(const char* path, bool given, std::string_view whom) const {
    if (given)
      report(path, fmt::format("`{}` is for {}, and {} {}; leave it out", path,
                               whom, name(), learns()));
  }

  std::string name() const { return "task " + in_quotes(task.name); }

  const edge_task_traits& traits() const { return traits_of(task.kind); }

  std::string_view learns() const { return traits().learns; }
};

/// One output is a score, as links have. Classes, and several outputs, need a
/// decoder with a matrix for each of them.
void check_decoder(const checked_task& c) {
  const auto kind = c.def.decoder.kind;
  const auto matrices =
    kind == decoder_kind::bilinear || kind == decoder_kind::mlp;
  const auto labels = c.traits().labels;
  if (!labels || matrices)
    return;
  const auto one_number = traits_of(*labels).numbers && c.task.class_count == 1;
  if (!one_number)
    return c.report(
      "decoder.kind",
      fmt::format("`decoder.kind: {}` gives an edge one score, and {} {}, {} "
                  "of them; use bilinear or mlp",
                  to_string(kind), c.name(), c.learns(), c.task.class_count));
  if (kind == decoder_kind::transe || kind == decoder_kind::rotate)
    c.report("decoder.kind",
             fmt::format("`decoder.kind: {}` gives distances, which are never "
                         "positive, and {} {}; use another one",
                         to_string(kind), c.name(), c.learns()));
}

void refuse_negatives(const checked_task& c) {
  const auto& negatives = c.def.negatives;
  c.refuse("negatives.kind", negatives.kind != negative_kind::per_edge,
           "links");
  c.refuse("negatives.count", negatives.count != 1, "links");
  c.refuse("negatives.corrupt", negatives.corrupt != corrupted_end::destination,
           "links");
  c.refuse("negatives.weight", negatives.weight != negative_weight::uniform,
           "links");
  c.refuse("evaluate.negatives",
           c.def.evaluate.negatives != default_of("evaluate", "negatives"),
           "links");
}

/// The node types at the end that negatives replace must have enough nodes.
void check_negative_count(const checked_task& c) {
  const auto& negatives = c.def.negatives;
  if (negatives.kind == negative_kind::given)
    return;
  const auto check = [&c, &negatives](node_type_id which) {
    const auto& type = c.info.node_types[static_cast<std::size_t>(which)];
    if (std::int64_t{negatives.count} <= type.count)
      return true;
    c.report("negatives.count",
             fmt::format("`negatives.count` is {}, but {} has {} nodes of type "
                         "{}; take fewer negatives",
                         negatives.count, in_quotes(c.info.name), type.count,
                         in_quotes(type.name)));
    return false;
  };
  for (const auto which : c.task.edge_types) {
    const auto& type = c.info.edge_types[static_cast<std::size_t>(which)];
    if (negatives.corrupt != corrupted_end::source && !check(type.destination))
      return;
    if (negatives.corrupt != corrupted_end::destination && !check(type.source))
      return;
  }
}

void check_negatives(const checked_task& c) {
  if (!c.traits().negatives)
    return refuse_negatives(c);
  if (c.def.negatives.kind == negative_kind::given
      && c.task.negative_counts[static_cast<std::size_t>(split::train)] == 0)
    c.report("negatives.kind",
             fmt::format("`negatives.kind` is given, but the training rows of "
                         "{} have no negatives; use per_edge or joint, or "
                         "import them",
                         c.name()));
  check_negative_count(c);
}

/// Lists of the best nodes take the scores of all destinations.
void check_groups(const checked_task& c) {
  const auto refuse = [&c](std::string_view why, std::string_view remedy) {
    c.report("evaluate.metric",
             fmt::format("`evaluate.metric: {}{}` is of all destinations of a "
                         "source, {}; {}, or take another metric",
                         to_string(metric_meant(c.def.evaluate)),
                         c.def.evaluate.metric_detail, why, remedy));
  };
  const auto corrupt = c.def.negatives.corrupt;
  if (corrupt == corrupted_end::source || corrupt == corrupted_end::pair)
    return refuse(
      fmt::format("and `negatives.corrupt: {}` ranks none",
                  corrupt == corrupted_end::source ? "source" : "pair"),
      "use destination or both");
  if (!ends_ranked_among_all(c.def, c.info, c.task)[0])
    return refuse(
      fmt::format("and `evaluate.negatives` is {}", c.def.evaluate.negatives),
      "set `evaluate.negatives: all`");
  for (const auto which : {split::validation, split::test})
    if (c.task.negative_counts[static_cast<std::size_t>(which)] > 0)
      return refuse(fmt::format("and the {} rows of {} have negatives, among "
                                "which they are ranked",
                                which == split::test ? "test" : "validation",
                                c.name()),
                    "import the task without --task-negatives");
}

/// Areas compare edges with negatives that are drawn, each once. All nodes are
/// no such sample.
void check_areas(const checked_task& c) {
  const auto& evaluate = c.def.evaluate;
  const auto all = ends_ranked_among_all(c.def, c.info, c.task);
  const auto wanted =
    evaluate.scores || evaluate.metric == evaluation_metric::roc_auc
    || evaluate.metric == evaluation_metric::average_precision;
  if (!wanted || !(all[0] || all[1]))
    return;
  const auto only = split_of(evaluate.only);
  const auto drawn = [&](split which) {
    const auto i = static_cast<std::size_t>(which);
    return (only ? which == *only : which != split::train)
           && c.task.split_counts[i] > 0 && c.task.negative_counts[i] == 0;
  };
  if (!std::ranges::any_of(
        std::array{split::train, split::validation, split::test}, drawn))
    return;
  const auto path = evaluate.scores ? "evaluate.scores" : "evaluate.metric";
  c.report(path,
           fmt::format("`{}` wants ROC-AUC or average precision, which compare "
                       "edges with negatives that are drawn, and "
                       "`evaluate.negatives` ranks all nodes of {}; make it a "
                       "smaller number than there are nodes, such as 1, or "
                       "take another metric without scores",
                       path, in_quotes(c.info.name)));
}

/// Outputs of nodes are told by edges between them, which are none of the
/// dataset's.
void check_outputs(const checked_task& c) {
  if (!predicts_outputs(c.def))
    return;
  if (c.def.decoder.edge_features)
    c.report(
      "evaluate.predict",
      fmt::format("`evaluate.predict` computes outputs of nodes by edges "
                  "that {} need not have, and `decoder.edge_features` "
                  "reads features of edges; predict the rows of a split, "
                  "by `graphmill submit --predict RUN --split test`",
                  in_quotes(c.info.name)));
  for (const auto which : c.task.edge_types) {
    const auto& ends = c.info.edge_types[static_cast<std::size_t>(which)];
    for (const auto end : {ends.source, ends.destination})
      if (const auto& type = c.info.node_types[static_cast<std::size_t>(end)];
          type.count == 0)
        return c.report(
          "evaluate.predict",
          fmt::format("`evaluate.predict` computes outputs of nodes by edges "
                      "between them, and {} has no nodes of type {}, at which "
                      "edges of {} end; leave it out",
                      in_quotes(c.info.name), in_quotes(type.name), c.name()));
  }
}

/// What a batch tells of must fit into a message.
void check_rows_told(const checked_task& c) {
  const auto& target =
    c.info.node_types[static_cast<std::size_t>(c.info.target)];
  const auto& evaluate = c.def.evaluate;
  // `validation.cpp` looks after scores.
  if (!evaluate.brings_scores()
      && std::min<std::uint64_t>(evaluate.batch_size,
                                 most_measured_seeds(c.def, target))
           > seed_outcomes::most_batch_scores)
    c.report("evaluate.batch_size",
             fmt::format("`evaluate.batch_size` may be {} at the most for "
                         "links, of which each has a rank",
                         seed_outcomes::most_batch_scores));
}

void check_links(const checked_task& c) {
  const auto& train = c.def.train;
  c.refuse("train.label_smoothing", train.label_smoothing != 0, "classes");
  c.refuse("train.class_weights",
           !train.class_weights.empty() || !train.named_class_weights.empty(),
           "classes");
  c.refuse("train.balance_classes", train.balance_classes, "classes");
  c.refuse("train.focal_gamma", train.focal_gamma != 0, "classes");
  c.refuse("train.loss", train.loss != value_loss::mse,
           "labels that are numbers");
  c.refuse("evaluate.threshold", !c.def.evaluate.threshold.empty(), "classes");
  const auto metric = metric_meant(c.def.evaluate);
  const auto& target =
    c.info.node_types[static_cast<std::size_t>(c.info.target)];
  if (metric != evaluation_metric::accuracy // The default: mrr.
      && (!task_of(target).has(metric)
          || c.def.evaluate.metric_detail.find(':') != std::string::npos))
    c.report("evaluate.metric",
             fmt::format("`evaluate.metric` is {}{}, and {} {}: use mrr, "
                         "hits@K, mean_rank, recall@K, precision@K, ndcg@K, "
                         "roc_auc, average_precision or loss",
                         to_string(metric), c.def.evaluate.metric_detail,
                         c.name(), c.learns()));
  else {
    check_areas(c);
    if (is_of_groups(metric))
      check_groups(c);
  }
  check_rows_told(c);
}

} // namespace

std::vector<std::pair<std::string, std::string>>
problems_with_task(const definition& def, const dataset_info& info) {
  found_problems out;
  const checked_task c{def, info, *chosen_task(info), out};
  check_decoder(c);
  check_outputs(c);
  if (c.traits().negatives)
    check_links(c);
  else
    c.refuse("train.link_loss", def.train.link_loss != link_loss::bce, "links");
  check_negatives(c);
  return out;
}

std::vector<std::pair<std::string, std::string>>
problems_with_negatives(const definition& def, const dataset_info& info) {
  found_problems out;
  check_negatives({def, info, *chosen_task(info), out});
  return out;
}

} // namespace graphmill
