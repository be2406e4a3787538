#include "messages/base/moments.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <chrono>
#include <cmath>
#include <set>

namespace graphmill::test {

namespace {

const toy_options typed{.nodes = {40, 30, 20},
                        .widths = {6, 0, 4},
                        .edges = {{1, 0}, {0, 1}, {2, 0}, {0, 0}, {1, 2}},
                        .in_edges = 3};
const toy_options plain{.nodes = {60}, .widths = {6}, .edges = {{0, 0}}};

toy_options options_for(model_kind kind) {
  return traits_of(kind).typed ? typed : plain;
}

/// A step of the seeds, split over ranks at `cuts`.
void step(const toy_graph& graph, const definition& def, replica& model,
          const std::vector<node_id>& seeds, std::vector<std::size_t> cuts,
          std::uint64_t key) {
  gradient_set sum;
  cuts.push_back(seeds.size());
  std::size_t begin = 0;
  for (std::size_t rank = 0; rank < cuts.size(); ++rank) {
    auto batch = make_batch(
      graph, def, {seeds.begin() + begin, seeds.begin() + cuts[rank]});
    batch.data.key.rank = static_cast<rank_id>(rank);
    batch.global_seeds = static_cast<std::int64_t>(seeds.size());
    gradient_set own;
    value_of(model.compute_gradients(batch, key, own));
    if (rank == 0)
      sum = std::move(own);
    else
      add(sum, own);
    begin = cuts[rank];
  }
  value_of(model.apply(sum, 0.1));
}

double distance(const replica& a, const replica& b) {
  double difference = 0;
  double size = 0;
  const auto left = a.parameters();
  const auto right = b.parameters();
  for (std::size_t p = 0; p < left.size(); ++p)
    for (std::size_t i = 0; i < left[p].values.size(); ++i) {
      const double x = left[p].values[i];
      difference += (x - right[p].values[i]) * (x - right[p].values[i]);
      size += x * x;
    }
  return std::sqrt(difference / size);
}

} // namespace

CATCH_TEST_CASE("gradients that backward calls final do not change any more",
                "[compute]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  CATCH_INFO("kind " << int(kind) << ", seed 23");
  std::mt19937_64 random{23};
  const auto graph = random_graph(random, options_for(kind));
  auto def = small_definition(kind, 3);
  def.model.layer_norm = true;
  def.model.residual = true;
  def.model.jumping = GENERATE(false, true);
  const auto model = value_of(replica::create(def, graph.info));
  auto batch = make_batch(graph, def, first_nodes(12));
  batch.global_seeds = 12;
  gradient_set out;
  std::vector<std::pair<std::size_t, std::vector<float>>> reports;
  value_of(model->compute_gradients(batch, 5, out, [&](std::int64_t offset) {
    const auto at = static_cast<std::size_t>(offset);
    reports.push_back({at, {out.dense.begin() + at, out.dense.end()}});
  }));
  CATCH_REQUIRE(reports.size() == 3);
  CATCH_CHECK(reports.front().first > reports[1].first);
  CATCH_CHECK(reports.back().first == 0);
  for (const auto& [at, values] : reports)
    CATCH_CHECK(std::equal(values.begin(), values.end(), out.dense.begin() + at,
                           out.dense.end()));
}

CATCH_TEST_CASE("split seeds give the same weights as one rank with all",
                "[compute]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  const auto cuts = GENERATE(std::vector<std::size_t>{7},
                             std::vector<std::size_t>{3, 3}, // An empty rank.
                             std::vector<std::size_t>{1, 12});
  CATCH_INFO("kind " << int(kind) << ", seed 17");
  std::mt19937_64 random{17};
  const auto graph = random_graph(random, options_for(kind));
  const auto def = small_definition(kind, 2);
  const auto whole = value_of(replica::create(def, graph.info));
  const auto split = value_of(replica::create(def, graph.info));
  CATCH_REQUIRE(whole->digest() == split->digest());
  const auto before = whole->digest();
  for (std::uint64_t s = 0; s < 20; ++s) {
    auto seeds = first_nodes(40);
    std::shuffle(seeds.begin(), seeds.end(), random);
    seeds.resize(13);
    step(graph, def, *whole, seeds, {}, s);
    step(graph, def, *split, seeds, cuts, s);
  }
  CATCH_CHECK(whole->digest() != before);
  CATCH_CHECK(distance(*whole, *split) < 1e-5);
}

