#include "pipelines/definition/model_traits.hpp"
#include "tests/pipelines/definition/parsed_definition.hpp"

namespace graphmill::test {

namespace {

/// "sage, gcn, ..."
std::string kinds_text() {
  std::string out;
  for (const auto& traits : model_kinds)
    out += (out.empty() ? "" : ", ") + std::string{traits.name};
  return out;
}

} // namespace

CATCH_TEST_CASE("what is left out has its default", "[definition]") {
  const auto def = valid("dataset: d");
  CATCH_CHECK(def.name == "x");
  CATCH_CHECK(def.dataset == "d");
  CATCH_CHECK(def.seed == 1);
  CATCH_CHECK(def.sampler.fanouts == std::vector{10, 10});
  CATCH_CHECK(def.sampler.edge_fanouts.empty());
  CATCH_CHECK(def.sampler.replicas == 1);
  CATCH_CHECK(def.fetch.threads == 1);
  CATCH_CHECK(def.fetch.verify == 0);
  CATCH_CHECK(def.trainer.step_timeout == 1800);
  CATCH_CHECK_FALSE(def.trainer.is_elastic());
  CATCH_CHECK(def.model.kind == model_kind::sage);
  CATCH_CHECK(def.model.hidden == 256);
  CATCH_CHECK(def.model.heads == 4);
  CATCH_CHECK(def.model.dropout == 0.5);
  CATCH_CHECK(def.model.embedding == 64);
  CATCH_CHECK(def.model.weights.empty());
  CATCH_CHECK_FALSE((def.model.residual || def.model.jumping));
  CATCH_CHECK(def.model.edge_weights == edge_weight_use::use);
  CATCH_CHECK(def.trainer.threads == 0);
  CATCH_CHECK(def.trainer.device == "cpu");
  CATCH_CHECK(def.optimizer.kind == optimizer_kind::adam);
  CATCH_CHECK(def.optimizer.learning_rate == 0.01);
  CATCH_CHECK(def.train.batch_size == 1024);
  CATCH_CHECK(def.train.seed_order == seed_order::local);
  CATCH_CHECK(def.train.loss == value_loss::mse);
  CATCH_CHECK(def.evaluate.neighbours == neighbour_use::sampled);
  CATCH_CHECK(def.evaluate.every == 1);
  CATCH_CHECK(def.evaluate.metric == evaluation_metric::accuracy);
  CATCH_CHECK_FALSE(def.evaluate.brings_scores());
  CATCH_CHECK_FALSE(def.evaluate.predict);
  CATCH_CHECK(def.evaluate.only == measured_split::none);
  CATCH_CHECK_FALSE(trains_nothing(def));
  CATCH_CHECK(def.budget.bytes == 1ull << 30);
  CATCH_CHECK(def.budget.batches == 4);
  CATCH_CHECK(def.faults == definition::faults_section{});
  CATCH_CHECK(def.checkpoint == definition::checkpoint_section{0, 0, 2});
  CATCH_CHECK(def.recovery == definition::recovery_section{300, 5});
  CATCH_CHECK(def.labels.empty());
}

CATCH_TEST_CASE("every field is read", "[definition]") {
  const auto def = valid(R"(
name: run-1
dataset: d
seed: 18446744073709551615
sampler:
  fanouts:
    default: [5, -1]
    a__b__c: [0, 7]
  replace: true
  replicas: 2
  threads: 3
fetch: {replicas: 4, threads: 5, precision: float16, cache: 64 MiB, cache_order: degree,
        verify: 0.01}
model: {kind: gat, hidden: 12, heads: 6, dropout: 0.25, embedding: 8,
        layer_norm: true, weights: a/w.safetensors, residual: true,
        jumping: false, embedding_scale: 0.5, output_heads: 3,
        attention_dropout: 0.375, attention_residual: true,
        message_dropout: 0.4375, edge_weights: ignore}
trainer: {replicas: {min: 6, max: 7}, threads: 9, device: "cuda:1",
          step_timeout: 60, sizes: [0/0:7, 3/17:6]}
optimizer:
  kind: sgd
  learning_rate: 1e-3
  weight_decay: 0.125
  momentum: 0.5
  schedule: step
  warmup_epochs: 11
  step_epochs: 12
  step_factor: 0.75
  decay_layers: first
  decay_biases: false
  embedding_decay: 26
  clip_norm: 27.5
train: {batch_size: 13, epochs: 14, max_steps: 15, seed_order: global,
        patience: 16, record_steps: true, min_epochs: 28,
        label_smoothing: 0, balance_classes: false,
        class_weights: [1, 0.5], loss: huber, patience_window: 29,
        focal_gamma: 1.5}
evaluate: {neighbours: all, batch_size: 17, every: 18,
           metric: recall_at_fpr@0.01:a, scores: true, threshold: f1:a}
budget: {bytes: 1.5 GiB, batches: 19}
faults: {reply_delay_ms: 20, trainer_delay_ms: 21, crash_every: 22,
         sampling_service_delay_ms: 28, sampler_delay_ms: 29,
         feature_service_delay_ms: 30, fetcher_delay_ms: 31,
         batcher_delay_ms: 32, exchange_delay_ms: 33, daemons: [b]}
placement: {trainers: [b, "a:1"], samplers: [3], owners: 5,
            daemons: [3, b, "a:1"]}
checkpoint: {every_steps: 23, every_minutes: 24, keep: 25}
recovery: {wait: 26, attempts: 27}
labels: genre
)");
  CATCH_CHECK(def.name == "run-1");
  CATCH_CHECK(def.seed == ~0ull);
  CATCH_CHECK(def.sampler.fanouts == std::vector{5, -1});
  CATCH_CHECK(def.sampler.edge_fanouts
              == decltype(def.sampler.edge_fanouts){{"a__b__c", {0, 7}}});
  CATCH_CHECK(def.sampler.replace);
  CATCH_CHECK(def.sampler.replicas == 2);
  CATCH_CHECK(def.sampler.threads == 3);
  CATCH_CHECK(def.fetch
              == definition::fetch_section{4, 5, feature_precision::float16,
                                           64u << 20, cache_order::degree,
                                           0.01});
  CATCH_CHECK(def.model
              == definition::model_section{
                model_kind::gat, 12, 6, 0.25, 8, true, "a/w.safetensors", true,
                false, 0.5, 3, 0.375, true, 0.4375, edge_weight_use::ignore});
  CATCH_CHECK(
    def.trainer
    == definition::trainer_section{7, 9, "cuda:1", 60, 6, {"0/0:7", "3/17:6"}});
  CATCH_CHECK(def.optimizer
              == definition::optimizer_section{
                optimizer_kind::sgd, 1e-3, 0.125, 0.5, schedule_kind::step, 11,
                12, 0.75, decayed_layers::first, false, 26, 27.5});
  CATCH_CHECK(def.train
              == definition::train_section{13,
                                           14,
                                           15,
                                           seed_order::global,
                                           16,
                                           true,
                                           28,
                                           0,
                                           false,
                                           {1, 0.5},
                                           value_loss::huber,
                                           29,
                                           {},
                                           1.5});
  CATCH_CHECK(def.evaluate
              == definition::evaluate_section{
                neighbour_use::all, 17, 18, evaluation_metric::recall_at_fpr,
                true, false, measured_split::none, "@0.01:a", "f1:a"});
  CATCH_CHECK(def.budget == definition::budget_section{3ull << 29, 19});
  CATCH_CHECK(
    def.faults
    == definition::faults_section{20, 21, 22, 28, 29, 30, 31, 32, 33, {"b"}});
  CATCH_CHECK(def.placement
              == definition::placement_section{
                {"b", "a:1"}, {"3"}, 5, {"3", "b", "a:1"}});
  CATCH_CHECK(def.checkpoint == definition::checkpoint_section{23, 24, 25});
  CATCH_CHECK(def.recovery == definition::recovery_section{26, 27});
  CATCH_CHECK(def.labels == "genre");

  // No layer of these gives the logits, which `output_heads` are for.
  CATCH_CHECK(
    valid("{dataset: d, model: {kind: gat, jumping: true}}").model.jumping);

  CATCH_SECTION("and written so that it reads back") {
    const auto again = valid(definition_yaml(def));
    CATCH_CHECK(again == def);
  }
}

CATCH_TEST_CASE("fields of the sampler say how it draws", "[definition]") {
  const auto kind = [](const std::string& fields) {
    const auto def = valid("dataset: d\nsampler: {" + fields + "}");
    CATCH_CHECK(valid(definition_yaml(def)) == def);
    return def.sampler.kind();
  };
  CATCH_CHECK(kind("") == draw_kind::without_replacement);
  CATCH_CHECK(kind("replace: true") == draw_kind::with_replacement);
  CATCH_CHECK(kind("method: weighted")
              == draw_kind::weighted_without_replacement);
  CATCH_CHECK(kind("method: weighted, replace: true")
              == draw_kind::weighted_with_replacement);
  CATCH_CHECK(kind("method: labor") == draw_kind::labor);
  CATCH_CHECK(
    problems_in("dataset: d\n"
                "sampler: {method: labor, replace: true}")
    == std::vector<std::string>{
      "x.yaml:2:35: `sampler.method: labor` draws without replacement; "
      "leave out `sampler.replace`"});
}

CATCH_TEST_CASE("fields of the sampler say how it walks", "[definition]") {
  const auto bare = valid("dataset: d").sampler;
  CATCH_CHECK(bare.walks == 20);
  CATCH_CHECK(bare.walk_length == 2);
  CATCH_CHECK(bare.restart == 0.5);
  const auto def = valid("dataset: d\nsampler: {method: pinsage, walks: 50, "
                         "walk_length: 6, restart: 0.25}");
  CATCH_CHECK(def.sampler.method == sampling_method::pinsage);
  CATCH_CHECK(def.sampler.walks == 50);
  CATCH_CHECK(def.sampler.walk_length == 6);
  CATCH_CHECK(def.sampler.restart == 0.25);
  CATCH_CHECK(valid(definition_yaml(def)) == def);
  CATCH_CHECK(valid("dataset: d\nsampler: {method: saint, walk_length: 4, "
                    "fanouts: [all, all]}")
                .sampler.method
              == sampling_method::saint);
  CATCH_CHECK(valid("dataset: d\nsampler: {method: hgt, fanouts: {default: [9, "
                    "8], paper: [0, 3]}}")
                .sampler.method
              == sampling_method::hgt);
  const auto refused = [](const std::string& rest, const std::string& said) {
    CATCH_INFO(rest);
    const auto found = problems_in("{dataset: d, " + rest + "}");
    CATCH_REQUIRE(found.size() == 1);
    CATCH_CHECK_THAT(found[0], contains(said));
  };
  for (const auto* field : {"walks: 9", "restart: 0.1"})
    refused("sampler: {method: saint, fanouts: [all], " + std::string{field}
              + "}",
            "is for `sampler.method: pinsage`; leave it out");
  refused("sampler: {walk_length: 3}", "pinsage and saint; leave it out");
  for (const std::string method : {"pinsage", "hgt"}) {
    refused("sampler: {replace: true, method: " + method + "}",
            "settles what is drawn; leave out `sampler.replace`");
    refused("sampler: {subgraph: bidirectional, method: " + method + "}",
            "settles which edges a batch has; leave out `sampler.subgraph`");
    refused("fetch: {cache: 1 MiB}, sampler: {method: " + method + "}",
            "set fetch.cache_order: degree");
  }
  valid("{dataset: d, fetch: {cache: 1 MiB, cache_order: degree}, "
        "sampler: {method: hgt, subgraph: induced}}");
  refused("sampler: {method: pinsage}, evaluate: {neighbours: all}",
          "does not learn from; leave out one of them");
  refused("sampler: {method: hgt, fanouts: [9, all]}", "say how many");
  refused("sampler: {method: saint}",
          "make each of `sampler.fanouts` all or 0");
  refused("sampler: {method: saint, fanouts: {default: [all], a__b__c: [3]}}",
          "make each of `sampler.fanouts` all or 0");
}

CATCH_TEST_CASE("a field of the sampler says which edges batches have",
                "[definition]") {
  CATCH_CHECK(valid("dataset: d").sampler.subgraph
              == subgraph_kind::directional);
  for (const auto* word : {"directional", "bidirectional", "induced"}) {
    const auto def =
      valid(std::string{"dataset: d\nsampler: {subgraph: "} + word + "}");
    CATCH_CHECK(valid(definition_yaml(def)) == def);
  }
  CATCH_CHECK(
    problems_in("dataset: d\n"
                "sampler: {time: strict, disjoint: true, subgraph: induced}")
    == std::vector<std::string>{
      "x.yaml:2:51: `sampler.subgraph: induced` takes all edges among the "
      "nodes "
      "of a batch, and with `sampler.disjoint` rows share none; leave out one "
      "of them"});
}

CATCH_TEST_CASE("fields about features of edges are read", "[definition]") {
  const auto def = valid("dataset: d\nmodel: {edge_features: ignore}\n"
                         "task: t\ndecoder: {kind: mlp, edge_features: true}");
  CATCH_CHECK(def.model.edge_features == edge_feature_use::ignore);
  CATCH_CHECK(def.decoder.edge_features);
  CATCH_CHECK(valid(definition_yaml(def)) == def);
  const auto plain = valid("dataset: d");
  CATCH_CHECK(plain.model.edge_features == edge_feature_use::use);
  CATCH_CHECK_FALSE(plain.decoder.edge_features);
}

CATCH_TEST_CASE("fields about ages of edges are read", "[definition]") {
  const auto def =
    valid("dataset: d\nsampler: {time: inclusive}\n"
          "model: {edge_ages: cosine, age_unit: 86400, age_width: 5}");
  CATCH_CHECK(def.model.edge_ages == edge_age_use::cosine);
  CATCH_CHECK(def.model.age_unit == 86400);
  CATCH_CHECK(def.model.age_width == 5);
  CATCH_CHECK(valid(definition_yaml(def)) == def);
  const auto plain = valid("dataset: d");
  CATCH_CHECK(plain.model.edge_ages == edge_age_use::none);
  CATCH_CHECK(plain.model.age_unit == 1);
  CATCH_CHECK(plain.model.age_width == 16);
  CATCH_CHECK(
    problems_in("dataset: d\nmodel: {edge_ages: log, age_width: 3}")
    == std::vector<std::string>{
      "x.yaml:2:36: `model.age_width` is for `edge_ages: cosine` alone; leave "
      "it out",
      "x.yaml:2:20: `model.edge_ages` needs the time of each row; set "
      "`sampler.time: strict` or `inclusive`"});
  CATCH_CHECK(problems_in("dataset: d\nmodel: {age_unit: 3}")
              == std::vector<std::string>{
                "x.yaml:2:19: `model.age_unit` is for `edge_ages: log` and "
                "`edge_ages: cosine`; leave it out"});
  CATCH_CHECK(
    problems_in("dataset: d\nsampler: {time: strict}\n"
                "model: {kind: sage_max, edge_ages: log}")
    == std::vector<std::string>{
      "x.yaml:3:36: `model.edge_ages` is for kinds that read features of "
      "edges, and sage_max does not; leave it out"});
}

CATCH_TEST_CASE("every field about times is read", "[definition]") {
  const auto def = valid(R"(
dataset: d
task: buys
sampler: {time: strict, latest: true, window: 86400, disjoint: true}
train: {shuffle: false}
evaluate: {visible: past}
)");
  CATCH_CHECK(def.sampler.time == time_use::strict);
  CATCH_CHECK(def.sampler.is_timed());
  CATCH_CHECK(def.sampler.latest);
  CATCH_CHECK(def.sampler.window == 86400);
  CATCH_CHECK(def.sampler.disjoint);
  CATCH_CHECK_FALSE(def.train.shuffle);
  CATCH_CHECK(def.evaluate.visible == visible_edges::past);
  CATCH_CHECK(valid(definition_yaml(def)) == def);
  const auto plain = valid("dataset: d");
  CATCH_CHECK(plain.sampler.time == time_use::none);
  CATCH_CHECK_FALSE(plain.sampler.is_timed());
  CATCH_CHECK(plain.train.shuffle);
}

CATCH_TEST_CASE("every field of tasks of edges is read", "[definition]") {
  const auto def = valid(R"(
dataset: d
task: buys
model: {kind: gcn, hidden: 12, width: 6}
decoder: {kind: mlp, hidden: 5}
negatives: {kind: joint, count: 7, corrupt: both, weight: degree}
train: {link_loss: self_adversarial, margin: 6.5, temperature: 0.5}
evaluate: {metric: hits@5, negatives: 9}
)");
  CATCH_CHECK(def.task == "buys");
  CATCH_CHECK(def.model.width == 6);
  CATCH_CHECK(def.decoder
              == definition::decoder_section{decoder_kind::mlp, 5, 1});
  CATCH_CHECK(def.negatives
              == definition::negatives_section{negative_kind::joint, 7,
                                               corrupted_end::both,
                                               negative_weight::degree});
  CATCH_CHECK(def.train.link_loss == link_loss::self_adversarial);
  CATCH_CHECK(def.train.margin == 6.5);
  CATCH_CHECK(def.train.temperature == 0.5);
  CATCH_CHECK(def.evaluate.metric == evaluation_metric::hits);
  CATCH_CHECK(def.evaluate.metric_detail == "@5");
  CATCH_CHECK(def.evaluate.negatives == 9);
  CATCH_CHECK(valid(definition_yaml(def)) == def);
  const auto all =
    valid("{dataset: d, task: t, evaluate: {metric: recall@20, negatives: "
          "all}}");
  CATCH_CHECK(all.evaluate.metric == evaluation_metric::recall);
  CATCH_CHECK(all.evaluate.metric_detail == "@20");
  CATCH_CHECK(all.evaluate.negatives == 4294967295);
  CATCH_CHECK(valid(definition_yaml(all)) == all);
  CATCH_CHECK(valid("{dataset: d, task: t, decoder: {kind: transe, norm: 2}}")
                .decoder.norm
              == 2);
  const auto bare = valid("dataset: d");
  CATCH_CHECK(bare.task.empty());
  CATCH_CHECK(bare.model.width == 0);
  CATCH_CHECK(bare.decoder == definition::decoder_section{});
  CATCH_CHECK(bare.negatives == definition::negatives_section{});
  CATCH_CHECK(bare.train.link_loss == link_loss::bce);
  CATCH_CHECK(bare.train.margin == 1);
  CATCH_CHECK(bare.train.temperature == 1);
  CATCH_CHECK(bare.evaluate.negatives == 100);
}

CATCH_TEST_CASE("ten mistakes are ten problems", "[definition]") {
  const auto got = problems_in(R"(dataset: d
smapler:
  replicas: 2
sampler:
  fanout: [5, 5]
  threads: 0
  fanouts: [5, many]
model:
  kind: sgae
  hidden: 12.5
  batch_size: 7
  dropout: 0.1
  dropout: 0.2
train: 30
budget:
  bytes: 2 Gib
)");
  CATCH_CHECK(
    got
    == texts{
      "x.yaml:2:1: `smapler` is not a field of a definition; did you mean "
      "`sampler`?",
      "x.yaml:5:3: `fanout` is not a field of `sampler`; did you mean "
      "`fanouts`?",
      "x.yaml:6:12: `sampler.threads` is `0`, must be a whole number from "
      "1 to 64 threads",
      "x.yaml:7:16: `sampler.fanouts` has the element `many`, must be a "
      "whole number from -1 to 1000000 in-edges per node, or all",
      "x.yaml:9:9: `model.kind` is `sgae`, must be one of " + kinds_text()
        + "; did you mean `sage`?",
      "x.yaml:10:11: `model.hidden` is `12.5`, must be a whole number from "
      "1 to 65536 values per node",
      "x.yaml:11:3: `batch_size` is not a field of `model`; it belongs to "
      "`train`",
      "x.yaml:13:3: `model.dropout` is given twice, first on line 12",
      "x.yaml:14:8: `train` is `30`, must be a map with some of the keys "
      "batch_size, epochs, max_steps, seed_order, patience, "
      "record_steps, min_epochs, label_smoothing, balance_classes, "
      "class_weights, loss, patience_window, focal_gamma, link_loss, "
      "margin, temperature, exclude, shuffle",
      "x.yaml:16:10: `budget.bytes` is `2 Gib`, must be a size from 1 to "
      "1125899906842624 bytes",
    });
}

CATCH_TEST_CASE("records of steps are for batches that fit into a message",
                "[definition]") {
  const auto of = [](const auto& seeds, bool record) {
    return problems_in(
      fmt::format("dataset: d\nevaluate: {{batch_size: {}}}\n"
                  "train: {{batch_size: 65536, record_steps: {}}}\n",
                  seeds, record));
  };
  CATCH_CHECK(of(65536, true).empty());
  CATCH_CHECK(of(65537, false).empty());
  const texts refused{"x.yaml:2:24: `evaluate.batch_size` is above 65536, "
                      "which is the most with `train.record_steps`"};
  CATCH_CHECK(of(65537, true) == refused);
  CATCH_CHECK(of("all", true) == refused);
}

CATCH_TEST_CASE(
  "predictions are of batches that fit into a message, by a fixed "
  "number of trainers",
  "[definition]") {
  const auto of = [](const auto& size, std::string_view trainers) {
    return problems_in(
      fmt::format("dataset: d\nevaluate: {{batch_size: {}, predict: true}}\n"
                  "trainer: {{{}}}\n",
                  size, trainers));
  };
  CATCH_CHECK(of(65536, "replicas: 3").empty());
  CATCH_CHECK(
    valid("{dataset: d, evaluate: {predict: true}}").evaluate.predict);
  const texts large{"x.yaml:2:24: `evaluate.batch_size` is above 65536, which "
                    "is the most with `evaluate.predict`: make it 65536; with "
                    "all neighbours the predictions are the same"};
  CATCH_CHECK(of(65537, "replicas: 3") == large);
  CATCH_CHECK(of("all", "replicas: 3") == large);
  const auto elastic = of(2, "replicas: {min: 1, max: 2}");
  CATCH_REQUIRE(elastic.size() == 1);
  CATCH_CHECK(elastic[0].ends_with(
    "`trainer.replicas` must be one number with `evaluate.predict`, and "
    "`trainer.sizes` left out"));
}

CATCH_TEST_CASE("a split is measured alone by a fixed number of trainers",
                "[definition]") {
  for (const auto* split : {"train", "validation", "test"}) {
    const auto def = valid(fmt::format(
      "{{dataset: d, evaluate: {{only: {}, batch_size: all}}}}", split));
    CATCH_CHECK(trains_nothing(def));
    CATCH_CHECK(valid(definition_yaml(def)) == def);
  }
  const auto elastic = problems_in("{dataset: d, evaluate: {only: test}, "
                                   "trainer: {replicas: {min: 1, max: 2}}}");
  CATCH_REQUIRE(elastic.size() == 1);
  CATCH_CHECK(elastic[0].ends_with(
    "`trainer.replicas` must be one number with `evaluate.only`, and "
    "`trainer.sizes` left out"));
  const auto both =
    problems_in("{dataset: d, evaluate: {only: test, predict: true}}");
  CATCH_REQUIRE(both.size() == 1);
  CATCH_CHECK(both[0].ends_with(
    "`evaluate.only` measures a split, and `evaluate.predict` predicts all "
    "nodes: leave one of both out"));
  // Of a task of edges, a split has rows to predict.
  CATCH_CHECK(problems_in("{dataset: d, task: links, evaluate: {only: test, "
                          "predict: true}}")
                .empty());
}

CATCH_TEST_CASE("lists of names", "[definition]") {
  const auto of = [](std::string_view samplers) {
    return problems_in(
      std::string{"dataset: d\nplacement: {samplers: "}.append(samplers).append(
        "}"));
  };
  CATCH_CHECK(of("[]").empty());
  CATCH_CHECK(of("[a, b]").empty());
  CATCH_CHECK(of("a")
              == texts{"x.yaml:2:23: `placement.samplers` is `a`, must be a "
                       "list of texts, as in [a, b]"});
  CATCH_CHECK(of("[a, [b]]")
              == texts{"x.yaml:2:27: `placement.samplers` has the element a "
                       "list, must be a text"});
  CATCH_CHECK(of("[a, b, a]")
              == texts{"x.yaml:2:23: `placement.samplers` names daemon `a` "
                       "twice"});
}

CATCH_TEST_CASE("whoever trains or samples is one that the run may use",
                "[definition]") {
  const auto of = [](std::string_view placement) {
    return problems_in(
      std::string{"dataset: d\nplacement: {"}.append(placement).append("}"));
  };
  CATCH_CHECK(of("daemons: [a, b], trainers: [b], samplers: [a]").empty());
  CATCH_CHECK(of("daemons: [], trainers: [b]").empty());
  CATCH_CHECK(of("daemons: [a], trainers: [a, b]")
              == texts{"x.yaml:2:37: `placement.trainers` names daemon `b`, "
                       "which is not among `placement.daemons`"});
  CATCH_CHECK(of("samplers: [b], daemons: [a]")
              == texts{"x.yaml:2:23: `placement.samplers` names daemon `b`, "
                       "which is not among `placement.daemons`"});
  CATCH_CHECK(of("daemons: [a, a]")
              == texts{"x.yaml:2:22: `placement.daemons` names daemon `a` "
                       "twice"});
}

CATCH_TEST_CASE("wrong types and ranges", "[definition]") {
  const auto problem_of = [](std::string_view text) {
    const auto got = problems_in(std::string{"dataset: d\n"}.append(text));
    CATCH_REQUIRE(got.size() == 1);
    return got[0];
  };
  CATCH_CHECK(problem_of("seed: -1")
              == "x.yaml:2:7: `seed` is `-1`, must be a whole number from 0 to "
                 "2^64 - 1");
  CATCH_CHECK(problem_of("seed: 18446744073709551616").find("2:7: `seed` is")
              != std::string::npos);
  CATCH_CHECK(problem_of("sampler: {replace: yes}")
              == "x.yaml:2:20: `sampler.replace` is `yes`, must be true or "
                 "false");
  CATCH_CHECK(problem_of("sampler: {fanouts: 5}")
              == "x.yaml:2:20: `sampler.fanouts` is `5`, must be a list of "
                 "whole numbers, as in [10, 10], or a map of lists");
  CATCH_CHECK(problem_of("sampler: {fanouts: []}")
              == "x.yaml:2:20: `sampler.fanouts` has 0 elements, must have "
                 "from 1 to 16");
  CATCH_CHECK(problem_of("sampler: {fanouts: {a: 3}}")
              == "x.yaml:2:24: `sampler.fanouts.a` is `3`, must be a list of "
                 "whole numbers, as in [10, 10], or a map of lists");
  CATCH_CHECK(problem_of("sampler: {fanouts: {a: [1, 2], a: [1, 2]}}")
              == "x.yaml:2:32: `a` is given twice in `sampler.fanouts`");
  CATCH_CHECK(problem_of("sampler: {fanouts: {a: [1]}}")
              == "x.yaml:2:24: the fanouts of `a` are for 1 hops, those of "
                 "`default` for 2");
  CATCH_CHECK(problem_of("sampler: {edge_fanouts: []}")
                .find("`edge_fanouts` is not a field of `sampler`")
              != std::string::npos);
  CATCH_CHECK(problem_of("optimizer: {learning_rate: nan}")
              == "x.yaml:2:28: `optimizer.learning_rate` is `nan`, must be a "
                 "number from 1e-09 to 1000");
  CATCH_CHECK(
    problem_of("optimizer: {learning_rate: 0}").find("must be a number")
    != std::string::npos);
  CATCH_CHECK(problem_of("optimizer: {momentum: 0.9}")
              == "x.yaml:2:23: `optimizer.momentum` is for `kind: sgd` alone; "
                 "leave it out");
  CATCH_CHECK(problem_of("model: {kind: gat, hidden: 10, heads: 4}")
              == "x.yaml:2:39: `model.hidden` is 10, which does not divide "
                 "among 4 heads of gat");
  CATCH_CHECK(problem_of("model: {kind: unset}").find("must be one of sage")
              != std::string::npos);
  CATCH_CHECK(problem_of("trainer: {device: gpu}")
              == "x.yaml:2:19: `trainer.device` is `gpu`, must be cpu, cuda or "
                 "cuda:N");
  CATCH_CHECK(problem_of("name:")
              == "x.yaml:2:1: `name` is empty, must be a text");
  CATCH_CHECK(problem_of("name: ../up").find("must be made of letters")
              != std::string::npos);
  CATCH_CHECK(problem_of("train: {epochs: [3]}")
              == "x.yaml:2:17: `train.epochs` is a list, must be a whole "
                 "number from 1 to 1000000 epochs");
  CATCH_CHECK(problem_of("[1, 2]: 3").find("a key of a definition is a list")
              != std::string::npos);
  CATCH_CHECK(problem_of("kind: sage")
              == "x.yaml:2:1: `kind` is not a field of a definition; it "
                 "belongs to `model`");
}

CATCH_TEST_CASE("sizes", "[definition]") {
  const auto bytes = [](const std::string& text) {
    return valid("dataset: d\nbudget: {bytes: " + text + "}").budget.bytes;
  };
  CATCH_CHECK(bytes("77") == 77);
  CATCH_CHECK(bytes("1GiB") == 1ull << 30);
  CATCH_CHECK(bytes("512 MiB") == 512ull << 20);
  CATCH_CHECK(bytes("0.5 KiB") == 512);
  CATCH_CHECK(bytes("3 MB") == 3000000);
  for (const auto* wrong : {"0", "-1", "GiB", "1 gib", "1..5 GiB", "1  GiB",
                            "99999999999 TiB", "1.5", "0x10"}) {
    CATCH_INFO(wrong);
    CATCH_CHECK(
      problems_in(std::string{"dataset: d\nbudget: {bytes: "} + wrong + "}")
        .size()
      == 1);
  }
}

} // namespace graphmill::test
