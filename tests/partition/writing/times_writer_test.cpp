#include "partition/dataset/data_records.hpp"
#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace graphmill::test::written_times {

namespace {

namespace fs = std::filesystem;
using numbers = std::vector<std::int64_t>;

template <class T>
std::vector<T> elements(const npy_array& array) {
  const auto values = value_of(array.as<T>());
  return {values.begin(), values.end()};
}

const numbers from{0, 1, 0, 2, 3, 0, 4};
const numbers to{1, 0, 1, 1, 1, 2, 0};
const numbers when{50, 7, 20, 20, 10, -3, 5};

dataset_info four_people() {
  dataset_info info;
  info.name = "people";
  info.node_types = {{.name = "person", .count = 5}};
  info.edge_types = {
    {.source = 0, .name = "likes", .destination = 0, .timed = true}};
  return info;
}

edge_task_info links() {
  edge_task_info out;
  out.name = "links";
  out.edge_types = {0};
  out.reverse_types = {std::nullopt};
  return out;
}

/// The edges with these numbers, split by split.
task_splitter by_number(std::array<std::vector<edge_id>, 3> wanted) {
  return [wanted](std::span<const task_edge> edges) -> result<task_rows> {
    task_rows out;
    for (std::size_t s = 0; s < 3; ++s)
      for (const auto number : wanted[s])
        out[s].push_back(static_cast<std::size_t>(
          std::ranges::find(edges, number, &task_edge::given) - edges.begin()));
    return out;
  };
}

result<dataset_info> write(const fs::path& folder, dataset_info info,
                           std::span<const std::int64_t> times,
                           edge_rules rules = {}) {
  const auto task = !info.tasks.empty();
  GRAPHMILL_TRY(auto writer, dataset_writer::create(folder, std::move(info),
                                                    {.edges = {rules}}));
  GRAPHMILL_TRYV(writer.append_edges(0, from, to));
  if (!times.empty())
    GRAPHMILL_TRYV(writer.append_edge_times(0, times));
  if (task)
    GRAPHMILL_TRYV(
      writer.set_task(0, {.choose = by_number({{{0, 2, 5}, {3}, {4, 6}}})}));
  return writer.finish();
}

} // namespace

CATCH_TEST_CASE("lists are sorted by time, stably",
                "[partition][writing][times]") {
  temp_folder folder;
  const auto info = value_of(write(folder.path(), four_people(), when));
  CATCH_CHECK(format_version_of(info) == 7);
  const auto data = value_of(dataset::open(folder.path()));
  CATCH_CHECK(data.info().edge_types[0].timed);
  CATCH_CHECK(data.info().ticks_per_second == 1'000'000);
  // Node 0 hears 4 and 1, node 1 hears 3, 0, 2 and 0, node 2 hears 0.
  CATCH_CHECK(elements<std::int32_t>(data.edges(0).indices)
              == std::vector<std::int32_t>{4, 1, 3, 0, 2, 0, 0});
  CATCH_REQUIRE(data.edges(0).times);
  CATCH_CHECK(elements<std::int64_t>(*data.edges(0).times)
              == numbers{5, 7, 10, 20, 20, 50, -3});
  CATCH_CHECK_FALSE(data.edges(0).visible);
  CATCH_CHECK(value_of(inspect_dataset(data)).broken.empty());
}

CATCH_TEST_CASE("lists are sorted by level first, and rows have the times",
                "[partition][writing][times]") {
  temp_folder folder;
  auto wanted = four_people();
  wanted.tasks = {links()};
  const auto info = value_of(write(folder.path(), wanted, when));
  const auto data = value_of(dataset::open(folder.path()));
  // Edge 3 is of level 1, edges 4 and 6 of level 2.
  CATCH_CHECK(elements<std::int32_t>(data.edges(0).indices)
              == std::vector<std::int32_t>{1, 4, 0, 0, 2, 3, 0});
  CATCH_CHECK(elements<std::int64_t>(*data.edges(0).times)
              == numbers{7, 5, 20, 50, 20, 10, -3});
  const auto task = value_of(open_task(folder.path(), info, "links"));
  CATCH_CHECK(info.tasks[0].timed);
  CATCH_CHECK(elements<double>(*task.splits[0]->times)
              == std::vector<double>{50, 20, -3});
  CATCH_CHECK(elements<std::int64_t>(task.splits[0]->ids) == numbers{3, 2, 6});
  CATCH_CHECK(elements<double>(*task.splits[2]->times)
              == std::vector<double>{10, 5});
  CATCH_CHECK(value_of(inspect_dataset(data)).broken.empty());
}

CATCH_TEST_CASE("both directions of an edge have its time",
                "[partition][writing][times]") {
  temp_folder lossy;
  const edge_rules once{.both_ways = true, .duplicates = duplicate_edges::drop};
  const auto lost = write(lossy.path(), four_people(), when, once);
  CATCH_REQUIRE_FALSE(lost);
  CATCH_CHECK(has(lost.error().message, "take --reverse"));
  temp_folder folder;
  auto writer = value_of(
    dataset_writer::create(folder.path(), four_people(), {.edges = {once}}));
  value_of(
    writer.append_edges(0, numbers{0, 2, 3, 0, 4}, numbers{1, 1, 1, 2, 0}));
  value_of(writer.append_edge_times(0, numbers{50, 20, 10, -3, 5}));
  value_of(writer.finish());
  const auto data = value_of(dataset::open(folder.path()));
  const auto begin = elements<std::int64_t>(data.edges(0).indptr);
  const auto sources = elements<std::int32_t>(data.edges(0).indices);
  const auto times = elements<std::int64_t>(*data.edges(0).times);
  const auto lists = [&](std::size_t node) {
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    for (auto i = begin[node]; i < begin[node + 1]; ++i)
      out.emplace_back(sources[static_cast<std::size_t>(i)],
                       times[static_cast<std::size_t>(i)]);
    return out;
  };
  using pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  CATCH_CHECK(lists(0) == pairs{{2, -3}, {4, 5}, {1, 50}});
  CATCH_CHECK(lists(1) == pairs{{3, 10}, {2, 20}, {0, 50}});
  CATCH_CHECK(lists(4) == pairs{{0, 5}});
}