CATCH_TEST_CASE("class weights make the mean over a step a weighted one, "
                "however its seeds are split",
                "[compute]") {
  std::mt19937_64 random{19};
  const auto graph = random_graph(random, typed);
  auto def = small_definition(model_kind::rgcn, 2);
  // A class that weighs nothing counts as if its seeds were not there, and a
  // factor for all weights cancels out.
  def.train.class_weights = {0, 5, 5};
  const auto whole = value_of(replica::create(def, graph.info));
  const auto split = value_of(replica::create(def, graph.info));
  def.train.class_weights.clear();
  const auto without = value_of(replica::create(def, graph.info));
  auto all = first_nodes(20);
  std::vector<node_id> others;
  for (auto node : all)
    if (graph.labels[node] != 0)
      others.push_back(node);
  CATCH_REQUIRE(!others.empty());
  CATCH_REQUIRE(others.size() < all.size());
  const auto start = whole->digest();
  for (std::uint64_t s = 0; s < 5; ++s) {
    step(graph, def, *whole, all, {}, s);
    step(graph, def, *split, all, {3, 3, 11}, s);
    step(graph, def, *without, others, {}, s);
  }
  CATCH_CHECK(whole->digest() != start);
  CATCH_CHECK(distance(*whole, *split) < 1e-5);
  CATCH_CHECK(distance(*whole, *without) < 1e-5);
}

CATCH_TEST_CASE("a fault delays steps of training, and changes nothing else",
                "[compute]") {
  std::mt19937_64 random{20};
  const auto graph = random_graph(random, typed);
  auto def = small_definition(model_kind::rgcn, 2);
  const auto quick = value_of(replica::create(def, graph.info));
  def.faults.trainer_delay_ms = 300;
  const auto slow = value_of(replica::create(def, graph.info));
  const auto batch = make_batch(graph, def, {0, 1, 2});
  const auto seconds = [](const auto& job) {
    const auto begun = std::chrono::steady_clock::now();
    job();
    return std::chrono::duration<double>(std::chrono::steady_clock::now()
                                         - begun)
      .count();
  };
  gradient_set one, other;
  value_of(quick->compute_gradients(batch, 1, one));
  CATCH_CHECK(
    seconds([&] { value_of(slow->compute_gradients(batch, 1, other)); })
    >= 0.3);
  value_of(quick->apply(one, 0.1));
  value_of(slow->apply(other, 0.1));
  CATCH_CHECK(quick->digest() == slow->digest());
}

CATCH_TEST_CASE("steps say at which moment they are where that is watched",
                "[compute]") {
  std::mt19937_64 random{20};
  const auto graph = random_graph(random, typed);
  const auto def = small_definition(model_kind::rgcn, 2);
  forget_moments();
  const auto silent = value_of(replica::create(def, graph.info));
  watch_moments();
  const auto watched = value_of(replica::create(def, graph.info));
  auto batch = make_batch(graph, def, {0, 1, 2});
  gradient_set gradients;
  std::vector<std::string> came;
  const auto await = [&came](moment which) {
    await_moment(
      which, [&came, which] { came.emplace_back(to_string(which)); },
      std::chrono::steady_clock::now() + std::chrono::hours{1});
  };
  await(moment::mid_epoch);
  await(moment::evaluation);
  batch.data.key.step = 1;
  value_of(silent->compute_gradients(batch, 1, gradients));
  value_of(silent->evaluate(batch, nullptr));
  batch.data.key.step = 0;
  value_of(watched->compute_gradients(batch, 1, gradients));
  CATCH_CHECK(came.empty()); // The first step of an epoch is not amid it.
  batch.data.key.step = 1;
  value_of(watched->compute_gradients(batch, 1, gradients));
  value_of(watched->evaluate(batch, nullptr));
  CATCH_CHECK(came == std::vector<std::string>{"mid_epoch", "evaluation"});
  forget_moments();
}

