#include "partition/partitioners/methods/child_process.hpp"
#include "partition/partitioners/methods/metis.hpp"
#include "tests/partition/partitioners/graphs.hpp"
#include "tests/support/result.hpp"
#include "tests/support/sanitizers.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// Whether this process has no child left, living or dead.
bool is_childless() {
  return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
}

int sleep_forever() {
  for (;;)
    pause();
}

} // namespace

CATCH_TEST_CASE("adjacencies are symmetric and merged", "[partition][metis]") {
  const auto graph = adjacency_of(4, {{2, 0}, {0, 1}, {1, 0}, {2, 3}});
  CATCH_CHECK(graph.begin == std::vector<std::int64_t>{0, 2, 3, 5, 6});
  CATCH_CHECK(graph.vertices == std::vector<std::int32_t>{1, 2, 0, 0, 3, 2});
  CATCH_CHECK(graph.weights == std::vector<std::int32_t>{2, 1, 2, 1, 1, 1});
}

CATCH_TEST_CASE("METIS takes two cliques apart", "[partition][metis]") {
  const auto graph = adjacency_of(60, two_cliques(30));
  const auto loads = loads_of(graph);
  const auto constraints = metis_constraints(loads, 2);
  CATCH_CHECK(constraints == std::vector<int>{0, loads.edge_constraint()});
  const auto found = value_of(
    partition_by_metis(graph, loads, constraints, {.parts = 2, .seed = 5}));
  CATCH_CHECK(cut_of(graph, found.assignment) == 1);
  const auto again = value_of(
    partition_by_metis(graph, loads, constraints, {.parts = 2, .seed = 5}));
  CATCH_CHECK(found.assignment == again.assignment);
  CATCH_CHECK(is_childless());
}

// The address sanitizer hangs when the system refuses it memory.
#ifndef GRAPHMILL_ADDRESS_SANITIZER
CATCH_TEST_CASE("METIS without memory is an error", "[partition][metis]") {
  const auto graph = adjacency_of(50000, path_of(50000));
  const auto loads = loads_of(graph);
  const auto failed =
    error_of(partition_by_metis(graph, loads, metis_constraints(loads, 2),
                                {.parts = 2, .memory_bytes = 1 << 20}));
  CATCH_CHECK(failed.code == ec::out_of_memory);
  CATCH_CHECK(is_childless());
}
#endif

CATCH_TEST_CASE("METIS is killed on request", "[partition][metis]") {
  const auto graph = adjacency_of(5000, path_of(5000));
  const auto loads = loads_of(graph);
  const auto failed = error_of(
    partition_by_metis(graph, loads, metis_constraints(loads, 2),
                       {.parts = 2, .on_wait = [](double) { return false; }}));
  CATCH_CHECK(failed.code == ec::cancelled);
  CATCH_CHECK(is_childless());
}

CATCH_TEST_CASE("a child's work comes back", "[partition][child]") {
  const auto memory = value_of(shared_memory::make(8));
  const auto numbers = memory.as<std::int64_t>();
  const auto done = value_of(run_in_child(
    [&] {
      numbers[0] = 42;
      return 3;
    },
    {.name = "adding"}));
  CATCH_CHECK(done.exit_code == 3);
  CATCH_CHECK(numbers[0] == 42);
}

CATCH_TEST_CASE("a killed child is an error", "[partition][child]") {
  for (auto number : {SIGKILL, SIGSEGV}) {
    const auto failed = error_of(run_in_child(
      sleep_forever, {.name = "sleeping", .on_wait = [&](pid_t pid, double) {
                        kill(pid, number);
                        return true;
                      }}));
    CATCH_INFO(failed.message);
    CATCH_CHECK(failed.message.find("sleeping") == 0);
    CATCH_CHECK(failed.message.find(std::to_string(number))
                != std::string::npos);
    CATCH_CHECK(failed.code
                == (number == SIGKILL ? ec::out_of_memory : ec::internal));
    CATCH_CHECK(is_childless());
  }
}

CATCH_TEST_CASE("what a child throws is an error", "[partition][child]") {
  const auto memory = error_of(run_in_child(
    []() -> int { throw std::bad_alloc{}; }, {.name = "allocating"}));
  CATCH_CHECK(memory.code == ec::out_of_memory);
  const auto other =
    error_of(run_in_child([]() -> int { std::abort(); }, {.name = "aborting"}));
  CATCH_CHECK(other.code == ec::internal);
  CATCH_CHECK(is_childless());
}
