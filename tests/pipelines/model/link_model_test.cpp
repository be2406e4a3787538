#include "pipelines/kernels/links/link_rows.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/model/passes/node_ranking.hpp"
#include "tests/pipelines/model/numeric_gradients.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/text.hpp"
#include "tests/support/value_list.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

const std::vector all_link_losses{link_loss::bce, link_loss::margin,
                                  link_loss::bpr, link_loss::softmax,
                                  link_loss::self_adversarial};

/// Links of two edge types between two node types, and of a third within one.
toy_graph typed_link_graph(std::mt19937_64& random) {
  auto graph = random_graph(random, small_typed);
  add_task(graph, edge_task_kind::link, {0, 1, 3});
  return graph;
}

toy_graph untyped_link_graph(std::mt19937_64& random) {
  auto graph = random_graph(random, {});
  add_task(graph, edge_task_kind::link, {0});
  return graph;
}

void check_link_gradients(const definition& def, const toy_graph& graph,
                          minibatch batch, std::mt19937_64& random) {
  const auto layout = value_of(make_layout(def, graph.info));
  auto model = value_of(replica::create(def, graph.info));
  batch.global_seeds += 3; // Other ranks have some, too.
  batch.data.key.rank = 2;
  reference_model reference{layout, batch, def.model.layer_norm};
  reference.training = true;
  reference.key = 99;
  randomise(*model, reference, random);
  reference.weighing = reference.logits();
  gradient_set got;
  const auto metrics = value_of(model->compute_gradients(batch, 99, got));
  CATCH_CHECK(std::isfinite(metrics.loss_sum));
  compare_gradients(layout, reference, got);

  reference.training = false;
  const auto want = reference.logits();
  batch_output output;
  value_of(model->evaluate(batch, &output));
  std::size_t at = 0;
  for (const auto& row : want)
    for (const auto x : row) {
      CATCH_INFO("logit " << at);
      CATCH_REQUIRE(at < output.logits.size());
      if (std::isinf(x))
        CATCH_CHECK(output.logits[at] == x);
      else
        CATCH_CHECK(std::abs(output.logits[at] - x) < 1e-4 * (1 + std::abs(x)));
      ++at;
    }
  CATCH_CHECK(at == output.logits.size());
}

void check_links(const definition& def, const toy_graph& graph,
                 const row_options& rows, std::mt19937_64& random) {
  check_link_gradients(
    def, graph, make_edge_batch(graph, def, random_rows(random, graph, rows)),
    random);
}

} // namespace

CATCH_TEST_CASE("gradients of links equal numeric derivatives for each decoder "
                "and loss",
                "[links]") {
  const auto decoder = GENERATE(from_range(all_decoders()));
  const auto loss = GENERATE(from_range(all_link_losses));
  const auto typed = GENERATE(false, true);
  CATCH_INFO("decoder " << int(decoder) << ", loss " << int(loss) << ", typed "
                        << typed << ", seed 71");
  std::mt19937_64 random{71};
  auto def =
    link_definition(typed ? model_kind::rgcn : model_kind::sage, 2, decoder);
  def.train.link_loss = loss;
  def.train.margin = 0.7;
  def.train.temperature = 0.5;
  const auto graph =
    typed ? typed_link_graph(random) : untyped_link_graph(random);
  check_links(def, graph,
              {.rows = 5, .wrong_destinations = 2, .wrong_sources = 3}, random);
}

CATCH_TEST_CASE("gradients of joint negatives equal numeric derivatives",
                "[links]") {
  const auto decoder = GENERATE(from_range(all_decoders()));
  const auto own = GENERATE(false, true);
  CATCH_INFO("decoder " << int(decoder) << ", own " << own << ", seed 73");
  std::mt19937_64 random{73};
  auto def = link_definition(model_kind::rgcn, 2, decoder);
  def.decoder.norm = 2;
  def.train.link_loss = link_loss::softmax;
  const auto graph = typed_link_graph(random);
  check_links(def, graph,
              {.rows = 6,
               .wrong_destinations = own ? 1u : 0u,
               .joint_destinations = 3,
               .joint_sources = own ? 2u : 0u},
              random);
  check_links(def, graph, {.rows = 4, .joint_sources = 3}, random);
}

CATCH_TEST_CASE("gradients of wrong pairs equal numeric derivatives",
                "[links]") {
  const auto decoder = GENERATE(from_range(all_decoders()));
  const auto loss = GENERATE(from_range(all_link_losses));
  CATCH_INFO("decoder " << int(decoder) << ", loss " << int(loss)
                        << ", seed 75");
  std::mt19937_64 random{75};
  auto def = link_definition(model_kind::rgcn, 2, decoder);
  def.train.link_loss = loss;
  const auto graph = typed_link_graph(random);
  check_links(def, graph, {.rows = 5, .wrong_pairs = 3}, random);
}