CATCH_TEST_CASE("embeddings decay between steps, and all of them are told of",
                "[compute]") {
  std::mt19937_64 random{20};
  const auto graph = random_graph(random, typed);
  auto def = small_definition(model_kind::rgcn, 2);
  def.optimizer.embedding_decay = 2;
  const auto model = value_of(replica::create(def, graph.info));
  const auto table_of = [](const replica& of) {
    for (auto& tensor : of.parameters())
      if (tensor.name == "embedding.b")
        return tensor.values;
    return std::vector<float>{};
  };
  // Steps without seeds touch no row: each multiplies all by 1 - 0.1 * 2.
  auto want = table_of(*model);
  CATCH_REQUIRE(want.size() == 30 * 5);
  for (std::uint64_t s = 0; s < 3; ++s) {
    auto batch = make_batch(graph, def, {});
    gradient_set none;
    value_of(model->compute_gradients(batch, s, none));
    value_of(model->apply(none, 0.1));
    for (auto& x : want)
      x *= static_cast<float>(1 - 0.1 * 2);
    if (s == 1)
      model->keep_best();
  }
  CATCH_CHECK(table_of(*model) == want);
  const auto state = model->state();
  const auto digest = model->digest();
  const auto other = value_of(replica::create(def, graph.info));
  value_of(other->restore(state, model->steps()));
  CATCH_CHECK(other->digest() == digest);
  // Both go on alike, though one had its rows caught up by hand.
  for (const auto seed : {node_id{4}, node_id{9}}) {
    step(graph, def, *model, {seed}, {}, 7);
    step(graph, def, *other, {seed}, {}, 7);
  }
  CATCH_CHECK(other->digest() == model->digest());
  const auto batch = make_batch(graph, def, {1, 2, 3});
  value_of(model->evaluate(batch, nullptr));
  CATCH_CHECK(other->digest() == model->digest());
}

CATCH_TEST_CASE("weights do not depend on threads, and repeat bit for bit",
                "[compute]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  std::mt19937_64 random{23};
  auto options = options_for(kind);
  options.nodes[0] = 3000; // More than one chunk of rows.
  const auto graph = random_graph(random, options);
  auto def = small_definition(kind, 2);
  def.model.dropout = 0.5;
  def.model.layer_norm = true;
  def.model.hidden = 20;
  def.optimizer.kind = optimizer_kind::adam;
  add_attention_options(def);
  std::string digest;
  for (const auto threads : {1u, 1u, 2u, 3u}) {
    def.trainer.threads = threads;
    const auto model = value_of(replica::create(def, graph.info));
    for (std::uint64_t s = 0; s < 3; ++s)
      step(graph, def, *model, first_nodes(2500), {2000}, s);
    if (digest.empty())
      digest = model->digest();
    CATCH_CHECK(model->digest() == digest);
  }
}

CATCH_TEST_CASE("evaluation judges a batch as training does", "[compute]") {
  // Evaluation frees layers while it runs, training keeps them all.
  const auto kind = GENERATE(from_range(all_kinds()));
  const auto hops = GENERATE(1, 2, 3, 4);
  CATCH_INFO("kind " << int(kind) << ", hops " << hops << ", seed 29");
  std::mt19937_64 random{29};
  auto options = options_for(kind);
  options.nodes[0] = 700; // More than one piece of rows.
  const auto graph = random_graph(random, options);
  auto def = small_definition(kind, hops);
  def.model.dropout = 0;
  const auto model = value_of(replica::create(def, graph.info));
  for (const auto seeds : {600, 40, 300}) {
    auto batch = make_batch(graph, def, first_nodes(seeds));
    batch.global_seeds = seeds;
    gradient_set gradients;
    const auto trained =
      value_of(model->compute_gradients(batch, 1, gradients));
    batch_output output;
    const auto judged = value_of(model->evaluate(batch, &output));
    CATCH_CHECK(judged.loss_sum == Approx(trained.loss_sum).epsilon(1e-6));
    CATCH_CHECK(judged.correct == trained.correct);
    CATCH_CHECK(output.predictions.size() == std::size_t(seeds));
    const auto plain_look = value_of(model->evaluate(batch, nullptr));
    CATCH_CHECK(plain_look.loss_sum == judged.loss_sum);
  }
}

