#include "pipelines/gradients/gradient_set.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/pipelines/model/numeric_gradients.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/value_list.hpp"

#include <algorithm>

namespace graphmill::test {

CATCH_TEST_CASE("gradients equal numeric derivatives of a plain model",
                "[compute]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  const auto layers = GENERATE(1, 2, 3);
  const auto fanout = GENERATE(-1, 2);
  const auto extras = GENERATE(false, true); // Dropout and layer norm.
  const auto featureless = GENERATE(false, true);
  const auto seed = 1000 * int(kind) + 10 * layers + extras;
  CATCH_INFO("kind " << int(kind) << ", layers " << layers << ", fanout "
                     << fanout << ", extras " << extras << ", featureless "
                     << featureless << ", seed " << seed);
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  auto def = small_definition(kind, layers);
  def.model.dropout = extras ? 0.3 : 0;
  def.model.layer_norm = extras;
  if (extras)
    add_attention_options(def);
  auto options = traits_of(kind).typed ? small_typed : toy_options{};
  if (featureless && !traits_of(kind).typed)
    options.widths = {0};
  const auto graph = random_graph(random, options);
  check_gradients(def, graph, {2, 0, 5}, fanout, random);
}

CATCH_TEST_CASE("gradients of all ways to put relations together equal "
                "numeric derivatives",
                "[compute][relations]") {
  const auto kind = GENERATE(model_kind::rgcn, model_kind::hetero_sage);
  const auto use =
    GENERATE(relation_use::sum, relation_use::mean, relation_use::mean_of_all);
  const auto fanout = GENERATE(-1, 1);
  const auto weighted = GENERATE(false, true);
  CATCH_INFO("kind " << int(kind) << ", use " << int(use) << ", fanout "
                     << fanout << ", weighted " << weighted << ", seed 29");
  std::mt19937_64 random{29};
  auto def = small_definition(kind, 2);
  def.model.relations = use;
  auto graph = random_graph(random, small_typed);
  if (weighted)
    add_weights(graph, random);
  check_gradients(def, graph, {2, 0, 5}, fanout, random);
}

CATCH_TEST_CASE("gradients of bases equal numeric derivatives",
                "[compute][bases]") {
  const auto kind = GENERATE(model_kind::rgcn, model_kind::hetero_sage);
  const auto bases = GENERATE(1, 2, 5);
  const auto layers = GENERATE(1, 2);
  const auto weighted = GENERATE(false, true);
  CATCH_INFO("kind " << int(kind) << ", bases " << bases << ", layers "
                     << layers << ", weighted " << weighted << ", seed 31");
  std::mt19937_64 random{31};
  auto def = small_definition(kind, layers);
  def.model.bases = static_cast<std::uint32_t>(bases);
  auto options = small_typed;
  options.edges.emplace_back(1, 0); // Beside another one of the same types.
  options.edges.emplace_back(0, 0);
  auto graph = random_graph(random, options);
  if (weighted)
    add_weights(graph, random);
  check_gradients(def, graph, {2, 0, 5}, -1, random);
}

CATCH_TEST_CASE("bases give the same bits for any number of threads",
                "[compute][bases]") {
  std::mt19937_64 random{37};
  auto def = small_definition(model_kind::rgcn, 2);
  def.model.bases = 7;
  def.model.hidden = 40;
  const auto graph = random_graph(
    random,
    {.nodes = {5000},
     .widths = {0},
     .edges = std::vector<std::pair<int, int>>(30, std::pair<int, int>{0, 0}),
     .in_edges = 1});
  const auto batch = make_batch(graph, def, first_nodes(1500));
  gradient_set want;
  for (const std::uint32_t threads : {1, 3}) {
    def.trainer.threads = threads;
    const auto model = value_of(replica::create(def, graph.info));
    gradient_set got;
    value_of(model->compute_gradients(batch, 5, got));
    if (threads == 1) {
      want = std::move(got);
      continue;
    }
    CATCH_CHECK(std::equal(want.dense.begin(), want.dense.end(),
                           got.dense.begin(), got.dense.end()));
    CATCH_CHECK(
      std::equal(want.tables[0].values.begin(), want.tables[0].values.end(),
                 got.tables[0].values.begin(), got.tables[0].values.end()));
  }
}

CATCH_TEST_CASE("gradients with weights of edges equal numeric derivatives",
                "[compute][weights]") {
  const auto kind = GENERATE(from_range(weighing_kinds()));
  const auto layers = GENERATE(1, 2, 3);
  const auto fanout = GENERATE(-1, 2);
  const auto featureless = GENERATE(false, true);
  const auto seed = 1000 * int(kind) + 10 * layers + 7;
  CATCH_INFO("kind " << int(kind) << ", layers " << layers << ", fanout "
                     << fanout << ", featureless " << featureless << ", seed "
                     << seed);
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  const auto def = small_definition(kind, layers);
  auto options = traits_of(kind).typed ? small_typed : toy_options{};
  if (!traits_of(kind).typed)
    options.edges = {{0, 0}, {0, 0}}; // Merged with one without weights.
  if (featureless && !traits_of(kind).typed)
    options.widths = {0};
  auto graph = random_graph(random, options);
  add_weights(graph, random);
  check_gradients(def, graph, {2, 0, 5}, fanout, random);
}

CATCH_TEST_CASE("gradients with dropout of messages alone", "[compute]") {
  const auto kind = GENERATE(model_kind::gat, model_kind::gatv2);
  const auto layers = GENERATE(1, 2);
  CATCH_INFO("kind " << int(kind) << ", layers " << layers << ", seed 61");
  std::mt19937_64 random{61};
  auto def = small_definition(kind, layers);
  def.model.message_dropout = 0.5;
  check_gradients(def, random_graph(random, {}), {2, 0, 5}, -1, random);
}

CATCH_TEST_CASE("gradients of layers that are jumped over and added to",
                "[compute]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  const auto layers = GENERATE(1, 3);
  const auto norm = GENERATE(false, true);
  const auto residual = GENERATE(false, true);
  const auto jumping = GENERATE(false, true);
  CATCH_INFO("kind " << int(kind) << ", layers " << layers << ", norm " << norm
                     << ", residual " << residual << ", jumping " << jumping
                     << ", seed 19");
  std::mt19937_64 random{19};
  auto def = small_definition(kind, layers);
  def.model.dropout = norm ? 0.3 : 0;
  def.model.layer_norm = norm;
  def.model.residual = residual;
  def.model.jumping = jumping;
  const auto layout = value_of(make_layout(
    def,
    random_graph(random, traits_of(kind).typed ? small_typed : toy_options{})
      .info));
  // From 3 features to 4: only layers between hidden ones add what they take.
  CATCH_CHECK_FALSE(layout.layers.front().types[0].residual);
  CATCH_CHECK(layout.layers.back().types[0].residual
              == (layers == 3 && residual && jumping));
  const auto graph =
    random_graph(random, traits_of(kind).typed ? small_typed : toy_options{});
  check_gradients(def, graph, {2, 0, 5}, -1, random);
}

CATCH_TEST_CASE("gradients of weighted and smoothed losses", "[compute]") {
  const auto smoothing = GENERATE(0.0, 0.2);
  std::mt19937_64 random{51};
  auto def = small_definition(model_kind::rgcn, 2);
  def.train.label_smoothing = smoothing;
  def.train.class_weights = {0.5, 2, 1};
  const auto graph = random_graph(random, small_typed);
  check_gradients(def, graph, {2, 0, 5}, -1, random);
}

CATCH_TEST_CASE("gradients of several labels", "[compute]") {
  const auto kind =
    GENERATE(model_kind::sage, model_kind::gat, model_kind::rgcn);
  CATCH_INFO("kind " << int(kind) << ", seed 53");
  std::mt19937_64 random{53};
  auto def = small_definition(kind, 2);
  def.model.jumping = GENERATE(false, true);
  auto graph =
    random_graph(random, traits_of(kind).typed ? small_typed : toy_options{});
  auto& target = graph.info.node_types[0];
  target.labels = label_kind::multi_label;
  for (std::int64_t i = 0; i < target.count * target.class_count; ++i)
    graph.label_rows.push_back(static_cast<std::uint8_t>(random() % 2));
  check_gradients(def, graph, {2, 0, 5}, -1, random);
  // Of node 0 nothing is known.
  for (std::int64_t c = 0; c < target.class_count; ++c)
    graph.label_rows[static_cast<std::size_t>(c)] = no_labels;
  check_gradients(def, graph, {2, 0, 5}, -1, random);

  const auto model = value_of(replica::create(def, graph.info));
  seed_outcomes told;
  const auto metrics = value_of(
    model->evaluate(make_batch(graph, def, {2, 0, 5}), nullptr, &told));
  CATCH_CHECK(metrics.seeds == 2);
  CATCH_CHECK(told.form == outcome_form::labels);
  auto wrong = make_batch(graph, def, {2, 0});
  wrong.data.label_rows[1] = 2;
  CATCH_CHECK(error_of(model->evaluate(wrong, nullptr)).code
              == ec::invalid_data);
  wrong = make_batch(graph, def, {2, 0});
  wrong.data.label_rows[static_cast<std::size_t>(target.class_count) - 1] =
    no_labels; // Of one label alone.
  CATCH_CHECK(error_of(model->evaluate(wrong, nullptr)).code
              == ec::invalid_data);
  wrong.data.label_rows.clear();
  CATCH_CHECK(error_of(model->evaluate(wrong, nullptr)).code == ec::internal);
}

CATCH_TEST_CASE("gradients of numbers", "[compute]") {
  const auto kind =
    GENERATE(model_kind::sage, model_kind::gat, model_kind::rgcn);
  CATCH_INFO("kind " << int(kind) << ", seed 59");
  std::mt19937_64 random{59};
  const auto def = small_definition(kind, 2);
  auto graph =
    random_graph(random, traits_of(kind).typed ? small_typed : toy_options{});
  auto& target = graph.info.node_types[0];
  target.labels = label_kind::regression;
  std::vector<float> values;
  for (std::int64_t i = 0; i < target.count * target.class_count; ++i)
    values.push_back(static_cast<float>(random() % 8) / 8 - 0.5f);
  // Of node 0 nothing is known.
  for (std::int64_t c = 0; c < target.class_count; ++c)
    values[static_cast<std::size_t>(c)] = no_value;
  graph.label_rows = rows_of_values(values);
  check_gradients(def, graph, {2, 0, 5}, -1, random);

  const auto model = value_of(replica::create(def, graph.info));
  seed_outcomes told;
  const auto batch = make_batch(graph, def, {2, 0, 5});
  const auto metrics = value_of(model->evaluate(batch, nullptr, &told));
  CATCH_CHECK(metrics.seeds == 2);
  CATCH_CHECK(told.form == outcome_form::values);
  CATCH_CHECK(told.scored() == 2);
  auto wrong = make_batch(graph, def, {2, 0});
  wrong.data.label_rows.clear();
  CATCH_CHECK(error_of(model->evaluate(wrong, nullptr)).code == ec::internal);
}

} // namespace graphmill::test
