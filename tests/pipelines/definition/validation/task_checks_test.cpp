#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/task/chosen_target.hpp"
#include "tests/pipelines/definition/problems.hpp"
#include "tests/support/result.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace graphmill::test::task_checks {

namespace {

/// People who buy things, with a task of each kind.
dataset_info shop() {
  dataset_info info;
  info.name = "shop";
  info.node_types.resize(2);
  for (auto& type : info.node_types) {
    type.feature_width = 3;
    type.count = 50;
  }
  info.node_types[0].name = "person";
  info.node_types[1].name = "thing";
  info.node_types[1].count = 20;
  info.edge_types = {{0, "buys", 1, 200, 10, dtype::int32},
                     {1, "rev_buys", 0, 200, 10, dtype::int32}};
  const auto add = [&info](const char* name, edge_task_kind kind,
                           std::int64_t classes) {
    edge_task_info task;
    task.name = name;
    task.kind = kind;
    task.edge_types = {0};
    task.reverse_types = {1};
    task.class_count = classes;
    task.split_counts = {100, 20, 30};
    info.tasks.push_back(task);
  };
  add("links", edge_task_kind::link, 0);
  add("fraud", edge_task_kind::edge_class, 2);
  add("tags", edge_task_kind::edge_labels, 4);
  add("stars", edge_task_kind::edge_value, 1);
  add("prices", edge_task_kind::edge_value, 3);
  return info;
}

using texts = std::vector<std::string>;

texts problems_of(const std::string& rest, const dataset_info& info = shop()) {
  return typed_problems(rest, info);
}

void check_refused(const std::string& rest, const std::string& said,
                   const dataset_info& info = shop()) {
  check_one_problem(rest, said, info);
}

} // namespace

CATCH_TEST_CASE("definitions of tasks that can run have no problems",
                "[definition][validation][tasks]") {
  for (const auto* rest :
       {"task: links", "task: links, decoder: {kind: complex}",
        "task: links, decoder: {kind: transe, norm: 2}",
        "task: links, evaluate: {metric: mrr}",
        "task: links, evaluate: {metric: \"hits@3\"}",
        "task: links, evaluate: {metric: mean_rank, negatives: 1000}",
        "task: links, evaluate: {metric: recall@20, negatives: all}",
        "task: links, evaluate: {metric: ndcg@1, negatives: 50}, negatives: "
        "{corrupt: both}",
        "task: links, evaluate: {metric: precision@5, negatives: all}",
        "task: links, evaluate: {metric: roc_auc, scores: true, negatives: 19}",
        "task: links, evaluate: {scores: true}, negatives: {corrupt: pair}",
        "task: links, evaluate: {metric: accuracy}", // As records have it.
        "task: links, evaluate: {metric: loss}, train: {patience: 3}",
        "task: links, negatives: {kind: joint, count: 20, corrupt: both, "
        "weight: degree}, train: {link_loss: self_adversarial, margin: 9, "
        "temperature: 0.5}",
        "task: fraud, decoder: {kind: mlp, hidden: 7}, evaluate: {metric: "
        "\"f1:1\"}, train: {balance_classes: true}",
        "task: tags, decoder: {kind: bilinear}, evaluate: {metric: f1_micro}",
        "task: stars, evaluate: {metric: mae}, decoder: {kind: distmult}",
        "task: prices, evaluate: {metric: mse}, decoder: {kind: mlp}"}) {
    CATCH_INFO(rest);
    CATCH_CHECK(problems_of(rest) == texts{});
  }
}

CATCH_TEST_CASE("tasks that are not there are named with those that are",
                "[definition][validation][tasks]") {
  check_refused("task: link",
                "`task`: \"shop\" has no task \"link\" of edges; there are "
                "\"links\", \"fraud\"");
  check_refused("task: links, labels: other",
                "`task` and `labels` exclude each other");
  auto bare = shop();
  bare.tasks.clear();
  check_refused("task: links", "it has none", bare);
}

CATCH_TEST_CASE("fields of tasks are refused without one",
                "[definition][validation][tasks]") {
  auto info = shop();
  auto& target = info.node_types[0];
  target.class_count = 2;
  target.split_counts = {10, 4, 5};
  CATCH_CHECK(problems_of("seed: 3", info) == texts{});
  for (const auto& [rest, path] :
       std::vector<std::pair<const char*, const char*>>{
         {"decoder: {kind: mlp}", "decoder.kind"},
         {"decoder: {hidden: 3}", "decoder.hidden"},
         {"decoder: {norm: 2}", "decoder.norm"},
         {"negatives: {kind: joint}", "negatives.kind"},
         {"negatives: {count: 3}", "negatives.count"},
         {"negatives: {corrupt: both}", "negatives.corrupt"},
         {"negatives: {weight: degree}", "negatives.weight"},
         {"train: {link_loss: bpr}", "train.link_loss"},
         {"evaluate: {negatives: 3}", "evaluate.negatives"}})
    check_refused(rest,
                  fmt::format("`{}` is for tasks of edges, which `task` names; "
                              "leave it out",
                              path),
                  info);
  // As records have them.
  CATCH_CHECK(problems_of("task: \"\", decoder: {kind: dot, hidden: 0, norm: "
                          "1}, negatives: {kind: per_edge, count: 1}, "
                          "evaluate: {negatives: 100}",
                          info)
              == texts{});
  check_refused("evaluate: {metric: mrr}",
                "mrr, hits and mean_rank are for links", info);
}