CATCH_TEST_CASE("a model learns what its graph tells", "[compute]") {
  // A node's class is that of its only in-neighbour, whose feature tells it.
  const auto kind = GENERATE(from_range(all_kinds()));
  toy_options options{.nodes = {60}, .widths = {3}, .edges = {{0, 0}}};
  options.in_edges = 0;
  std::mt19937_64 random{29};
  auto graph = random_graph(random, options);
  for (node_id i = 0; i < 60; ++i) {
    graph.in_lists[0][i] = {(i + 7) % 60};
    graph.labels[i] = (i + 7) % 60 % 3;
    for (int c = 0; c < 3; ++c)
      graph.features[0][i * 3 + c] = i % 3 == c ? 1.0f : 0.0f;
  }
  auto def = small_definition(kind, 1);
  def.optimizer.kind = optimizer_kind::adamw;
  const auto model = value_of(replica::create(def, graph.info));
  const auto seeds = first_nodes(30);
  for (std::uint64_t s = 0; s < 60; ++s)
    step(graph, def, *model, seeds, {}, s);
  const auto batch = make_batch(graph, def, {40, 41, 42, 43, 44, 45});
  batch_output output;
  const auto metrics = value_of(model->evaluate(batch, &output));
  CATCH_CHECK(metrics.seeds == 6);
  CATCH_CHECK(metrics.accuracy() == 1);
  CATCH_CHECK(output.predictions
              == std::vector<std::int64_t>{2, 0, 1, 2, 0, 1});
  CATCH_CHECK(output.embedding_width == 3); // One layer: the features.
  CATCH_CHECK(output.embeddings.size() == 18);
}

CATCH_TEST_CASE("batches without seeds, labels or edges", "[compute]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  std::mt19937_64 random{31};
  auto graph = random_graph(random, options_for(kind));
  for (auto& lists : graph.in_lists)
    for (auto& list : lists)
      list.clear();
  auto def = small_definition(kind, 2);
  def.model.layer_norm = true;
  add_attention_options(def);
  const auto model = value_of(replica::create(def, graph.info));
  gradient_set gradients;
  auto none = make_batch(graph, def, {});
  none.global_seeds = 5;
  CATCH_CHECK(value_of(model->compute_gradients(none, 1, gradients)).seeds
              == 0);
  for (auto g : gradients.dense)
    CATCH_REQUIRE(g == 0);
  CATCH_CHECK(value_of(model->evaluate(none, nullptr)).seeds == 0);
  const auto isolated = make_batch(graph, def, {3, 4});
  value_of(model->compute_gradients(isolated, 1, gradients));
  for (auto g : gradients.dense)
    CATCH_REQUIRE(std::isfinite(g));
  auto unlabelled = make_batch(graph, def, {3, 4, 5});
  unlabelled.data.labels[0] = -1;
  unlabelled.global_seeds = 2;
  const auto metrics =
    value_of(model->compute_gradients(unlabelled, 1, gradients));
  CATCH_CHECK(metrics.seeds == 2);
  auto wrong = make_batch(graph, def, {3});
  wrong.data.labels[0] = 3;
  CATCH_CHECK(error_of(model->compute_gradients(wrong, 1, gradients)).code
              == ec::invalid_data);
}

