#include "actors/run/class_report.hpp"

#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace graphmill {

namespace {

/// What grows with the classes, or with their square, would be too long to be
/// read in a summary, and to be kept of each run.
constexpr std::size_t most_listed_classes = 64;

nlohmann::json class_list(const class_metrics& of) {
  auto out = nlohmann::json::array();
  for (const auto& one : of.classes) {
    nlohmann::json entry{{"class", out.size()},
                         {"seeds", one.seeds},
                         {"predicted", one.predicted},
                         {"correct", one.correct},
                         {"precision", json_or_null(one.precision())},
                         {"recall", json_or_null(one.recall())},
                         {"f1", json_or_null(one.f1())}};
    if (of.scored) {
      entry["roc_auc"] = json_or_null(one.ranking.roc_auc);
      entry["average_precision"] = json_or_null(one.ranking.average_precision);
    }
    out.push_back(std::move(entry));
  }
  return out;
}

nlohmann::json value_list(const class_metrics& of) {
  auto out = nlohmann::json::array();
  for (const auto& one : of.values)
    out.push_back({{"value", out.size()},
                   {"mse", one.mse},
                   {"rmse", one.rmse()},
                   {"mae", one.mae},
                   {"r2", json_or_null(one.r2)}});
  return out;
}

nlohmann::json rank_figures(const auto& of) {
  return {{"mrr", of.mrr()},
          {"hits@1", of.hits(1)},
          {"hits@3", of.hits(3)},
          {"hits@10", of.hits(10)},
          {"mean_rank", of.mean_rank()}};
}

/// What lists of 20 nodes find.
void add_groups(nlohmann::json& to, const group_tally& of) {
  if (of.distinct() == 0)
    return;
  to["recall@20"] = of.recall(20);
  to["ndcg@20"] = of.ndcg(20);
}

/// Of both ends apart, if both were ranked.
void add_ends(nlohmann::json& to, const link_result& of) {
  if (of.destinations.rows() == 0 || of.sources.rows() == 0)
    return;
  to["destination"] = rank_figures(of.destinations);
  to["source"] = rank_figures(of.sources);
}

/// Of each edge type alone, if there are several.
nlohmann::json edge_type_list(const link_result& of) {
  auto out = nlohmann::json::array();
  for (const auto& [relation, ends] : of.relations) {
    const link_result one{ends[0], ends[1]};
    out.push_back({{"edge_type", relation},
                   {"seeds", std::max(ends[0].rows(), ends[1].rows())},
                   {"mrr", one.mrr()},
                   {"hits@10", one.hits(10)}});
  }
  return out;
}

nlohmann::json confusion_rows(const class_metrics& of) {
  auto out = nlohmann::json::array();
  const auto width = of.classes.size();
  for (std::size_t label = 0; label < width; ++label) {
    auto row = nlohmann::json::array();
    for (std::size_t predicted = 0; predicted < width; ++predicted)
      row.push_back(of.confusion[label * width + predicted]);
    out.push_back(std::move(row));
  }
  return out;
}

} // namespace

void add_class_metrics(nlohmann::json& to, const class_metrics& of) {
  if (!of.values.empty()) {
    to["mse"] = json_or_null(of.mse());
    to["rmse"] = json_or_null(of.rmse());
    to["mae"] = json_or_null(of.mae());
    to["r2"] = json_or_null(of.r2());
    return;
  }
  if (of.links) {
    to.update(rank_figures(*of.links));
    add_groups(to, of.links->groups);
    to["tied"] = of.links->share_of_ties();
  } else {
    to["f1_micro"] = json_or_null(of.f1_micro());
    to["f1_macro"] = json_or_null(of.f1_macro());
  }
  if (of.scored) {
    to["roc_auc"] = json_or_null(of.roc_auc);
    to["average_precision"] = json_or_null(of.average_precision);
  }
}

void add_metric(nlohmann::json& to, const phase_result& done) {
  if (!to.contains(done.metric.name))
    to[done.metric.name] = json_or_null(done.value());
}

void add_threshold(nlohmann::json& to, const phase_result& done,
                   std::optional<double> tuned) {
  if (!done.threshold || !done.classes || !done.classes->ranked)
    return;
  const auto& choice = *done.threshold;
  const auto& scores = *done.classes->ranked;
  const auto probability = choice.fixed ? choice.fixed
                           : tuned      ? tuned
                                        : scores.threshold_for(choice.by);
  if (!probability)
    return;
  const auto counts = scores.at(*probability);
  to["threshold"] = *probability;
  to["threshold_of"] = choice.name;
  to["threshold_predicted"] = counts.found + counts.wrong;
  to["threshold_correct"] = counts.found;
  to["threshold_precision"] = json_or_null(counts.precision());
  to["threshold_recall"] = json_or_null(counts.recall());
  to["threshold_f1"] = json_or_null(counts.f1());
  to["threshold_false_positive_rate"] =
    json_or_null(counts.false_positive_rate());
}

nlohmann::json evaluation_json(const phase_result& done) {
  nlohmann::json out{{"seeds", done.metrics.seeds},
                     {"loss", done.metrics.loss()}};
  if (done.metric.has_accuracy())
    out["accuracy"] = done.metrics.accuracy();
  if (!done.classes)
    return out;
  add_class_metrics(out, *done.classes);
  add_metric(out, done);
  if (const auto& links = done.classes->links) {
    add_ends(out, *links);
    if (links->relations.size() > 1
        && links->relations.size() <= most_listed_classes)
      out["edge_types"] = edge_type_list(*links);
  }
  if (done.threshold && done.threshold->fixed)
    add_threshold(out, done);
  const auto values = done.classes->values.size();
  if (values > 1 && values <= most_listed_classes)
    out["values"] = value_list(*done.classes);
  const auto count = done.classes->classes.size();
  if (count != 0 && count <= most_listed_classes) {
    out["classes"] = class_list(*done.classes);
    if (!done.classes->confusion.empty())
      out["confusion"] = confusion_rows(*done.classes);
  }
  return out;
}

error nothing_measured(std::string_view split) {
  return fail(ec::invalid_argument,
              "the {} split has no seeds, so that there is nothing "
              "to measure: name another one by --split",
              split);
}

nlohmann::json evaluation_in(const nlohmann::json& line) {
  auto out = nlohmann::json::object();
  const auto take = [&line, &out](const std::string& key) {
    if (line.contains(key))
      out[key] = line[key];
  };
  for (const auto* key : {"seeds",
                          "loss",
                          "accuracy",
                          "f1_micro",
                          "f1_macro",
                          "roc_auc",
                          "average_precision",
                          "mse",
                          "rmse",
                          "mae",
                          "r2",
                          "mrr",
                          "hits@1",
                          "hits@3",
                          "hits@10",
                          "mean_rank",
                          "recall@20",
                          "ndcg@20",
                          "tied",
                          "threshold",
                          "threshold_of",
                          "threshold_predicted",
                          "threshold_correct",
                          "threshold_precision",
                          "threshold_recall",
                          "threshold_f1",
                          "threshold_false_positive_rate"})
    take(key);
  if (const auto metric = line.value("metric", nlohmann::json{});
      metric.is_string())
    take(metric.get<std::string>());
  return out;
}

} // namespace graphmill