CATCH_TEST_CASE("fields that a task takes no notice of are refused",
                "[definition][validation][tasks]") {
  for (
    const auto& [rest, said] : std::vector<std::pair<std::string, std::string>>{
      {"task: links, train: {label_smoothing: 0.1}",
       "`train.label_smoothing` is for classes, and task `links` predicts "
       "links; leave it out"},
      {"task: links, train: {class_weights: [1]}", "`train.class_weights`"},
      {"task: links, train: {balance_classes: true}",
       "`train.balance_classes`"},
      {"task: links, train: {focal_gamma: 2}", "`train.focal_gamma`"},
      {"task: links, train: {loss: mae}",
       "`train.loss` is for labels that are numbers"},
      {"task: links, evaluate: {threshold: \"0.3:1\"}",
       "`evaluate.threshold` is for classes"},
      {"task: links, evaluate: {metric: f1_macro}",
       "`evaluate.metric` is f1_macro, and task `links` predicts links: use "
       "mrr, hits@K,"},
      {"task: links, evaluate: {metric: mse}", "`evaluate.metric` is mse"},
      {"task: links, evaluate: {metric: recall@20, negatives: 19}",
       "`evaluate.metric: recall@20` is of all destinations of a source, and "
       "`evaluate.negatives` is 19; set `evaluate.negatives: all`, or take "
       "another metric"},
      {"task: links, evaluate: {metric: roc_auc, negatives: all}",
       "`evaluate.metric` wants ROC-AUC or average precision, which compare "
       "edges with negatives that are drawn, and `evaluate.negatives` ranks "
       "all nodes of `shop`; make it a smaller number"},
      {"task: links, evaluate: {metric: average_precision, negatives: 20}",
       "`evaluate.metric` wants ROC-AUC"},
      {"task: links, evaluate: {scores: true, negatives: all}",
       "`evaluate.scores` wants ROC-AUC"},
      {"task: links, evaluate: {scores: true, negatives: 30}, negatives: "
       "{corrupt: both}",
       "`evaluate.scores` wants ROC-AUC"},
      {"task: links, evaluate: {metric: ndcg@3, negatives: all}, negatives: "
       "{corrupt: source}",
       "and `negatives.corrupt: source` ranks none; use destination or both"},
      {"task: links, evaluate: {negatives: all}, negatives: {corrupt: pair}",
       "`evaluate.negatives: all` ranks all nodes at one end"},
      {"task: fraud, decoder: {kind: mlp}, evaluate: {metric: recall@20}",
       "mrr, hits and mean_rank are for links"},
      {"task: links, evaluate: {metric: \"roc_auc:0\"}",
       "`evaluate.metric` is roc_auc:0"},
      {"task: links, evaluate: {predict: true, batch_size: 65536}",
       "`evaluate.batch_size` may be 8192 at the most for outputs of 256 "
       "values"},
      {"task: links, train: {margin: 3}",
       "`train.margin` is for `link_loss: margin` and"},
      {"task: links, train: {link_loss: margin, temperature: 3}",
       "`train.temperature` is for `link_loss: self_adversarial` alone"},
      {"task: links, decoder: {hidden: 8}",
       "`decoder.hidden` is for `decoder.kind: mlp` alone"},
      {"task: links, decoder: {kind: mlp, norm: 2}",
       "`decoder.norm` is for `decoder.kind: transe` alone"},
      {"task: links, negatives: {kind: given}",
       "the training rows of task `links` have no negatives"},
      {"task: links, negatives: {count: 21}",
       "`negatives.count` is 21, but `shop` has 20 nodes of type `thing`"},
      {"task: links, negatives: {kind: joint, corrupt: pair}",
       "`negatives.corrupt: pair` is for `kind: per_edge`"},
      {"task: links, negatives: {count: 51, corrupt: source}",
       "has 50 nodes of type `person`"},
      {"task: fraud, decoder: {kind: mlp}, negatives: {count: 2}",
       "`negatives.count` is for links, and task `fraud` learns classes of "
       "edges; leave it out"},
      {"task: fraud, decoder: {kind: mlp}, train: {link_loss: bpr}",
       "`train.link_loss` is for links"},
      {"task: fraud, decoder: {kind: mlp}, evaluate: {negatives: 2}",
       "`evaluate.negatives` is for links"},
      {"task: fraud, decoder: {kind: mlp}, evaluate: {metric: mrr}",
       "mrr, hits and mean_rank are for links"},
      {"task: fraud",
       "`decoder.kind: dot` gives an edge one score, and task `fraud` "
       "learns classes of edges, 2 of them; use bilinear or mlp"},
      {"task: tags, decoder: {kind: rotate}", "gives an edge one score"},
      {"task: prices, evaluate: {metric: mse}", "gives an edge one score"},
      {"task: stars, decoder: {kind: transe}, evaluate: {metric: mse}",
       "gives distances, which are never positive"},
      {"task: stars, decoder: {kind: mlp}",
       "labels of `shop` are numbers, for which `evaluate.metric`"},
      {"task: tags, decoder: {kind: mlp}, train: {label_smoothing: 0.1}",
       "is for one class for each edge, and edges of `shop`"}})
    check_refused(rest, said);
  auto info = shop();
  info.tasks[0].negative_counts = {5, 0, 0};
  CATCH_CHECK(problems_of("task: links, negatives: {kind: given}", info)
              == texts{});
  info.tasks[0].negative_counts = {0, 5, 0};
  check_refused("task: links, evaluate: {metric: recall@20, negatives: all}",
                "and the validation rows of task `links` have negatives", info);
  info.tasks[0].negative_counts = {0, 5, 5};
  CATCH_CHECK(problems_of("task: links, evaluate: {scores: true}", info)
              == texts{});
  info.tasks[0].negative_counts = {5, 0, 0};
  check_refused("task: links, negatives: {kind: given, count: 5}",
                "with `kind: given` none are; leave it out", info);
}