CATCH_TEST_CASE("a reverse edge is held out with the edge of its time alone",
                "[partition][writing][times]") {
  temp_folder folder;
  auto info = four_people();
  info.edge_types.push_back(
    {.source = 0, .name = "rev_likes", .destination = 0, .timed = true});
  info.tasks = {links()};
  info.tasks[0].reverse_types = {edge_type_id{1}};
  auto writer = value_of(dataset_writer::create(folder.path(), info, {}));
  // Node 0 likes node 1 at 5, 8 and 9; what was at 9 is of the test.
  const numbers ones{1, 1, 1};
  const numbers zeros{0, 0, 0};
  const numbers then{9, 5, 8};
  value_of(writer.append_edges(0, zeros, ones));
  value_of(writer.append_edge_times(0, then));
  value_of(writer.append_edges(1, ones, zeros));
  value_of(writer.append_edge_times(1, then));
  value_of(writer.set_task(0, {.choose = by_number({{{1}, {2}, {0}}})}));
  value_of(writer.finish());
  const auto data = value_of(dataset::open(folder.path()));
  CATCH_CHECK(elements<std::int64_t>(*data.edges(1).times) == numbers{5, 8, 9});
  CATCH_REQUIRE(data.edges(1).visible);
  CATCH_CHECK(elements<std::int32_t>(*data.edges(1).visible)
              == std::vector<std::int32_t>{1, 2, 0, 0, 0, 0, 0, 0, 0, 0});
}

CATCH_TEST_CASE("edges without times have those of their sources",
                "[partition][writing][times]") {
  temp_folder folder;
  auto info = four_people();
  info.edge_types[0].timed = false;
  info.node_types[0].timed = true;
  auto writer = value_of(dataset_writer::create(folder.path(), info, {}));
  value_of(writer.set_times(0, numbers{100, 50, 70, 20, 90}));
  value_of(writer.append_edges(0, from, to));
  CATCH_CHECK_FALSE(writer.append_edge_times(0, when));
  value_of(writer.finish());
  const auto data = value_of(dataset::open(folder.path()));
  CATCH_CHECK(elements<std::int64_t>(*data.nodes(0).times)
              == numbers{100, 50, 70, 20, 90});
  CATCH_CHECK(elements<std::int32_t>(data.edges(0).indices)
              == std::vector<std::int32_t>{1, 4, 3, 2, 0, 0, 0});
  CATCH_CHECK(elements<std::int64_t>(*data.edges(0).times)
              == numbers{50, 90, 20, 70, 100, 100, 100});
}

CATCH_TEST_CASE("the digest covers times, and is as before without them",
                "[partition][writing][times]") {
  const auto digest_of = [](const dataset_info& info, const numbers& times) {
    temp_folder folder;
    return value_of(write(folder.path(), info, times)).digest;
  };
  auto plain = four_people();
  plain.edge_types[0].timed = false;
  CATCH_CHECK(digest_of(plain, {}) == "0baf806b33c849fc7dcfe2c179aca2be");
  const auto timed = four_people();
  const auto first = digest_of(timed, when);
  CATCH_CHECK(first != digest_of(plain, {}));
  auto later = when;
  later[0] = 51;
  CATCH_CHECK(first != digest_of(timed, later));
  auto steps = timed;
  steps.ticks_per_second = 1;
  CATCH_CHECK(first != digest_of(steps, when));
  temp_folder folder;
  value_of(write(folder.path(), steps, when));
  CATCH_CHECK(value_of(dataset::open(folder.path())).info().ticks_per_second
              == 1);
}

CATCH_TEST_CASE("times that are missing, damaged or twice are refused",
                "[partition][writing][times]") {
  temp_folder first;
  CATCH_CHECK_FALSE(write(first.path(), four_people(), {}));
  temp_folder second;
  auto info = four_people();
  info.tasks = {links()};
  info.tasks[0].timed = true;
  auto writer = value_of(dataset_writer::create(second.path(), info, {}));
  value_of(writer.append_edges(0, from, to));
  value_of(writer.append_edge_times(0, when));
  value_of(writer.set_task(
    0, {.choose = by_number({{{0}, {}, {}}}),
        .times = {std::vector<double>(when.begin(), when.end())}}));
  const auto done = writer.finish();
  CATCH_REQUIRE_FALSE(done);
  CATCH_CHECK(has(done.error().message, "leave out the times of rows"));
  temp_folder third;
  value_of(write(third.path(), four_people(), when));
  const auto path = third.path() / "edges/person__likes__person/times.npy";
  value_of(write_npy<std::int64_t>(path, numbers{5, 7, 10, 30, 20, 50, -3}));
  const auto found =
    value_of(inspect_dataset(value_of(dataset::open(third.path()))));
  CATCH_CHECK(std::ranges::any_of(found.broken, [](const std::string& text) {
    return has(text, "the in-edges of node 1 do not ascend within level 0");
  }));
}

} // namespace graphmill::test::written_times
