#include "tests/pipelines/definition/parsed_definition.hpp"

#include <string>
#include <vector>

// Fields that say how a model learns, and words in the place of numbers.

namespace graphmill::test {

CATCH_TEST_CASE("how a model learns by default", "[definition]") {
  const auto def = valid("dataset: d");
  definition::model_section model;
  CATCH_CHECK(def.model.embedding_scale == 0.01);
  CATCH_CHECK(def.model.embedding_scale == model.embedding_scale);
  CATCH_CHECK(def.model.output_heads == 0);
  CATCH_CHECK(def.model.attention_dropout == 0);
  CATCH_CHECK(def.model.message_dropout == 0);
  CATCH_CHECK(def.optimizer.decay_layers == decayed_layers::all);
  CATCH_CHECK(def.optimizer.decay_biases);
  CATCH_CHECK(def.optimizer.embedding_decay == 0);
  CATCH_CHECK(def.train.min_epochs == 0);
  CATCH_CHECK(def.train.class_weights.empty());
}

CATCH_TEST_CASE("the word all stands for numbers", "[definition]") {
  const auto def = valid("{dataset: d, sampler: {fanouts: [all, 5, all]}, "
                         "train: {batch_size: all}, evaluate: {batch_size: "
                         "all}}");
  CATCH_CHECK(def.sampler.fanouts == std::vector{-1, 5, -1});
  CATCH_CHECK(def.train.batch_size == 4294967295u);
  CATCH_CHECK(def.evaluate.batch_size == 4294967295u);
  CATCH_CHECK(valid(definition_yaml(def)) == def);
  CATCH_CHECK(definition_yaml(def).find("batch_size: all")
              != std::string::npos);
  // Alone, it takes the place of all that would be there without it.
  CATCH_CHECK(valid("{dataset: d, sampler: {fanouts: all}}").sampler.fanouts
              == std::vector{-1, -1});
  CATCH_CHECK(valid("{dataset: d, sampler: {fanouts: [4, 5, 6]}}",
                    {"sampler.fanouts=all"})
                .sampler.fanouts
              == std::vector{-1, -1, -1});
  const auto edges = valid("{dataset: d, sampler: {fanouts: {default: all, "
                           "e: [all, 3]}}}");
  CATCH_CHECK(edges.sampler.fanouts == std::vector{-1, -1});
  CATCH_CHECK(edges.sampler.edge_fanouts.at("e") == std::vector{-1, 3});
  CATCH_CHECK(problems_in("{dataset: d, train: {batch_size: 16777217}}")
              == texts{"x.yaml:1:34: `train.batch_size` is `16777217`, must "
                       "be a whole number from 1 to 16777216 seeds, or all"});
  CATCH_CHECK(problems_in("{dataset: d, train: {epochs: all}}").size() == 1);
}

CATCH_TEST_CASE("min_epochs is for patience", "[definition]") {
  CATCH_CHECK(problems_in("{dataset: d, train: {min_epochs: 3}}").size() == 1);
  CATCH_CHECK(
    problems_in("{dataset: d, train: {min_epochs: 3, patience: 1}}").empty());
}

CATCH_TEST_CASE("settings that exclude each other or have no effect",
                "[definition]") {
  CATCH_CHECK(problems_in("{dataset: d, model: {attention_dropout: 0.5}}")
              == texts{"x.yaml:1:41: `model.attention_dropout` is for kinds "
                       "that attend, and sage does not; leave it out"});
  CATCH_CHECK(problems_in("{dataset: d, model: {heads: 8}}")
              == texts{"x.yaml:1:29: `model.heads` is for kinds that attend, "
                       "and sage does not; leave it out"});
  // A decay of 0 is one of the values that are tried.
  CATCH_CHECK(problems_in("{dataset: d, optimizer: {decay_biases: false, "
                          "decay_layers: first, weight_decay: 0}}")
                .empty());
  CATCH_CHECK(problems_in("{dataset: d, optimizer: {step_epochs: 5, "
                          "step_factor: 0.25}}")
              == texts{"x.yaml:1:39: `optimizer.step_epochs` is for "
                       "`schedule: step` alone; leave it out",
                       "x.yaml:1:55: `optimizer.step_factor` is for "
                       "`schedule: step` alone; leave it out"});
  CATCH_CHECK(problems_in("{dataset: d, optimizer: {schedule: step, "
                          "step_epochs: 5, step_factor: 0.25}}")
                .empty());
  const std::string nothing = "{dataset: d, sampler: {fanouts: [0, 0]}";
  CATCH_CHECK(problems_in(nothing + "}")
              == texts{"x.yaml:1:33: `sampler.fanouts` are 0 in every hop, so "
                       "that sage would see no neighbour; sample some, or "
                       "use `kind: mlp`"});
  CATCH_CHECK(problems_in(nothing + ", model: {kind: mlp}}").empty());
  CATCH_CHECK(problems_in("{dataset: d, sampler: {fanouts: {default: [0, 0], "
                          "e: [0, 2]}}, model: {kind: rgcn}}")
                .empty());
  // What is written into run folders has every field.
  CATCH_CHECK(problems_in(definition_yaml(valid("dataset: d"))).empty());
  CATCH_CHECK(problems_in("{dataset: d, model: {kind: rgat, "
                          "output_heads: 2, attention_dropout: 0.5}}")
                .empty());
  for (const std::string kind : {"gat", "gatv2"})
    CATCH_CHECK(problems_in("{dataset: d, model: {message_dropout: 0.5, kind: "
                            + kind + "}}")
                  .empty());
  for (const std::string kind : {"rgat", "hgt", "sage"})
    CATCH_CHECK(problems_in("{dataset: d, model: {message_dropout: 0.5, kind: "
                            + kind + "}}")
                == texts{"x.yaml:1:39: `model.message_dropout` is for gat and "
                         "gatv2, and not for "
                         + kind + "; leave it out"});
  CATCH_CHECK(problems_in("{dataset: d, model: {kind: gat, "
                          "message_dropout: 1}}")
              == texts{"x.yaml:1:50: `model.message_dropout` is `1`, must be "
                       "a number from 0 to 0.99"});
  CATCH_CHECK(
    problems_in("{dataset: d, model: {kind: rgat, attention_residual: true}}")
    == texts{"x.yaml:1:54: `model.attention_residual` adds each node's own "
             "row times a matrix, as rgat always does; leave it out"});
  CATCH_CHECK(problems_in("{dataset: d, model: {kind: hgt, heads: 8, "
                          "attention_dropout: 0.5}}")
                .empty());
  CATCH_CHECK(
    problems_in("{dataset: d, model: {kind: hgt, output_heads: 2}}")
    == texts{"x.yaml:1:47: `model.output_heads` is for kinds whose last layer "
             "averages its heads, and hgt does not; leave it out"});
  CATCH_CHECK(
    problems_in("{dataset: d, model: {kind: hgt, attention_residual: true}}")
    == texts{"x.yaml:1:53: `model.attention_residual` adds each node's own "
             "row, as hgt does by a gate that it learns; leave it out"});
  CATCH_CHECK(
    problems_in("{dataset: d, model: {kind: hgt, hidden: 10, heads: 4}}")
    == texts{"x.yaml:1:52: `model.hidden` is 10, which does not divide among 4 "
             "heads of hgt"});
  CATCH_CHECK(
    problems_in(
      "{dataset: d, model: {kind: gat, output_heads: 2, jumping: true}}")
    == texts{"x.yaml:1:47: `model.output_heads` is for the layer that gives "
             "the logits, and with `model.jumping` none does; leave one of "
             "them out"});
  CATCH_CHECK(problems_in("{dataset: d, optimizer: {embedding_decay: 101}}")
              == texts{"x.yaml:1:43: `optimizer.embedding_decay` is 101, may "
                       "be 100 at most, one over the learning rate"});
  CATCH_CHECK(
    problems_in("{dataset: d, train: {class_weights: [1, 2], "
                "balance_classes: true}}")
    == texts{"x.yaml:1:37: `train.class_weights` and `train.balance_classes` "
             "exclude each other; leave one of them out"});
  CATCH_CHECK(problems_in("{dataset: d, train: {class_weights: [0, 0]}}").size()
              == 1);
  CATCH_CHECK(problems_in("{dataset: d, train: {class_weights: [1, -1]}}")
              == texts{"x.yaml:1:41: `train.class_weights` has the element "
                       "`-1`, must be a number from 0 to 1000000000"});
  CATCH_CHECK(problems_in("{dataset: d, train: {class_weights: 3}}")
              == texts{"x.yaml:1:37: `train.class_weights` is `3`, must be a "
                       "list of numbers, as in [1, 0.5], or a map of "
                       "numbers"});
}

CATCH_TEST_CASE("relations are put together as a definition says",
                "[definition]") {
  CATCH_CHECK(valid("{dataset: d, model: {kind: hetero_sage}}").model.relations
              == relation_use::sum);
  const auto mean = valid("{dataset: d, model: {kind: rgcn, relations: mean}}");
  CATCH_CHECK(mean.model.relations == relation_use::mean);
  CATCH_CHECK(valid(definition_yaml(mean)) == mean);
  CATCH_CHECK(problems_in("{dataset: d, model: {relations: mean}}")
              == texts{"x.yaml:1:33: `model.relations` is for rgcn and "
                       "hetero_sage, and not for sage; leave it out"});
}

CATCH_TEST_CASE("what an old run has recorded means what it computed",
                "[definition]") {
  // As a run writes it: with all fields.
  auto record =
    definition_yaml(valid("{dataset: d, model: {kind: hetero_sage}}"));
  const std::string field = "  relations: sum\n";
  const auto at = record.find(field);
  CATCH_REQUIRE(at != record.npos);
  CATCH_CHECK(parse_record(record).value.model.relations == relation_use::sum);
  record.erase(at, field.size());
  const auto old = parse_record(record);
  CATCH_CHECK(old.problems.empty());
  CATCH_CHECK(old.value.model.relations == relation_use::mean_of_all);
  CATCH_CHECK(parse_record(definition_yaml(old.value)).value == old.value);
  // A run has recorded each of its fields, however few these are.
  CATCH_CHECK(parse_record("{dataset: d, model: {kind: hetero_sage}}")
                .value.model.relations
              == relation_use::mean_of_all);
  CATCH_CHECK(parse_record("dataset: d").value.model.relations
              == relation_use::sum);
  // A copy may be meant as either, and is no record.
  CATCH_CHECK(problems_in(record)
              == texts{"x.yaml:26:9: this looks like the record of a run that "
                       "is older than `model.relations`: add `relations: "
                       "mean_of_all` to train as that run did, or `relations: "
                       "sum` to train as new runs do"});
  CATCH_CHECK(valid(record, {"model.relations=mean"}).model.relations
              == relation_use::mean);
}

CATCH_TEST_CASE("patience counts averages, unless a file says otherwise",
                "[definition]") {
  const auto window = [](const std::string& train) {
    return valid("{dataset: d, train: {" + train + "}}").train.patience_window;
  };
  CATCH_CHECK(window("patience: 5") == 10);
  CATCH_CHECK(window("patience: 5, patience_window: 1") == 1);
  CATCH_CHECK(window("patience: 0") == 1);
  CATCH_CHECK(window("epochs: 5") == 1);
  // Runs that are older than the field have averaged nothing.
  CATCH_CHECK(parse_record("{dataset: d, train: {patience: 5}}")
                .value.train.patience_window
              == 1);
}

CATCH_TEST_CASE("a window of patience is for patience", "[definition]") {
  CATCH_CHECK(valid("{dataset: d, train: {patience: 5, patience_window: 3}}")
                .train.patience_window
              == 3);
  CATCH_CHECK(problems_in("{dataset: d, train: {patience_window: 3}}")
              == texts{"x.yaml:1:39: `train.patience_window` averages what "
                       "`train.patience` counts, which is 0; give that, too, "
                       "or leave it out"});
}

} // namespace graphmill::test
