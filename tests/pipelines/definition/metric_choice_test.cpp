#include "pipelines/definition/metric_choice.hpp"

#include "pipelines/definition/class_names.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "tests/pipelines/definition/problems.hpp"
#include "tests/support/result.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace graphmill::test {

namespace {

using texts = std::vector<std::string>;

dataset_info payments() {
  dataset_info out;
  out.name = "payments";
  node_type_info account;
  account.name = "account";
  account.count = 100;
  account.feature_width = 2;
  account.class_count = 2;
  account.class_names = {"sound", "fraud"};
  account.split_counts = {10, 5, 5};
  out.node_types.push_back(account);
  out.target = 0;
  return out;
}

texts problems_of(const std::string& fields,
                  const dataset_info& info = payments()) {
  return found_problems(fields, info);
}

definition read(const std::string& text) {
  auto source = parse_definition(fmt::format("{{dataset: payments, {}}}", text),
                                 "x.yaml", {}, {});
  CATCH_REQUIRE(source.problems.empty());
  return source.value;
}

} // namespace

CATCH_TEST_CASE("metrics of one class are chosen by its name",
                "[definition][metric_choice]") {
  const auto info = payments();
  const auto chosen = [&info](const std::string& metric) {
    return measures_of(read("evaluate: {metric: \"" + metric + "\"}"), info)
      .metric;
  };
  const auto plain = chosen("average_precision");
  CATCH_CHECK(plain.which == evaluation_metric::average_precision);
  CATCH_CHECK_FALSE(plain.of);
  const auto fraud = chosen("average_precision:fraud");
  CATCH_CHECK(fraud.which == evaluation_metric::average_precision);
  CATCH_CHECK(fraud.of == 1);
  CATCH_CHECK(fraud.name == "average_precision:fraud");
  const auto rate = chosen("recall_at_fpr@0.01:fraud");
  CATCH_CHECK(rate.which == evaluation_metric::recall_at_fpr);
  CATCH_CHECK(rate.at == 0.01);
  CATCH_CHECK(rate.of == 1);
  CATCH_CHECK(chosen("precision_at_k@100:sound").at == 100);
  CATCH_CHECK(chosen("precision_at_k@100:sound").of == 0);
  // As results call it, where no dataset is at hand.
  const auto called = metric_called("f1:a:b");
  CATCH_REQUIRE(called);
  CATCH_CHECK(called->which == evaluation_metric::f1);
  CATCH_CHECK(called->name == "f1:a:b");
  CATCH_CHECK(metric_called("loss")->is_loss());
  CATCH_CHECK(called->has_accuracy());
  CATCH_CHECK_FALSE(metric_called("mae")->has_accuracy());
  const auto hits = metric_called("hits@5");
  CATCH_REQUIRE(hits);
  CATCH_CHECK(hits->at == 5);
  CATCH_CHECK(hits->form == outcome_form::ranks);
  CATCH_CHECK_FALSE(hits->is_loss());
  CATCH_CHECK(metric_called("mean_rank")->is_loss());
  for (const auto& [name, which] :
       {std::pair{"recall@20", evaluation_metric::recall_at},
        std::pair{"precision@20", evaluation_metric::precision_at},
        std::pair{"ndcg@20", evaluation_metric::ndcg}}) {
    const auto of_groups = metric_called(name);
    CATCH_REQUIRE(of_groups);
    CATCH_CHECK(of_groups->which == which);
    CATCH_CHECK(of_groups->at == 20);
    CATCH_CHECK(of_groups->name == name);
    CATCH_CHECK(of_groups->form == outcome_form::ranks);
    CATCH_CHECK_FALSE(of_groups->is_loss());
  }
  CATCH_CHECK(metric_called("recall:fraud")->which
              == evaluation_metric::recall);
  CATCH_CHECK_FALSE(metric_called("f2"));
}

