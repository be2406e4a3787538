#include "partition/dataset/inspection/inspect.hpp"
#include "partition/importers/csv/csv.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <fstream>
#include <string>
#include <vector>

namespace graphmill::test::csv_times {

namespace {

using numbers = std::vector<std::int64_t>;
constexpr std::int64_t second = 1'000'000;

struct timed_import {
  csv_import_options options{};
  temp_folder source{};
  temp_folder out{};

  csv_table table(const char* type, const char* name, const std::string& text) {
    std::ofstream{source / name} << text;
    return {type, source / name};
  }
  result<dataset> operator()() {
    GRAPHMILL_TRYV(import_csv(options, out.path()));
    GRAPHMILL_TRY(auto data, dataset::open(out.path()));
    GRAPHMILL_TRY(const auto found, inspect_dataset(data));
    CATCH_CHECK(found.broken == std::vector<std::string>{});
    return data;
  }
};

} // namespace

CATCH_TEST_CASE("a column has the times of edges, also of both directions",
                "[partition][import][csv][times]") {
  timed_import take;
  take.options.edges = {take.table("", "e.csv",
                                   "source,target,when\n"
                                   "a,b,1289241912\n"
                                   "c,b,1289241911.5\n"
                                   "b,a,1289241913\n")};
  take.options.choices = {{csv_role::edge_time, "when"}};
  take.options.reverse = true;
  take.options.changes.task = {
    .split = edge_split_request{.fractions = {0.4, 0.3, 0.3},
                                .order = edge_order::time}};
  const auto data = value_of(take());
  CATCH_CHECK(data.info().edge_types[0].timed);
  CATCH_CHECK(data.info().edge_types[1].timed);
  // Each list has one edge of each level at most.
  CATCH_CHECK(list<std::int64_t>(*data.edges(0).times)
              == numbers{1'289'241'913 * second,
                         1'289'241'911 * second + second / 2,
                         1'289'241'912 * second});
  const auto& task = data.info().tasks.at(0);
  CATCH_CHECK(task.timed);
  const auto& train = data.task(0).splits[0];
  CATCH_REQUIRE(train);
  CATCH_CHECK(list<double>(*train->times).front() == 1'289'241'911 * 1e6 + 5e5);
}

CATCH_TEST_CASE("a column has the times of nodes",
                "[partition][import][csv][times]") {
  timed_import take;
  take.options.nodes = {take.table("paper", "n.csv",
                                   "id,year,label\n"
                                   "a,2001,x\nb,1999,y\nc,2005,x\n")};
  take.options.edges = {take.table("paper__cites__paper", "e.csv",
                                   "source,target\nb,a\na,c\nb,c\n")};
  take.options.choices = {{csv_role::node_time, "year"}};
  take.options.changes.split =
    split_request{.fractions = {0.34, 0.33, 0.33}, .order = split_order::time};
  CATCH_CHECK(has(take().error().message, "--time-unit"));
  take.options.times = time_unit::steps;
  timed_import again{.options = take.options};
  const auto data = value_of(again());
  CATCH_CHECK(data.info().ticks_per_second == 1);
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).times)
              == numbers{2001, 1999, 2005});
  // Edges have the times of their sources.
  CATCH_CHECK(list<std::int64_t>(*data.edges(0).times)
              == numbers{1999, 1999, 2001});
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).splits[0]) == numbers{1});
}

CATCH_TEST_CASE("times of edges that are unclear are bad rows",
                "[partition][import][csv][times]") {
  for (const auto& [text, says] :
       {std::pair{"yesterday", "e.csv:2: the time \"yesterday\" is neither"},
        std::pair{"7", "--time-unit"}}) {
    timed_import take;
    take.options.edges = {take.table(
      "", "e.csv", std::string{"source,target,when\na,b,"} + text + "\n")};
    take.options.choices = {{csv_role::edge_time, "when"}};
    const auto done = take();
    CATCH_REQUIRE_FALSE(done);
    CATCH_INFO(done.error().message);
    CATCH_CHECK(has(done.error().message, says));
  }
}

} // namespace graphmill::test::csv_times