CATCH_TEST_CASE("parameters can be kept, saved and loaded", "[compute]") {
  std::mt19937_64 random{37};
  const auto graph = random_graph(random, typed);
  const auto def = small_definition(model_kind::rgcn, 2);
  const auto model = value_of(replica::create(def, graph.info));
  const auto start = model->digest();
  const auto saved = model->parameters();
  std::int64_t count = 0;
  for (const auto& tensor : saved)
    count += static_cast<std::int64_t>(tensor.values.size());
  CATCH_CHECK(count == model->parameter_count());
  model->restore_best(); // Nothing was kept: nothing happens.
  CATCH_CHECK(model->digest() == start);
  model->keep_best();
  step(graph, def, *model, {1, 2, 3}, {}, 0);
  const auto stepped = model->digest();
  CATCH_CHECK(stepped != start);
  model->restore_best();
  CATCH_CHECK(model->digest() == start);

  auto missing = saved;
  missing.erase(missing.begin());
  CATCH_CHECK(error_of(model->load(missing)).message.find(saved[0].name)
              != std::string::npos);
  auto reshaped = saved;
  reshaped.back().shape.push_back(1);
  reshaped.front().values.front() += 1;
  CATCH_CHECK(error_of(model->load(reshaped)).code == ec::invalid_data);
  CATCH_CHECK(model->digest() == start); // All or nothing.
  auto other = def;
  other.seed = 8;
  const auto second = value_of(replica::create(other, graph.info));
  CATCH_CHECK(second->digest() != start);
  value_of(second->load(saved));
  CATCH_CHECK(second->digest() == start);
}

CATCH_TEST_CASE("definitions that fit no model are refused", "[compute]") {
  std::mt19937_64 random{41};
  const auto graph = random_graph(random, plain);
  auto def = small_definition(model_kind::gat, 2);
  def.model.heads = 3;
  CATCH_CHECK_THAT(error_of(replica::create(def, graph.info)).message,
                   contains("a multiple of model.heads (3)"));
  CATCH_CHECK_THAT(
    error_of(
      replica::create(small_definition(model_kind::sage, 65), graph.info))
      .message,
    contains("65 layers"));
}

CATCH_TEST_CASE("weights of attention have masks of their own in any number of "
                "relations",
                "[compute]") {
  std::set<std::pair<std::uint64_t, std::uint32_t>> seen;
  for (int layer = 0; layer < 64; ++layer)
    for (int relation = 0; relation < 600; ++relation) {
      const auto drop = edge_dropout(5, layer, relation, 3, 9);
      CATCH_CHECK(drop.threshold == 9);
      if (relation < 256)
        CATCH_CHECK(drop.key == 5);
      seen.emplace(drop.key, drop.stream);
    }
  CATCH_CHECK(seen.size() == 64 * 600);
}

CATCH_TEST_CASE("a batch that does not fit its model is an error, no crash",
                "[compute]") {
  std::mt19937_64 random{43};
  const auto graph = random_graph(random, plain);
  const auto def = small_definition(model_kind::gat, 2);
  const auto model = value_of(replica::create(def, graph.info));
  gradient_set gradients;
  const auto refused = [&](auto spoil) {
    auto batch = make_batch(graph, def, {1, 2});
    spoil(batch);
    CATCH_CHECK(error_of(model->compute_gradients(batch, 1, gradients)).code
                == ec::internal);
  };
  refused([](minibatch& b) { b.relations.clear(); });
  refused([](minibatch& b) { b.data.features[0].resize(3); });
  refused([](minibatch& b) { b.data.labels.clear(); });
  refused([](minibatch& b) { b.data.graph.hops = 3; });
  refused([](minibatch& b) { b.relations[0].transposed.clear(); });
  refused([](minibatch& b) { b.global_seeds = 0; });
  gradients.dense.resize(3);
  CATCH_CHECK(error_of(model->apply(gradients, 1)).code == ec::internal);
}

} // namespace graphmill::test