CATCH_TEST_CASE("a wrong pair has the score of an edge between its nodes",
                "[links]") {
  const auto decoder = GENERATE(from_range(all_decoders()));
  CATCH_INFO("decoder " << int(decoder) << ", seed 76");
  std::mt19937_64 random{76};
  const auto def = link_definition(model_kind::rgcn, 2, decoder);
  const auto graph = typed_link_graph(random);
  const auto model = value_of(replica::create(def, graph.info));
  const auto rows = random_rows(random, graph, {.rows = 6, .wrong_pairs = 2});
  auto single = rows;
  single.wrong_pairs = 0;
  single.columns = 2;
  single.relations.clear();
  single.weights.clear();
  for (const auto relation : rows.relations)
    single.relations.insert(single.relations.end(), 3, relation);
  for (auto& local : single.locals)
    local = std::max(local, 0); // In place of what does not exist.
  batch_output pairs;
  batch_output edges;
  value_of(model->evaluate(make_edge_batch(graph, def, rows), &pairs));
  value_of(model->evaluate(make_edge_batch(graph, def, single), &edges));
  CATCH_REQUIRE(pairs.logits.size() == 18);
  CATCH_REQUIRE(edges.logits.size() == 18);
  for (std::size_t i = 0; i < 18; ++i)
    if (rows.locals[2 * i] == seed_batch::none)
      CATCH_CHECK(pairs.logits[i] == no_score);
    else
      CATCH_CHECK(std::abs(pairs.logits[i] - edges.logits[i]) < 1e-5);
  seed_outcomes told;
  value_of(model->evaluate(make_edge_batch(graph, def, rows), nullptr, &told));
  CATCH_CHECK(told.source_ranks.empty());
  std::int64_t ranked = 0;
  for (const auto& one : told.destination_ranks)
    ranked += one.count;
  CATCH_CHECK(ranked == 6);
}

CATCH_TEST_CASE("gradients of links through all kinds of models", "[links]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  const auto jumping = GENERATE(false, true);
  const auto extras = GENERATE(false, true); // Dropout and layer norm.
  CATCH_INFO("kind " << int(kind) << ", jumping " << jumping << ", extras "
                     << extras << ", seed 79");
  std::mt19937_64 random{79};
  auto def = link_definition(kind, 2, decoder_kind::distmult);
  def.model.jumping = jumping;
  def.model.layer_norm = extras;
  def.model.dropout = extras ? 0.3 : 0;
  const auto graph = traits_of(kind).typed ? typed_link_graph(random)
                                           : untyped_link_graph(random);
  check_links(def, graph, {.rows = 4, .wrong_destinations = 2}, random);
}

CATCH_TEST_CASE("gradients of classes, labels and numbers of edges",
                "[links]") {
  const auto decoder = GENERATE(decoder_kind::bilinear, decoder_kind::mlp);
  const auto features = GENERATE(false, true); // Of edges.
  const auto kind =
    GENERATE(edge_task_kind::edge_class, edge_task_kind::edge_labels,
             edge_task_kind::edge_value);
  CATCH_INFO("decoder " << int(decoder) << ", task " << int(kind)
                        << ", features " << features << ", seed 87");
  std::mt19937_64 random{87};
  auto graph = random_graph(random, small_typed);
  constexpr std::int64_t classes = 3;
  add_task(graph, kind, {0, 1, 3}, classes);
  auto def = link_definition(model_kind::rgcn, 2, decoder);
  if (features) {
    add_edge_features(graph, random, 2);
    def.decoder.edge_features = true;
  }
  auto rows = random_rows(random, graph, {.rows = 7});
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (kind == edge_task_kind::edge_class)
      rows.classes.push_back(static_cast<std::int64_t>(random() % 4) - 1);
    for (std::int64_t c = 0; c < classes; ++c) {
      if (kind == edge_task_kind::edge_labels)
        rows.label_rows.push_back(static_cast<std::uint8_t>(random() % 2));
      if (kind != edge_task_kind::edge_value)
        continue;
      const auto value = static_cast<float>(random() % 8) / 8;
      for (const auto byte : rows_of_values({value}))
        rows.label_rows.push_back(byte);
    }
  }
  auto batch = make_edge_batch(graph, def, rows);
  std::uniform_real_distribution<float> value{-1, 1};
  for (std::size_t i = 0; features && i < 2 * rows.rows(); ++i)
    batch.data.row_features.push_back(value(random));
  check_link_gradients(def, graph, std::move(batch), random);
}

CATCH_TEST_CASE("decoders read features of edges where there are some",
                "[links][edge_features]") {
  std::mt19937_64 random{85};
  auto graph = random_graph(random, small_typed);
  add_task(graph, edge_task_kind::edge_class, {0, 1}, 3);
  auto def = link_definition(model_kind::rgcn, 1, decoder_kind::mlp);
  def.decoder.edge_features = true;
  CATCH_CHECK(
    has(error_of(make_layout(def, graph.info)).message, "have 0 features"));
  add_edge_features(graph, random, 2);
  CATCH_CHECK(make_layout(def, graph.info).has_value());
  def.trainer.device = "cuda";
  CATCH_CHECK(has(error_of(make_layout(def, graph.info)).message,
                  "have features, which trainer.device `cuda` does not"));
  def.model.edge_features = edge_feature_use::ignore;
  CATCH_CHECK(has(error_of(make_layout(def, graph.info)).message,
                  "does not learn tasks of edges yet"));
  def.model.edge_features = edge_feature_use::use;
  def.trainer.device = "cpu";
  def.decoder.kind = decoder_kind::dot;
  CATCH_CHECK_FALSE(make_layout(def, graph.info).has_value());
  def.decoder.kind = decoder_kind::mlp;
  add_task(graph, edge_task_kind::link, {0, 1});
  CATCH_CHECK(
    has(error_of(make_layout(def, graph.info)).message, "negatives of links"));
}