CATCH_TEST_CASE("metrics that are none, or of no class, are refused",
                "[definition][metric_choice]") {
  for (const auto& [metric, said] :
       std::vector<std::pair<const char*, const char*>>{
         {"f1", "needs a class behind `:`, as in f1:fraud"},
         {"f1:", "needs a class behind `:`"},
         {"f1_macro:fraud", "f1_macro is over all classes"},
         {"f1@3:fraud", "f1 takes no `@`"},
         {"recall_at_fpr:fraud", "needs a false-positive rate"},
         {"recall_at_fpr@1:fraud", "needs a false-positive rate"},
         {"precision_at_k@0:fraud", "needs a whole number of seeds"},
         {"precision_at_k@2.5:fraud", "needs a whole number of seeds"},
         {"hits", "hits needs a whole number of ranks from 1 on behind `@`, as "
                  "in hits@10"},
         {"hits@0", "needs a whole number of ranks"},
         {"hits@1.5", "needs a whole number of ranks"},
         {"hits@10:fraud", "hits is of links, which have no classes"},
         {"mrr@3", "mrr takes no `@`"},
         {"ndcg", "ndcg needs a whole number of ranks from 1 on behind `@`"},
         {"recall@0", "recall needs a whole number of ranks"},
         {"precision@0.5", "precision needs a whole number of ranks"},
         {"recall@3:fraud", "recall is of links, which have no classes"},
         {"recall@3", "which `task` names, as recall, precision and ndcg"},
         {"recall", "`recall` needs a class behind `:`"},
         {"mean_rank:fraud", "mean_rank is of links"}}) {
    CATCH_INFO(metric);
    const auto found =
      problems_of(fmt::format("evaluate: {{metric: \"{}\"}}", metric));
    CATCH_REQUIRE_FALSE(found.empty());
    CATCH_CHECK_THAT(found[0], contains(said));
  }
  CATCH_CHECK(problems_of("evaluate: {metric: \"f1:frad\"}")
              == texts{"`evaluate.metric`: `frad` is no class; the classes are "
                       "`sound`, `fraud`; did you mean `fraud`?"});
  auto nameless = payments();
  nameless.node_types[0].class_names.clear();
  CATCH_CHECK(problems_of("evaluate: {metric: \"f1:1\"}", nameless).empty());
  CATCH_CHECK(problems_of("evaluate: {metric: \"f1:2\"}", nameless)
              == texts{"`evaluate.metric`: `2` is no class; classes have no "
                       "names; write a number from 0 to 1"});
  // Names that are numbers come before the numbers of classes.
  nameless.node_types[0].class_names = {"1", "0"};
  CATCH_CHECK(value_of(class_named(nameless.node_types[0], "0")) == 1);
}

CATCH_TEST_CASE("a threshold is given, or tuned by a metric of its class",
                "[definition][metric_choice]") {
  const auto info = payments();
  const auto chosen = [&info](const std::string& threshold) {
    return measures_of(read("evaluate: {threshold: \"" + threshold + "\"}"),
                       info)
      .threshold;
  };
  CATCH_CHECK_FALSE(chosen(""));
  CATCH_CHECK(chosen("0.3:fraud")->fixed == 0.3);
  CATCH_CHECK(chosen("0.3:fraud")->of == 1);
  CATCH_CHECK_FALSE(chosen("f1:fraud")->fixed);
  CATCH_CHECK(chosen("recall_at_fpr@0.05:fraud")->by.at == 0.05);
  CATCH_CHECK(
    read("evaluate: {threshold: \"f1:fraud\"}").evaluate.brings_scores());
  for (const auto* wrong :
       {"f1", "0.3", "1.5:fraud", "loss:fraud", "0.3@2:fraud", "f1:"}) {
    CATCH_INFO(wrong);
    CATCH_CHECK_FALSE(
      problems_of(fmt::format("evaluate: {{threshold: \"{}\"}}", wrong))
        .empty());
  }
  CATCH_CHECK_THAT(problems_of("evaluate: {threshold: \"f1:x\"}").at(0),
                   contains("the classes are `sound`, `fraud`"));
  auto untested = info;
  untested.node_types[0].split_counts[1] = 0;
  CATCH_CHECK(problems_of("evaluate: {threshold: \"f1:fraud\"}", untested)
              == texts{"`evaluate.threshold` needs validation seeds, and "
                       "`payments` has none; leave it out"});
  CATCH_CHECK(
    problems_of("evaluate: {threshold: \"0.3:fraud\"}", untested).empty());
}

