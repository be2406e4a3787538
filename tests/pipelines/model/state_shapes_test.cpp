#include "pipelines/model/state_shapes.hpp"

#include "tests/pipelines/model/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

std::vector<tensor_shape> shapes_of(const replica& model) {
  std::vector<tensor_shape> out;
  for (const auto& tensor : model.state())
    out.push_back({tensor.name, tensor.shape});
  return out;
}

} // namespace

CATCH_TEST_CASE("the shapes of a state are known without one", "[model]") {
  std::mt19937_64 random{5};
  const auto graph = random_graph(random, {.nodes = {40, 30},
                                           .widths = {6, 0}, // 0: a table.
                                           .edges = {{1, 0}, {0, 1}},
                                           .in_edges = 3});
  for (const auto kind : {optimizer_kind::adam, optimizer_kind::sgd}) {
    auto def = small_definition(model_kind::rgcn, 3);
    def.optimizer.kind = kind;
    const auto model = value_of(replica::create(def, graph.info));
    const auto plain = shapes_of(*model);
    CATCH_CHECK(check_state(def, graph.info, plain));
    model->keep_best();
    auto best = shapes_of(*model);
    CATCH_CHECK(best.size() > plain.size());
    CATCH_CHECK(check_state(def, graph.info, best));
    std::uint64_t values = 0;
    for (const auto& one : best)
      values += one.size();
    CATCH_CHECK(most_state_values(def, graph.info) == values);
    auto wide = plain;
    wide.front().shape.front() = 1'000'000'000'000;
    CATCH_CHECK(error_of(check_state(def, graph.info, wide)).code
                == ec::invalid_data);
    auto named = plain;
    named.back().name = "w";
    CATCH_CHECK_FALSE(check_state(def, graph.info, named));
    best.pop_back(); // Some of the best ones alone are none.
    CATCH_CHECK_FALSE(check_state(def, graph.info, best));
    CATCH_CHECK_FALSE(check_state(def, graph.info, {}));
  }
}

} // namespace graphmill::test