CATCH_TEST_CASE("one number of an edge can have any decoder, others not",
                "[links]") {
  std::mt19937_64 random{89};
  auto graph = random_graph(random, small_typed);
  for (const auto decoder : all_decoders()) {
    CATCH_INFO("decoder " << int(decoder));
    const auto def = link_definition(model_kind::rgcn, 1, decoder);
    add_task(graph, edge_task_kind::edge_value, {0, 1}, 1);
    auto rows = random_rows(random, graph, {.rows = 3});
    rows.label_rows = rows_of_values({0.5f, 1, -1});
    check_link_gradients(def, graph, make_edge_batch(graph, def, rows), random);
    for (const auto kind :
         {edge_task_kind::edge_class, edge_task_kind::edge_value}) {
      add_task(graph, kind, {0, 1}, 2);
      const auto any =
        decoder == decoder_kind::bilinear || decoder == decoder_kind::mlp;
      const auto made = make_layout(def, graph.info);
      CATCH_CHECK(bool(made) == any);
      if (!any)
        CATCH_CHECK_THAT(error_of(made).message, contains("bilinear or mlp"));
    }
  }
}

CATCH_TEST_CASE("layouts of tasks of edges have outputs of both ends",
                "[links]") {
  std::mt19937_64 random{97};
  const auto graph = typed_link_graph(random);
  auto def = link_definition(model_kind::rgcn, 2, decoder_kind::rotate);
  const auto layout = value_of(make_layout(def, graph.info));
  CATCH_CHECK(layout.outputs == std::vector<node_type_id>{0, 1});
  CATCH_CHECK(layout.output_width == 6);
  CATCH_CHECK(layout.classes == 1);
  CATCH_CHECK(layout.layers.back().types[1].out == 6);
  CATCH_CHECK(layout.layers.back().types[2].out == 0);
  const auto& relation =
    layout.parameters[static_cast<std::size_t>(layout.decoder->relation)];
  CATCH_CHECK(relation.name == "decoder.relation");
  CATCH_CHECK(relation.shape == std::vector<std::int64_t>{3, 3});
  CATCH_CHECK(layout.head_offset == relation.offset);
  def.model.width = 5;
  CATCH_CHECK_THAT(error_of(make_layout(def, graph.info)).message,
                   contains("odd"));
  def.model.width = 0;
  CATCH_CHECK(value_of(make_layout(def, graph.info)).output_width == 4);
  def.trainer.device = "cuda";
  CATCH_CHECK_THAT(error_of(make_layout(def, graph.info)).message,
                   contains("trainer.device"));
}

CATCH_TEST_CASE("lookup learns the rows of its tables", "[links][lookup]") {
  const auto decoder = GENERATE(from_range(all_decoders()));
  const auto layers = GENERATE(1, 2);
  const auto dropout = GENERATE(0.0, 0.3);
  CATCH_INFO("decoder " << int(decoder) << ", layers " << layers << ", dropout "
                        << dropout << ", seed 87");
  std::mt19937_64 random{87};
  auto def = link_definition(model_kind::lookup, layers, decoder);
  def.model.dropout = dropout;
  auto options = small_typed;
  options.widths = {0, 0, 2}; // The last one is at no end.
  auto graph = random_graph(random, options);
  add_task(graph, edge_task_kind::link, {0, 1, 3});
  const auto layout = value_of(make_layout(def, graph.info));
  CATCH_REQUIRE(layout.tables.size() == 2);
  CATCH_CHECK(layout.tables[1].name == "embedding.b");
  CATCH_CHECK(layout.tables[1].width == 6);
  CATCH_CHECK(layout.head_offset == 0);
  check_link_gradients(def, graph,
                       make_edge_batch(graph, def,
                                       random_rows(random, graph,
                                                   {.rows = 5,
                                                    .wrong_destinations = 2,
                                                    .wrong_sources = 1,
                                                    .joint_destinations = 2}),
                                       0),
                       random);
}

CATCH_TEST_CASE("lightgcn averages the sums of its layers",
                "[links][lightgcn]") {
  const auto layers = GENERATE(1, 2, 3);
  const auto fanout = GENERATE(-1, 1);
  const auto weighted = GENERATE(false, true);
  const auto dropout = GENERATE(0.0, 0.3);
  CATCH_INFO("layers " << layers << ", fanout " << fanout << ", weighted "
                       << weighted << ", dropout " << dropout << ", seed 85");
  std::mt19937_64 random{85};
  auto def = link_definition(model_kind::lightgcn, layers, decoder_kind::dot);
  def.model.dropout = dropout;
  def.train.link_loss = link_loss::bpr;
  auto options = small_typed;
  options.widths = {0, 0, 0};
  auto graph = random_graph(random, options);
  if (weighted)
    add_weights(graph, random);
  add_task(graph, edge_task_kind::link, {0, 1, 3});
  const auto layout = value_of(make_layout(def, graph.info));
  CATCH_CHECK(layout.dense_size == 0);
  CATCH_REQUIRE(layout.tables.size() == 3);
  CATCH_CHECK(layout.tables[1].width == 6);
  check_link_gradients(def, graph,
                       make_edge_batch(graph, def,
                                       random_rows(random, graph,
                                                   {.rows = 5,
                                                    .wrong_destinations = 2,
                                                    .wrong_sources = 1,
                                                    .joint_destinations = 2}),
                                       fanout),
                       random);
}

