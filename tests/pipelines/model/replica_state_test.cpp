#include "pipelines/gradients/gradient_set.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <random>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

const toy_options some_typed{
  .nodes = {40, 30}, .widths = {6, 0}, .edges = {{1, 0}, {0, 1}}};

/// A step of these seeds, all on one rank.
void train_step(const toy_graph& graph, const definition& def, replica& model,
                const std::vector<node_id>& seeds) {
  auto batch = make_batch(graph, def, seeds);
  batch.global_seeds = static_cast<std::int64_t>(seeds.size());
  gradient_set gradients;
  value_of(model.compute_gradients(batch, 3, gradients));
  value_of(model.apply(gradients, 0.1));
}

} // namespace

CATCH_TEST_CASE("a state that does not fit changes nothing", "[compute]") {
  std::mt19937_64 random{61};
  const auto graph = random_graph(random, some_typed);
  auto def = small_definition(model_kind::rgcn, 2);
  def.optimizer.kind = optimizer_kind::adam; // Which keeps both moments.
  const auto model = value_of(replica::create(def, graph.info));
  train_step(graph, def, *model, {1, 2, 3});
  model->keep_best();
  train_step(graph, def, *model, {4, 5});
  const auto state = model->state();
  const auto other = value_of(replica::create(def, graph.info));
  train_step(graph, def, *other, {6, 7, 8});
  const auto digest = other->digest();
  const auto name = state.front().name;
  for (const std::string prefix :
       {"", "optimizer.first.", "optimizer.second.", "best."}) {
    CATCH_INFO("without " << prefix << name);
    auto missing = state;
    CATCH_REQUIRE(std::erase_if(missing,
                                [&](const named_tensor& tensor) {
                                  return tensor.name == prefix + name;
                                })
                  == 1);
    const auto failed = error_of(other->restore(missing, 2));
    CATCH_CHECK(failed.code == ec::invalid_data);
    CATCH_CHECK_THAT(failed.message,
                     contains("no tensor " + prefix + name + ";"));
    CATCH_CHECK(other->digest() == digest);
    CATCH_CHECK(other->steps() == 1);
  }
  // With all of it, both go on alike, and go back to the same.
  value_of(other->restore(state, model->steps()));
  CATCH_CHECK(other->steps() == 2);
  CATCH_CHECK(other->digest() == model->digest());
  for (auto* one : {model.get(), other.get()})
    train_step(graph, def, *one, {9, 10});
  CATCH_CHECK(other->digest() == model->digest());
  const auto stepped = model->digest();
  for (auto* one : {model.get(), other.get()})
    one->restore_best();
  CATCH_CHECK(other->digest() == model->digest());
  CATCH_CHECK(model->digest() != stepped);
}

CATCH_TEST_CASE("a step of seeds that weigh nothing teaches nothing",
                "[compute]") {
  const auto smoothing = GENERATE(0.0, 0.2);
  std::mt19937_64 random{62};
  const auto graph = random_graph(random, some_typed);
  auto def = small_definition(model_kind::rgcn, 2);
  def.train.class_weights = {0, 1, 1};
  def.train.label_smoothing = smoothing;
  const auto model = value_of(replica::create(def, graph.info));
  std::vector<node_id> weightless;
  for (std::size_t node = 0; node < graph.labels.size(); ++node)
    if (graph.labels[node] == 0)
      weightless.push_back(static_cast<node_id>(node));
  CATCH_REQUIRE(!weightless.empty());
  const auto start = model->digest();
  train_step(graph, def, *model, weightless);
  CATCH_CHECK(model->digest() == start);
  train_step(graph, def, *model, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CATCH_CHECK(model->digest() != start);
}

} // namespace graphmill::test
