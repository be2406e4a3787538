#include "actors/cluster/coordinator/runs/learnt_view.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/memory_graph.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

namespace graphmill::test {

CATCH_TEST_CASE(
  "a cluster refuses a run whose window is in another unit of time",
  "[cluster]") {
  const temp_folder folder;
  memory_graph plain;
  plain.nodes = {{"n", 2, 1, {0.5F, 1.5F}}};
  plain.edges = {{0, "to", 0, {{1}, {}}}};
  plain.edges[0].times = {{7}, {}};
  const auto graph = whole(plain).graph;
  definition def;
  def.evaluate.predict = true;
  def.sampler.window = 900;
  learnt_from from{.dataset_digest = "of another dataset",
                   .ticks_per_second = 1};
  CATCH_CHECK_THAT(
    error_of(view_by(def, from, graph, folder.path())).message,
    contains("`sampler.window` counts seconds here and steps there"));
  from.ticks_per_second = 1'000'000;
  CATCH_CHECK(value_of(view_by(def, from, graph, folder.path())).graph
              == graph);
}

} // namespace graphmill::test