CATCH_TEST_CASE("lightgcn weighs neighbours by both degrees",
                "[links][lightgcn]") {
  // Users 0 and 1 have items 0 and 1, and 0; by one layer, on paper.
  std::mt19937_64 random{86};
  auto graph = random_graph(
    random, {.nodes = {2, 2}, .widths = {0, 0}, .edges = {{0, 1}, {1, 0}}});
  graph.in_lists[0] = {{0, 1}, {0}};
  graph.in_lists[1] = {{0, 1}, {0}};
  add_task(graph, edge_task_kind::link, {0});
  auto def = link_definition(model_kind::lightgcn, 1, decoder_kind::dot);
  def.model.width = 2;
  def.model.dropout = 0;
  const auto model = value_of(replica::create(def, graph.info));
  auto tensors = model->parameters();
  CATCH_REQUIRE(tensors.size() == 2);
  tensors[0].values = {1, 0, 0, 1};
  tensors[1].values = {2, 0, 0, 4};
  value_of(model->load(tensors));
  seed_batch rows;
  rows.columns = 3;
  rows.wrong_destinations = 1;
  rows.nodes = {{1}, {0, 1}};
  rows.locals = {0, 0, 1};
  batch_output output;
  value_of(model->evaluate(make_edge_batch(graph, def, rows), &output));
  // User 1: ((0, 1) + (2, 0) / sqrt(2)) / 2; item 0: ((2, 0) + (1, 0) / 2
  // + (0, 1) / sqrt(2)) / 2; item 1: ((0, 4) + (1, 0) / sqrt(2)) / 2.
  const auto root = std::sqrt(2.0);
  CATCH_REQUIRE(output.logits.size() == 2);
  CATCH_CHECK(std::abs(output.logits[0] - (root * 2.5 + 1 / root) / 4) < 1e-6);
  CATCH_CHECK(std::abs(output.logits[1] - (1 + 4) / 4.0) < 1e-6);
}

CATCH_TEST_CASE("lookup is for tasks of edges without features or layers",
                "[links][lookup]") {
  std::mt19937_64 random{88};
  auto graph = typed_link_graph(random);
  auto def = link_definition(model_kind::lookup, 1, decoder_kind::dot);
  CATCH_CHECK_THAT(error_of(make_layout(def, graph.info)).message,
                   contains("without features, and a has some"));
  graph.info.node_types[0].feature_width = 0;
  value_of(make_layout(def, graph.info));
  def.model.jumping = true;
  CATCH_CHECK_THAT(error_of(make_layout(def, graph.info)).message,
                   contains("lookup has none"));
  def.model.jumping = false;
  def.task.clear();
  CATCH_CHECK_THAT(error_of(make_layout(def, graph.info)).message,
                   contains("set `task`"));
}

CATCH_TEST_CASE("links give the same bits for any number of threads",
                "[links]") {
  const auto decoder = GENERATE(from_range(all_decoders()));
  CATCH_INFO("decoder " << int(decoder) << ", seed 101");
  std::mt19937_64 random{101};
  auto graph = random_graph(
    random, {.nodes = {700, 500}, .widths = {5, 4}, .edges = {{0, 1}, {1, 0}}});
  add_task(graph, edge_task_kind::link, {0, 1});
  auto def = link_definition(model_kind::rgcn, 2, decoder);
  def.model.hidden = def.model.width = 32;
  const auto batch = make_edge_batch(graph, def,
                                     random_rows(random, graph,
                                                 {.rows = 2500,
                                                  .wrong_destinations = 2,
                                                  .wrong_sources = 1,
                                                  .joint_destinations = 70,
                                                  .joint_sources = 90}));
  gradient_set want;
  for (const std::uint32_t threads : {1, 2, 5}) {
    CATCH_INFO(threads << " threads");
    def.trainer.threads = threads;
    const auto model = value_of(replica::create(def, graph.info));
    gradient_set got;
    value_of(model->compute_gradients(batch, 7, got));
    if (threads == 1) {
      want = std::move(got);
      continue;
    }
    CATCH_CHECK(std::equal(want.dense.begin(), want.dense.end(),
                           got.dense.begin(), got.dense.end()));
  }
}

CATCH_TEST_CASE("replicas check the rows of a batch", "[links]") {
  std::mt19937_64 random{103};
  const auto graph = typed_link_graph(random);
  const auto def = link_definition(model_kind::rgcn, 1, decoder_kind::dot);
  const auto model = value_of(replica::create(def, graph.info));
  const auto good = random_rows(random, graph,
                                {.rows = 3,
                                 .wrong_destinations = 1,
                                 .wrong_sources = 1,
                                 .joint_destinations = 2});
  const auto refused = [&](auto&& change) {
    auto rows = good;
    change(rows);
    auto batch = make_edge_batch(graph, def, good);
    batch.rows = std::make_shared<const seed_batch>(rows);
    return error_of(model->evaluate(batch, nullptr)).message;
  };
  CATCH_CHECK_THAT(refused([](seed_batch& r) { r.locals[0] = 99; }),
                   contains("column 0 of row 0"));
  CATCH_CHECK_THAT(refused([](seed_batch& r) { r.locals[1] = -1; }),
                   contains("column 1 of row 0"));
  CATCH_CHECK_THAT(refused([](seed_batch& r) { r.locals.pop_back(); }),
                   contains("4 columns"));
  CATCH_CHECK_THAT(refused([](seed_batch& r) { r.relations[1] = 3; }),
                   contains("edge type 3 of 3"));
  CATCH_CHECK_THAT(refused([](seed_batch& r) { r.weights[0] = -1; }),
                   contains("weighs -1"));
  CATCH_CHECK_THAT(refused([](seed_batch& r) { r.weights.pop_back(); }),
                   contains("2 weights of 3 rows"));
  CATCH_CHECK_THAT(
    refused([](seed_batch& r) { r.joint_destinations[0][0] = 99; }),
    contains("joint negative"));
  auto none = make_edge_batch(graph, def, good);
  none.rows.reset();
  CATCH_CHECK_THAT(error_of(model->evaluate(none, nullptr)).message,
                   contains("no rows"));
}