CATCH_TEST_CASE("classes are weighed by name", "[definition][metric_choice]") {
  const auto info = payments();
  const auto& target = info.node_types[0];
  const auto def = read("train: {class_weights: {fraud: 10}}");
  CATCH_CHECK(value_of(class_weights_of(def.train, target))
              == std::vector<double>{1, 10});
  CATCH_CHECK(read("train: {class_weights: [1, 2]}").train.class_weights
              == std::vector<double>{1, 2});
  CATCH_CHECK(problems_of("train: {class_weights: {fraud: 10}}").empty());
  CATCH_CHECK(problems_of("train: {class_weights: {frod: 10, x: 1}}").size()
              == 2);
  CATCH_CHECK(problems_of("train: {class_weights: {fraud: -1}}")
              == texts{"`train.class_weights.fraud` is `-1`, must be a number "
                       "from 0 to 1000000000"});
  CATCH_CHECK(problems_of("train: {class_weights: {fraud: 0, sound: 0}}").size()
              == 1);
  CATCH_CHECK(problems_of("train: {class_weights: {fraud: 2}, balance_classes: "
                          "true}")
                .size()
              == 1);
  CATCH_CHECK(
    problems_of("train: {focal_gamma: 2, label_smoothing: 0.1}").size() == 1);
  // What comes later takes the place of what came before.
  const std::vector<std::string> over{"train.class_weights=[3, 4]"};
  const auto list = parse_definition(
    "{dataset: payments, train: {class_weights: {fraud: 10}}}", "x.yaml", over);
  CATCH_CHECK(list.problems.empty());
  CATCH_CHECK(list.value.train.named_class_weights.empty());
  CATCH_CHECK(list.value.train.class_weights == std::vector<double>{3, 4});
  const std::vector<std::string> back{"train.class_weights={fraud: 7}"};
  const auto map = parse_definition(
    "{dataset: payments, train: {class_weights: [3, 4]}}", "x.yaml", back);
  CATCH_CHECK(map.value.train.class_weights.empty());
  CATCH_CHECK(map.value.train.named_class_weights.at("fraud") == 7);
}

CATCH_TEST_CASE("a metric that is a mean over both classes says so",
                "[definition][metric_choice]") {
  const auto info = payments();
  const auto note = [&info](const char* metric) {
    return note_on_metric(
             read(fmt::format("evaluate: {{metric: \"{}\"}}", metric)), info)
      .value_or("");
  };
  CATCH_CHECK(note("average_precision")
              == "`evaluate.metric: average_precision` is the mean over both "
                 "classes; `average_precision:sound` and "
                 "`average_precision:fraud` are those of one");
  CATCH_CHECK_THAT(note("f1_macro"),
                   contains("`f1:sound` and `f1:fraud` are those of one"));
  CATCH_CHECK(note("average_precision:fraud").empty());
  CATCH_CHECK(note("roc_auc").empty()); // That of both is the same.
  CATCH_CHECK(note("accuracy").empty());
}

CATCH_TEST_CASE("what belongs to a word is written so that it reads back",
                "[definition][metric_choice]") {
  const auto def = read("evaluate: {metric: \"f1:a b: #c\", threshold: "
                        "\"0.3:x\"}, train: {class_weights: {\"a: b\": 2}}");
  auto source = parse_definition(definition_yaml(def), "y.yaml", {}, {});
  CATCH_CHECK(source.problems.empty());
  CATCH_CHECK(source.value.evaluate == def.evaluate);
  CATCH_CHECK(source.value.train == def.train);
}

} // namespace graphmill::test
