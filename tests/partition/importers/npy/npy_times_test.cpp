#include "partition/dataset/inspection/inspect.hpp"
#include "partition/importers/npy/npy.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace graphmill::test::npy_times {

namespace {

using numbers = std::vector<std::int64_t>;
constexpr std::int64_t second = 1'000'000;

/// Edges 0 to 1, 2 to 1 and 1 to 0.
struct timed_arrays {
  temp_folder source{};
  temp_folder out{};
  npy_import_options options{};

  timed_arrays() {
    put_array<std::int64_t>(source / "edges.npy", {0, 2, 1, 1, 1, 0}, {2, 3});
    options.source = source.path();
    options.name = "d";
    options.edge_times = true;
  }

  result<dataset> operator()() {
    GRAPHMILL_TRYV(import_npy(options, out.path()));
    GRAPHMILL_TRY(auto data, dataset::open(out.path()));
    GRAPHMILL_TRY(const auto found, inspect_dataset(data));
    CATCH_CHECK(found.broken == std::vector<std::string>{});
    return data;
  }

  template <class T>
  void refuses(const std::vector<T>& times, const std::string& said) {
    put_array<T>(source / "edge_time.npy", times);
    temp_folder into;
    const auto refused = import_npy(options, into.path());
    CATCH_REQUIRE(!refused);
    CATCH_CHECK_THAT(refused.error().message, contains(said));
  }
};

} // namespace

CATCH_TEST_CASE("arrays have the times of edges, as columns do",
                "[partition][import][npy][times]") {
  timed_arrays take;
  put_array<double>(take.source / "edge_time.npy",
                    {1289241912, 1289241911.5, 1289241913}, {3, 1});
  take.options.reverse = true;
  take.options.changes.tasks = {
    {.split = edge_split_request{.fractions = {0.4, 0.3, 0.3},
                                 .order = edge_order::time}}};
  const auto data = value_of(take());
  CATCH_CHECK(data.info().edge_types[0].timed);
  CATCH_CHECK(data.info().edge_types[1].timed);
  CATCH_CHECK(data.info().ticks_per_second == second);
  CATCH_CHECK(list<std::int64_t>(*data.edges(0).times)
              == numbers{1'289'241'913 * second,
                         1'289'241'911 * second + second / 2,
                         1'289'241'912 * second});
  const auto& task = data.info().tasks.at(0);
  CATCH_CHECK(task.timed);
  CATCH_CHECK(task.split_counts == std::array<std::int64_t, 3>{1, 1, 1});
}

CATCH_TEST_CASE("arrays have the times of nodes, which edges take",
                "[partition][import][npy][times]") {
  timed_arrays take;
  take.options.edge_times = false;
  take.options.node_times = true;
  take.options.times = time_unit::steps;
  put_array<std::int32_t>(take.source / "time.npy", {7, 5, -3});
  const auto data = value_of(take());
  CATCH_CHECK(data.info().node_types[0].timed);
  CATCH_CHECK(data.info().edge_types[0].timed);
  CATCH_CHECK(data.info().ticks_per_second == 1);
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).times) == numbers{7, 5, -3});
  CATCH_CHECK(list<std::int64_t>(*data.edges(0).times) == numbers{5, -3, 7});
}

CATCH_TEST_CASE("times of arrays that are not clear are refused",
                "[partition][import][npy][times]") {
  timed_arrays take;
  take.refuses<std::int64_t>({1289241912, 1289241912, 2015},
                             "element 2: the time \"2015\" may count seconds");
  take.refuses<std::int64_t>({1289241912, 1289241912000, 1289241912},
                             "is of another form");
  // 1289241912 is none of float32.
  take.refuses<float>({1289241912.0F, 1.0F, 2.0F}, "may have been rounded");
  take.refuses<double>({1289241912.0, NAN, 1289241912.0},
                       "element 1: the time is no finite number");
  take.refuses<double>({1289241912.0, 0.1234567, 1289241912.0},
                       "no whole number of microseconds");
  take.options.times = time_unit::steps;
  take.refuses<double>({0, 1, 0.5}, "has a fraction");
  take.refuses<std::int64_t>({0, 1}, "edge_time.npy");
  take.options.node_times = true;
  take.refuses<std::int64_t>({0, 1, 2}, "there is no time.npy");
  take.options.node_times = false;
  take.options.edge_times = false;
  take.refuses<std::int64_t>({0, 1, 2}, "--time-unit is for --edge-time");
  take.options.times = time_unit::automatic;
  take.refuses<std::int64_t>({0, 1, 2}, "or --edge-time for sampling by time");
  std::filesystem::remove(take.source / "edge_time.npy");
  take.options.edge_times = true;
  temp_folder into;
  const auto refused = import_npy(take.options, into.path());
  CATCH_REQUIRE(!refused);
  CATCH_CHECK_THAT(refused.error().message, contains("there is no edge_time"));
}

} // namespace graphmill::test::npy_times