CATCH_TEST_CASE("a batch without rows gives zeros", "[links]") {
  std::mt19937_64 random{107};
  const auto graph = typed_link_graph(random);
  const auto def = link_definition(model_kind::rgcn, 2, decoder_kind::distmult);
  const auto model = value_of(replica::create(def, graph.info));
  auto rows = random_rows(random, graph, {.rows = 0, .wrong_destinations = 2});
  auto batch = make_edge_batch(graph, def, rows);
  batch.global_seeds = 4;
  gradient_set got;
  CATCH_CHECK(value_of(model->compute_gradients(batch, 1, got)).seeds == 0);
  CATCH_CHECK(std::all_of(got.dense.begin(), got.dense.end(),
                          [](float x) { return x == 0; }));
  seed_outcomes told;
  batch_output output;
  CATCH_CHECK(value_of(model->evaluate(batch, &output, &told)).seeds == 0);
  CATCH_CHECK(told.destination_ranks.empty());
  CATCH_CHECK(output.logits.empty());
}

CATCH_TEST_CASE("wrong nodes with the output of the true one tie with it",
                "[links]") {
  const auto decoder = GENERATE(from_range(all_decoders()));
  CATCH_INFO("decoder " << int(decoder) << ", seed 109");
  std::mt19937_64 random{109};
  auto graph =
    random_graph(random, {.nodes = {40}, .widths = {7}, .in_edges = 0});
  // Nodes 20 to 39 are copies of 0 to 19.
  std::copy_n(graph.features[0].begin(), 20 * 7,
              graph.features[0].begin() + 20 * 7);
  add_task(graph, edge_task_kind::link, {0});
  auto def = link_definition(model_kind::sage, 1, decoder);
  def.model.width = 38;
  const auto model = value_of(replica::create(def, graph.info));
  seed_batch rows;
  rows.columns = 4;
  rows.wrong_destinations = rows.wrong_sources = 1;
  rows.nodes = {std::vector<node_id>(40)};
  for (local_id i = 0; i < 40; ++i)
    rows.nodes[0][static_cast<std::size_t>(i)] = i;
  for (local_id i = 0; i < 20; ++i)
    for (const auto node : {i, (i + 1) % 20, (i + 1) % 20 + 20, i + 20})
      rows.locals.push_back(node);
  seed_outcomes told;
  value_of(model->evaluate(make_edge_batch(graph, def, rows), nullptr, &told));
  const std::vector<rank_count> halves{{3, 20}};
  CATCH_CHECK((told.destination_ranks == halves));
  CATCH_CHECK((told.source_ranks == halves));
  CATCH_CHECK(told.tied == 40);
}

namespace {

/// Rows that are ranked among all nodes. Ids are original ones, but in lists.
struct fully_ranked {
  const dataset_info& info;
  std::vector<std::array<node_id, 3>> rows; ///< Relation, source, destination.
  /// By row: known destinations and sources. Empty: no lists.
  std::vector<std::array<std::set<node_id>, 2>> known;
  std::map<std::array<node_id, 2>, std::set<node_id>> groups;
  complete_nodes nodes;