CATCH_TEST_CASE("a batch of links has no more ranks than a message",
                "[definition][validation][tasks]") {
  auto info = shop();
  info.tasks[0].split_counts[2] = 5'000'000;
  check_refused("task: links, evaluate: {batch_size: all}",
                "`evaluate.batch_size` may be 4194304 at the most for links",
                info);
  CATCH_CHECK(problems_of("task: links, evaluate: {batch_size: 4194304}", info)
              == texts{});
  info.tasks[0].split_counts[2] = 4'194'304;
  CATCH_CHECK(problems_of("task: links, evaluate: {batch_size: all}", info)
              == texts{});
}

CATCH_TEST_CASE("outputs in halves are of even width",
                "[definition][validation][tasks]") {
  const auto said = [](const std::string& model, const char* kind) {
    const auto source = parse_definition(
      fmt::format("{{dataset: shop, task: links, decoder: {{kind: {}}}, model: "
                  "{{kind: hetero_sage, {}}}}}",
                  kind, model),
      "x.yaml");
    return source.problems.empty() ? std::string{} : source.problems[0].text;
  };
  for (const auto* kind : {"complex", "rotate"}) {
    CATCH_CHECK_THAT(said("hidden: 7", kind),
                     contains("`model.hidden` is 7, must be even"));
    CATCH_CHECK_THAT(said("hidden: 8, width: 5", kind),
                     contains("`model.width` is 5, must be even"));
    CATCH_CHECK(said("hidden: 7, width: 6", kind).empty());
  }
  CATCH_CHECK(said("hidden: 7", "distmult").empty());
}

CATCH_TEST_CASE("a task needs rows of training and validation",
                "[definition][validation][tasks]") {
  auto info = shop();
  info.tasks[0].split_counts = {0, 20, 30};
  check_refused("task: links",
                "`shop` has no training seeds of the task `links`", info);
  info.tasks[0].split_counts = {100, 0, 30};
  CATCH_CHECK(problems_of("task: links", info) == texts{});
  check_refused("task: links, train: {patience: 2}",
                "`train.patience` needs validation seeds", info);
  check_refused("task: links, evaluate: {metric: roc_auc, negatives: 3}",
                "`evaluate.metric` needs validation seeds", info);
}

CATCH_TEST_CASE("links go by mrr unless a definition says otherwise",
                "[definition][metric_choice][tasks]") {
  const auto chosen = [](const std::string& rest) {
    const auto source =
      parse_definition(fmt::format("{{dataset: shop, {}}}", rest), "x.yaml");
    CATCH_REQUIRE(source.problems.empty());
    return measures_of(source.value, shop()).metric;
  };
  const auto usual = chosen("task: links");
  CATCH_CHECK(usual.which == evaluation_metric::mrr);
  CATCH_CHECK(usual.name == "mrr");
  CATCH_CHECK(usual.form == outcome_form::ranks);
  const auto hits = chosen("task: links, evaluate: {metric: \"hits@5\"}");
  CATCH_CHECK(hits.name == "hits@5");
  CATCH_CHECK(hits.at == 5);
  const auto area = chosen("task: links, evaluate: {metric: roc_auc}");
  CATCH_CHECK(area.form == outcome_form::ranks);
  CATCH_CHECK_FALSE(area.has_accuracy());
  const auto classes = chosen("task: fraud, decoder: {kind: mlp}");
  CATCH_CHECK(classes.which == evaluation_metric::accuracy);
  CATCH_CHECK(classes.has_accuracy());
}

} // namespace graphmill::test::task_checks
