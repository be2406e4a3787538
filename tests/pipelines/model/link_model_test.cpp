#include "pipelines/kernels/model_layout.hpp"
#include "tests/pipelines/model/numeric_gradients.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/value_list.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace graphmill::test {

namespace {

const std::vector all_decoders{decoder_kind::dot,      decoder_kind::cosine,
                               decoder_kind::distmult, decoder_kind::complex,
                               decoder_kind::transe,   decoder_kind::rotate,
                               decoder_kind::bilinear, decoder_kind::mlp};
const std::vector all_link_losses{link_loss::bce, link_loss::margin,
                                  link_loss::bpr, link_loss::softmax,
                                  link_loss::self_adversarial};

definition link_definition(model_kind kind, int hops, decoder_kind decoder) {
  auto def = small_definition(kind, hops);
  def.task = "edges";
  def.decoder.kind = decoder;
  def.model.width = 6;
  return def;
}

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
  const auto decoder = GENERATE(from_range(all_decoders));
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
  const auto decoder = GENERATE(from_range(all_decoders));
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
  const auto kind =
    GENERATE(edge_task_kind::edge_class, edge_task_kind::edge_labels,
             edge_task_kind::edge_value);
  CATCH_INFO("decoder " << int(decoder) << ", task " << int(kind)
                        << ", seed 84");
  std::mt19937_64 random{84};
  auto graph = random_graph(random, small_typed);
  constexpr std::int64_t classes = 3;
  add_task(graph, kind, {0, 1, 3}, classes);
  const auto def = link_definition(model_kind::rgcn, 2, decoder);
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
  check_link_gradients(def, graph, make_edge_batch(graph, def, rows), random);
}

CATCH_TEST_CASE("one number of an edge can have any decoder, others not",
                "[links]") {
  std::mt19937_64 random{89};
  auto graph = random_graph(random, small_typed);
  for (const auto decoder : all_decoders) {
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
  const auto decoder = GENERATE(from_range(all_decoders));
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
  const auto decoder = GENERATE(from_range(all_decoders));
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
  const auto decoder = GENERATE(from_range(all_decoders));
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

CATCH_TEST_CASE("a replica learns a planted graph of links", "[links]") {
  const auto decoder = GENERATE(from_range(all_decoders));
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