  /// @param filtered Whether links are known, among them all of these rows.
  fully_ranked(std::mt19937_64& random, const toy_graph& graph,
               std::size_t count, bool filtered)
    : info(graph.info) {
    const auto below = [&](node_id limit) {
      return static_cast<node_id>(random() % static_cast<std::uint64_t>(limit));
    };
    std::map<std::array<node_id, 2>, std::set<node_id>> others;
    for (std::size_t i = 0; i < count; ++i) {
      const auto relation = below(std::ssize(info.tasks[0].edge_types));
      const auto& ends = ends_of(relation);
      // Few sources, so that there are groups.
      const auto source = below(std::min<node_id>(counts(ends.source), 5));
      rows.push_back({relation, source, below(counts(ends.destination))});
      if (random() % 8 == 0 && i > 0)
        rows.back() = rows[static_cast<std::size_t>(below(std::ssize(rows)))];
      const auto [r, s, d] = rows.back();
      groups[{r, s}].insert(d);
      others[{r, s}].insert(below(counts(ends_of(r).destination)));
    }
    for (const auto& [r, s, d] : rows) {
      if (!filtered)
        break;
      auto& lists = known.emplace_back();
      lists[0] = groups[{r, s}];
      lists[0].insert(others[{r, s}].begin(), others[{r, s}].end());
      for (int k = 0; k < 3; ++k)
        lists[1].insert(below(counts(ends_of(r).source)));
    }
    // Global ids of one type are not the original ones.
    nodes.counts.resize(info.node_types.size());
    nodes.orders.resize(nodes.counts.size());
    nodes.originals.resize(nodes.counts.size());
    std::vector<node_id> order(static_cast<std::size_t>(counts(0)));
    std::iota(order.begin(), order.end(), node_id{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<local_id> back(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      back[static_cast<std::size_t>(order[i])] = static_cast<local_id>(i);
    nodes.orders[0] = std::make_shared<const std::vector<node_id>>(order);
    nodes.originals[0] = std::make_shared<const std::vector<local_id>>(back);
    for (const auto type : {0, 1})
      nodes.counts[static_cast<std::size_t>(type)] = counts(type);
  }

  const edge_type_info& ends_of(node_id relation) const {
    return info.edge_types[static_cast<std::size_t>(
      info.tasks[0].edge_types[static_cast<std::size_t>(relation)])];
  }
  node_id counts(node_type_id type) const {
    return info.node_types[static_cast<std::size_t>(type)].count;
  }
  node_id global(node_type_id type, node_id original) const {
    const auto& order = nodes.orders[static_cast<std::size_t>(type)];
    return order ? (*order)[static_cast<std::size_t>(original)] : original;
  }

  seed_batch plain() const {
    seed_batch out;
    out.columns = 2;
    out.nodes.resize(info.node_types.size());
    for (const node_type_id type : {0, 1})
      for (node_id id = 0; id < counts(type); ++id)
        out.nodes[static_cast<std::size_t>(type)].push_back(global(type, id));
    for (const auto& [relation, source, destination] : rows) {
      out.relations.push_back(static_cast<std::int32_t>(relation));
      out.locals.push_back(static_cast<local_id>(source));
      out.locals.push_back(static_cast<local_id>(destination));
    }
    return out;
  }

  /// All candidates of each row in lists of its own.
  /// @param grouped Other links of the row's group are among them.
  seed_batch listed(bool destinations, bool sources, bool grouped) const {
    auto out = plain();
    const auto most = static_cast<std::size_t>(std::max(counts(0), counts(1)));
    out.wrong_destinations = destinations ? most : 0;
    out.wrong_sources = sources ? most : 0;
    out.columns = 2 + out.wrong_destinations + out.wrong_sources;
    out.locals.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto [relation, source, destination] = rows[i];
      out.locals.push_back(static_cast<local_id>(source));
      out.locals.push_back(static_cast<local_id>(destination));
      const auto list = [&](std::size_t end, node_type_id type, node_id own) {
        const auto left = out.locals.size() + most;
        for (node_id id = 0; id < counts(type); ++id) {
          const auto known_one =
            !known.empty() && known[i][end].contains(id)
            && !(grouped && groups.at({relation, source}).contains(id));
          if (id != own && !known_one)
            out.locals.push_back(static_cast<local_id>(id));
        }
        out.locals.resize(left, seed_batch::none);
      };
      if (destinations)
        list(0, ends_of(relation).destination, destination);
      if (sources)
        list(1, ends_of(relation).source, source);
    }
    return out;
  }

  seed_batch full(bool destinations, bool sources) const {
    auto out = plain();
    auto ranking = std::make_shared<full_ranking>();
    ranking->destinations = destinations;
    ranking->sources = sources;
    ranking->nodes = std::make_shared<const complete_nodes>(nodes);
    const auto kept = [&ranking](node_type_id type, const fully_ranked& of,
                                 const std::set<node_id>& ids) {
      std::vector<node_id> made;
      for (const auto id : ids)
        made.push_back(of.global(type, id));
      std::sort(made.begin(), made.end());
      auto list = std::make_shared<const std::vector<node_id>>(std::move(made));
      ranking->keeps.push_back(list);
      return std::span<const node_id>{*list};
    };
    std::set<std::array<node_id, 3>> before;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& ends = ends_of(rows[i][0]);
      if (!known.empty()) {
        ranking->known.push_back(kept(ends.destination, *this, known[i][0]));
        ranking->known.push_back(kept(ends.source, *this, known[i][1]));
      }
      if (destinations)
        ranking->groups.push_back(
          before.insert(rows[i]).second
            ? kept(ends.destination, *this, groups.at({rows[i][0], rows[i][1]}))
            : std::span<const node_id>{});
    }
    out.full = std::move(ranking);
    return out;
  }
};

/// Ranks of destinations in their groups, from the scores of all candidates.
std::vector<group_count> groups_by_scores(const fully_ranked& of,
                                          const batch_output& output) {
  std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t> counts;
  std::set<std::array<node_id, 3>> before;
  const auto slots = output.logits.size() / of.rows.size();
  for (std::size_t i = 0; i < of.rows.size(); ++i) {
    if (!before.insert(of.rows[i]).second)
      continue;
    const auto* scores = output.logits.data() + i * slots;
    std::int64_t doubled = 2;
    for (std::size_t k = 1; k < slots; ++k)
      if (scores[k] != no_score)
        doubled += scores[k] >= scores[0] ? 2 : 0;
    const auto& group = of.groups.at({of.rows[i][0], of.rows[i][1]});
    ++counts[{static_cast<std::int32_t>(group.size()), doubled}];
  }
  std::vector<group_count> out;
  for (const auto& [key, count] : counts)
    out.push_back({key.first, count, key.second});
  return out;
}

/// Multiples of a half: all sums are exact, and there are many ties.
void make_coarse(replica& model, std::mt19937_64& random) {
  auto tensors = model.parameters();
  for (auto& tensor : tensors)
    for (auto& x : tensor.values)
      x = static_cast<float>(int(random() % 3) - 1) / 2;
  value_of(model.load(tensors));
}

void check_full_ranking(const definition& def, const toy_graph& graph,
                        const fully_ranked& ranked, replica& model) {
  for (const auto& [destinations, sources] :
       {std::pair{true, false}, {false, true}, {true, true}}) {
    CATCH_INFO("destinations " << destinations << ", sources " << sources);
    seed_outcomes want;
    const auto loss =
      value_of(model.evaluate(
                 make_edge_batch(graph, def,
                                 ranked.listed(destinations, sources, false)),
                 nullptr, &want))
        .loss();
    seed_outcomes got;
    const auto metrics = value_of(model.evaluate(
      make_edge_batch(graph, def, ranked.full(destinations, sources)), nullptr,
      &got));
    CATCH_CHECK(metrics.seeds == std::ssize(ranked.rows));
    CATCH_CHECK(metrics.loss() == Approx(loss).epsilon(1e-5).margin(1e-6));
    CATCH_CHECK((got.destination_ranks == want.destination_ranks));
    CATCH_CHECK((got.source_ranks == want.source_ranks));
    CATCH_CHECK(got.tied == want.tied);
    CATCH_CHECK(got.labels.empty()); // No negative was drawn.
    CATCH_CHECK(got.scores.empty());
    if (!destinations) {
      CATCH_CHECK(got.groups.empty());
      continue;
    }
    batch_output all;
    value_of(model.evaluate(
      make_edge_batch(graph, def, ranked.listed(true, false, true)), &all));
    CATCH_CHECK((got.groups == groups_by_scores(ranked, all)));
  }
}

} // namespace

CATCH_TEST_CASE("ranks among all nodes are those of lists of all nodes",
                "[links][ranking]") {
  const auto decoder = GENERATE(from_range(all_decoders()));
  const auto coarse = GENERATE(false, true);
  const auto filtered = GENERATE(false, true);
  const auto wide = GENERATE(false, true); // Many nodes, or many rows.
  if (coarse
      && (decoder == decoder_kind::cosine || decoder == decoder_kind::rotate))
    return; // Their roots are not exact.
  CATCH_INFO("decoder " << int(decoder) << ", coarse " << coarse
                        << ", filtered " << filtered << ", wide " << wide
                        << ", seed 127");
  std::mt19937_64 random{127};
  auto options = small_typed;
  options.nodes = wide ? std::vector<std::int64_t>{1100, 40, 4}
                       : std::vector<std::int64_t>{9, 14, 4};
  if (coarse)
    options.widths = {0, 0, 2};
  auto graph = random_graph(random, options);
  add_task(graph, edge_task_kind::link, {0, 1, 3});
  auto def =
    link_definition(coarse ? model_kind::lookup : model_kind::rgcn, 1, decoder);
  def.evaluate.scores = true;
  def.train.link_loss = all_link_losses[random() % all_link_losses.size()];
  def.train.margin = 0.4;
  const auto model = value_of(replica::create(def, graph.info));
  if (coarse)
    make_coarse(*model, random);
  const fully_ranked ranked{random, graph, wide ? 12U : 300U, filtered};
  check_full_ranking(def, graph, ranked, *model);
}

CATCH_TEST_CASE("full ranking gives the same bits for any threads and division "
                "of rows",
                "[links][ranking]") {
  const auto decoder = GENERATE(from_range(all_decoders()));
  CATCH_INFO("decoder " << int(decoder) << ", seed 131");
  std::mt19937_64 random{131};
  auto options = small_typed;
  options.nodes = {700, 50, 4};
  options.widths = {0, 0, 2};
  auto graph = random_graph(random, options);
  add_task(graph, edge_task_kind::link, {0, 1, 3});
  auto def = link_definition(model_kind::lookup, 1, decoder);
  def.model.width = 34;
  const fully_ranked ranked{random, graph, 150, true};
  const auto whole = ranked.full(true, true);
  std::optional<seed_outcomes> want;
  double loss = 0;
  for (const std::uint32_t threads : {1, 3}) {
    def.trainer.threads = threads;
    const auto model = value_of(replica::create(def, graph.info));
    seed_outcomes got;
    const auto metrics = value_of(
      model->evaluate(make_edge_batch(graph, def, whole), nullptr, &got));
    if (!want) {
      want = got;
      loss = metrics.loss_sum;
    }
    CATCH_CHECK((got == *want));
    CATCH_CHECK(metrics.loss_sum == loss);
  }
  // Row by row.
  const auto model = value_of(replica::create(def, graph.info));
  std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t> ranks;
  for (std::size_t i = 0; i < ranked.rows.size(); ++i) {
    auto row = whole;
    row.relations = {whole.relations[i]};
    row.locals = {whole.locals[2 * i], whole.locals[2 * i + 1]};
    auto ranking = *whole.full;
    ranking.known = {whole.full->known[2 * i], whole.full->known[2 * i + 1]};
    ranking.groups = {whole.full->groups[i]};
    row.full = std::make_shared<const full_ranking>(ranking);
    seed_outcomes got;
    value_of(model->evaluate(make_edge_batch(graph, def, row), nullptr, &got));
    const auto& one = got.destination_ranks.at(0);
    ++ranks[{one.relation, one.doubled}];
  }
  for (const auto& one : want->destination_ranks)
    CATCH_CHECK(ranks[{one.relation, one.doubled}] == one.count);
}

CATCH_TEST_CASE("rows of hubs are ranked a few at a time", "[links][ranking]") {
  constexpr std::int64_t millions = 10'000'000;
  // Rows with so many known links each.
  const auto together = [](std::size_t rows, std::size_t known) {
    return ranked_together(std::vector(rows, known));
  };
  CATCH_CHECK(together(128, 0) == 128);
  CATCH_CHECK(together(128, 16'000) == 128);
  CATCH_CHECK(together(128, 100'000) == 20);
  CATCH_CHECK(together(128, std::size_t{millions}) == 1);
  CATCH_CHECK(ranked_together(std::array{std::size_t{3}, std::size_t{millions},
                                         std::size_t{3}})
              == 1);
  for (const std::size_t known : {1U, 50U, 20'000U, 700'000U, 10'000'000U})
    for (const std::size_t rows : {1U, 7U, 128U})
      CATCH_CHECK(8 * together(rows, known) * (known + 1) <= ranked_list_bytes(
                    std::int64_t(rows), std::int64_t(known), 3));
  CATCH_CHECK(ranked_list_bytes(1000, millions, 1) == 8 * (millions + 1));
  CATCH_CHECK(ranked_list_bytes(1000, 10, 3) == 3 * 8 * 128 * 11);
  CATCH_CHECK(ranked_list_bytes(130, 10, 64) == 2 * 8 * 128 * 11);
}

CATCH_TEST_CASE("all nodes with the output of the true one tie with it",
                "[links][ranking]") {
  const auto decoder = GENERATE(from_range(all_decoders()));
  CATCH_INFO("decoder " << int(decoder) << ", seed 137");
  std::mt19937_64 random{137};
  auto graph =
    random_graph(random, {.nodes = {640}, .widths = {0}, .in_edges = 0});
  add_task(graph, edge_task_kind::link, {0});
  auto def = link_definition(model_kind::lookup, 1, decoder);
  def.model.width = 38;
  const auto model = value_of(replica::create(def, graph.info));
  auto tensors = model->parameters();
  for (auto& tensor : tensors)
    if (tensor.name.starts_with("embedding"))
      for (std::size_t i = 38; i < tensor.values.size(); ++i)
        tensor.values[i] = tensor.values[i % 38]; // All are alike.
  value_of(model->load(tensors));
  seed_batch rows;
  rows.columns = 2;
  rows.nodes = {std::vector<node_id>(640)};
  std::iota(rows.nodes[0].begin(), rows.nodes[0].end(), node_id{0});
  for (local_id i = 0; i < 20; ++i)
    rows.locals.insert(rows.locals.end(), {31 * i, 29 * i + 3});
  auto ranking = std::make_shared<full_ranking>();
  ranking->destinations = ranking->sources = true;
  auto nodes = std::make_shared<complete_nodes>();
  nodes->counts = {640};
  nodes->orders.resize(1);
  nodes->originals.resize(1);
  ranking->nodes = nodes;
  rows.full = ranking;
  seed_outcomes told;
  value_of(model->evaluate(make_edge_batch(graph, def, rows), nullptr, &told));
  const std::vector<rank_count> halves{{641, 20}};
  CATCH_CHECK((told.destination_ranks == halves));
  CATCH_CHECK((told.source_ranks == halves));
}

CATCH_TEST_CASE("replicas check what a full ranking takes",
                "[links][ranking]") {
  std::mt19937_64 random{139};
  const auto graph = typed_link_graph(random);
  const auto def = link_definition(model_kind::rgcn, 1, decoder_kind::dot);
  const auto model = value_of(replica::create(def, graph.info));
  const fully_ranked ranked{random, graph, 4, true};
  const auto refused = [&](auto&& change) {
    auto rows = ranked.full(true, true);
    auto ranking = *rows.full;
    change(ranking);
    rows.full = std::make_shared<const full_ranking>(ranking);
    return error_of(model->evaluate(make_edge_batch(graph, def, rows), nullptr))
      .message;
  };
  CATCH_CHECK_THAT(refused([&](full_ranking& of) {
                     auto fewer = *of.nodes;
                     ++fewer.counts[0];
                     of.nodes = std::make_shared<const complete_nodes>(fewer);
                   }),
                   contains("lacks some"));
  CATCH_CHECK_THAT(refused([](full_ranking& of) { of.known.pop_back(); }),
                   contains("7 lists"));
  CATCH_CHECK_THAT(refused([](full_ranking& of) { of.groups.pop_back(); }),
                   contains("3 groups"));
}

CATCH_TEST_CASE("a replica learns a planted graph of links", "[links]") {
  const auto decoder = GENERATE(from_range(all_decoders()));
  CATCH_INFO("decoder " << int(decoder) << ", seed 113");
  // Edges go from a node to those of the next of four groups, and features
  // show the group.
  std::mt19937_64 random{113};
  constexpr std::int64_t nodes = 48;
  auto graph = random_graph(random, {.nodes = {nodes}, .widths = {4}});
  std::uniform_real_distribution<float> noise{-0.2f, 0.2f};
  for (std::int64_t i = 0; i < nodes; ++i)
    for (std::int64_t c = 0; c < 4; ++c)
      graph.features[0][static_cast<std::size_t>(i * 4 + c)] =
        (i % 4 == c ? 1.0f : 0.0f) + noise(random);
  for (auto& list : graph.in_lists[0])
    list.clear();
  add_task(graph, edge_task_kind::link, {0});
  auto def = link_definition(model_kind::sage, 1, decoder);
  def.model.width = 16;
  def.optimizer.kind = optimizer_kind::adam;
  const auto model = value_of(replica::create(def, graph.info));
  const auto rows_of_step = [&] {
    seed_batch rows;
    rows.columns = 3;
    rows.wrong_destinations = 1;
    rows.nodes = {std::vector<node_id>(nodes)};
    for (std::int64_t i = 0; i < nodes; ++i)
      rows.nodes[0][static_cast<std::size_t>(i)] = i;
    for (std::int64_t i = 0; i < nodes; ++i) {
      const auto group = [&](std::int64_t offset) {
        return static_cast<local_id>((i + offset) % 4
                                     + 4 * std::int64_t(random() % 12));
      };
      rows.locals.push_back(static_cast<local_id>(i));
      rows.locals.push_back(group(1));
      // dot and cosine cannot tell a direction.
      rows.locals.push_back(group(2));
    }
    return rows;
  };
  double first = 0;
  double last = 0;
  for (int step = 0; step < 150; ++step) {
    gradient_set got;
    const auto batch = make_edge_batch(graph, def, rows_of_step());
    const auto metrics = value_of(
      model->compute_gradients(batch, static_cast<std::uint64_t>(step), got));
    (step == 0 ? first : last) = metrics.loss();
    value_of(model->apply(got, 0.02));
  }
  seed_outcomes told;
  value_of(model->evaluate(make_edge_batch(graph, def, rows_of_step()), nullptr,
                           &told));
  std::int64_t best = 0;
  for (const auto& one : told.destination_ranks)
    best += one.doubled == 2 ? one.count : 0;
  CATCH_INFO("loss " << first << " to " << last << ", first " << best);
  CATCH_CHECK(last < first * 0.8);
  CATCH_CHECK(best > nodes * 9 / 10);
}

} // namespace graphmill::test
