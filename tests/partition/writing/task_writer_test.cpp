#include "partition/dataset/data_records.hpp"
#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/dataset/verification/verification.hpp"
#include "partition/files/file_io.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

template <class T>
std::vector<T> elements_of(const npy_array& array) {
  const auto values = value_of(array.as<T>());
  return {values.begin(), values.end()};
}

using id_list = std::vector<std::int64_t>;

dataset_info five_people() {
  dataset_info info;
  info.name = "people";
  info.node_types = {{.name = "person", .count = 5}};
  info.edge_types = {{.source = 0, .name = "likes", .destination = 0}};
  return info;
}

/// Rows by the numbers of edges.
task_splitter numbered(std::array<std::vector<edge_id>, 3> wanted) {
  return [wanted](std::span<const task_edge> edges) -> result<task_rows> {
    task_rows out;
    for (std::size_t s = 0; s < wanted.size(); ++s)
      for (const auto number : wanted[s]) {
        const auto at = std::ranges::find(edges, number, &task_edge::given);
        out[s].push_back(static_cast<std::size_t>(at - edges.begin()));
      }
    return out;
  };
}

const id_list some_sources{0, 1, 0, 2, 3, 0, 4};
const id_list some_destinations{1, 0, 1, 1, 1, 2, 0};

/// Seven edges: the first and the third are of one pair, of which the second is
/// the other way round.
result<dataset_info> write_links(const fs::path& folder,
                                 std::array<std::vector<edge_id>, 3> splits,
                                 bool symmetric) {
  auto info = five_people();
  auto& task = info.tasks.emplace_back();
  task.name = "likes";
  task.edge_types = {0};
  task.reverse_types = {symmetric ? std::optional<edge_type_id>{0}
                                  : std::nullopt};
  GRAPHMILL_TRY(auto writer, dataset_writer::create(folder, info, {}));
  GRAPHMILL_TRYV(writer.append_edges(0, some_sources, some_destinations));
  GRAPHMILL_TRYV(writer.set_task(0, {.choose = numbered(std::move(splits))}));
  return writer.finish();
}

std::vector<id_list> lists_of(const npy_array& indptr, const npy_array& of) {
  const auto ends = elements_of<std::int64_t>(indptr);
  const auto values = elements_of<std::int64_t>(of);
  std::vector<id_list> out;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i)
    out.emplace_back(values.begin() + ends[i], values.begin() + ends[i + 1]);
  return out;
}

} // namespace

CATCH_TEST_CASE("a task of links on paper", "[partition][tasks]") {
  temp_folder folder;
  // Node 1 hears 0, 0, 2 and 3; 3 -> 1 is of the test split, 2 -> 1 of the
  // validation split.
  const auto info =
    value_of(write_links(folder.path(), {{{0, 2, 5}, {3}, {4, 6}}}, false));
  CATCH_CHECK(format_version_of(info) == 6);
  CATCH_CHECK(info.tasks[0].split_counts
              == std::array<std::int64_t, 3>{3, 1, 2});
  const auto data = value_of(dataset::open(folder.path()));
  const auto& edges = data.edges(0);
  CATCH_CHECK(elements_of<std::int32_t>(edges.indices)
              == std::vector<std::int32_t>{1, 4, 0, 0, 2, 3, 0});
  CATCH_REQUIRE(edges.visible);
  CATCH_CHECK(elements_of<std::int32_t>(*edges.visible)
              == std::vector<std::int32_t>{1, 1, 2, 3, 1, 1, 0, 0, 0, 0});
  const auto task = value_of(open_task(folder.path(), data.info(), "likes"));
  const auto& train = *task.splits[0];
  CATCH_CHECK(elements_of<std::int64_t>(train.edges)
              == id_list{0, 1, 0, 1, 0, 2});
  CATCH_CHECK(elements_of<std::int64_t>(train.ids) == id_list{2, 3, 6});
  CATCH_CHECK_FALSE(train.types);
  CATCH_CHECK_FALSE(train.known);
  CATCH_REQUIRE(train.exclude);
  CATCH_CHECK(elements_of<std::int64_t>(train.exclude->rows)
              == id_list{0, 0, 1});
  // 1 -> 0 is edge 0, which goes back in the same type.
  CATCH_CHECK(lists_of(train.exclude->indptr, train.exclude->ids)
              == std::vector<id_list>{{2, 3, 0}, {6}});
  CATCH_CHECK(elements_of<std::uint8_t>(train.exclude->ends)
              == std::vector<std::uint8_t>{0, 0, 1, 0});
  const auto& test = *task.splits[2];
  CATCH_CHECK(elements_of<std::int64_t>(test.edges) == id_list{3, 1, 4, 0});
  CATCH_CHECK(elements_of<std::int64_t>(test.ids) == id_list{5, 1});
  CATCH_CHECK_FALSE(test.exclude);
  CATCH_REQUIRE(test.known);
  const auto known = lists_of(test.known->indptr, test.known->ids);
  const auto rows = elements_of<std::int64_t>(test.known->rows);
  const auto known_of = [&](std::size_t row, std::size_t end) {
    return known[static_cast<std::size_t>(rows[2 * row + end])];
  };
  CATCH_CHECK(known_of(0, 0) == id_list{1});       // of 3
  CATCH_CHECK(known_of(0, 1) == id_list{0, 2, 3}); // to 1
  CATCH_CHECK(known_of(1, 0) == id_list{0});
  CATCH_CHECK(known_of(1, 1) == id_list{1, 4});
}

CATCH_TEST_CASE("the other direction of a held-out pair is hidden, too, and "
                "that of a training pair is excluded",
                "[partition][tasks]") {
  temp_folder folder;
  value_of(write_links(folder.path(), {{{5, 2}, {0}, {}}}, true));
  const auto data = value_of(dataset::open(folder.path()));
  // 0 -> 1 is of the validation split, and so 1 -> 0 is hidden. The other edge
  // 0 -> 1, which trains, hears nothing of it, either: it is its own reverse's.
  CATCH_CHECK(elements_of<std::int32_t>(*data.edges(0).visible)
              == std::vector<std::int32_t>{1, 2, 3, 4, 1, 1, 0, 0, 0, 0});
  CATCH_CHECK(elements_of<std::int32_t>(data.edges(0).indices)
              == std::vector<std::int32_t>{4, 1, 0, 2, 3, 0, 0});
  temp_folder both;
  value_of(write_links(both.path(), {{{0, 1, 2}, {5}, {}}}, true));
  const auto task = value_of(open_task(
    both.path(), value_of(dataset::open(both.path())).info(), "likes"));
  const auto& lists = *task.splits[0]->exclude;
  CATCH_CHECK(elements_of<std::int64_t>(lists.rows) == id_list{0, 1, 0});
  // 1 -> 0 is edge 0; both 0 -> 1 are edges 2 and 3.
  CATCH_CHECK(lists_of(lists.indptr, lists.ids)
              == std::vector<id_list>{{2, 3, 0}, {0, 2, 3}});
  CATCH_CHECK(elements_of<std::uint8_t>(lists.ends)
              == std::vector<std::uint8_t>{0, 0, 1, 0, 1, 1});
}

CATCH_TEST_CASE("labels, times, weights and negatives follow their rows",
                "[partition][tasks]") {
  temp_folder folder;
  auto info = five_people();
  info.tasks = {
    {.name = "price",
     .kind = edge_task_kind::edge_value,
     .edge_types = {0},
     .reverse_types = {std::nullopt},
     .class_count = 1,
     .timed = true,
     .weighted = true},
    {.name = "next", .edge_types = {0}, .reverse_types = {std::nullopt}}};
  auto writer = value_of(dataset_writer::create(folder.path(), info, {}));
  value_of(writer.append_edges(0, some_sources, some_destinations));
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values{1, 2, 3, nan, 5, 6, 7};
  std::vector<std::uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  std::vector<std::size_t> asked;
  value_of(writer.set_task(
    0,
    {.choose = [&asked](std::span<const task_edge> edges) -> result<task_rows> {
       for (const auto& edge : edges)
         asked.push_back(static_cast<std::size_t>(edge.given));
       return task_rows{std::vector<std::size_t>{5, 0}, {}, {1}};
     },
     .labels = {bytes},
     .times = {{10, 20, 30, 40, 50, 60, 70}},
     .weights = {{1, 1, 1, 1, 1, 1, 0.5f}}}));
  const id_list negatives{3, 4};
  value_of(writer.set_task(
    1, {.choose = numbered({{{0}, {}, {5}}}),
        .negatives = [&negatives](split which, const task_edge&) {
          return which == split::test ? std::span<const node_id>{negatives}
                                      : std::span<const node_id>{};
        }}));
  value_of(writer.finish());
  CATCH_CHECK(asked == std::vector<std::size_t>{0, 1, 2, 4, 5, 6});
  const auto data = value_of(dataset::open(folder.path()));
  const auto price = value_of(open_task(folder.path(), data.info(), "price"));
  CATCH_CHECK(elements_of<std::int64_t>(price.splits[0]->edges)
              == id_list{4, 0, 0, 1});
  CATCH_CHECK(elements_of<float>(*price.splits[0]->labels)
              == std::vector<float>{7, 1});
  CATCH_CHECK(elements_of<double>(*price.splits[0]->times)
              == std::vector<double>{70, 10});
  CATCH_CHECK(elements_of<float>(*price.splits[0]->weights)
              == std::vector<float>{0.5f, 1});
  CATCH_CHECK_FALSE(price.splits[1]);
  CATCH_CHECK(elements_of<float>(*price.splits[2]->labels)
              == std::vector<float>{2});
  const auto next = value_of(open_task(folder.path(), data.info(), "next"));
  CATCH_CHECK(elements_of<std::int64_t>(*next.splits[2]->negatives)
              == negatives);
  CATCH_CHECK_FALSE(next.splits[0]->negatives);
  // The edge 0 -> 2 is held out by one task, 1 -> 0 by the other.
  CATCH_CHECK(elements_of<std::int32_t>(*data.edges(0).visible)
              == std::vector<std::int32_t>{1, 1, 4, 4, 0, 0, 0, 0, 0, 0});
  const std::vector<float> unknown{nan};
  value_of(write_npy_bytes(folder / "tasks/price/test.labels.npy",
                           dtype::float32, {1, 1},
                           std::as_bytes(std::span{unknown})));
  CATCH_CHECK(
    has(error_of(open_task(folder.path(), data.info(), "price")).message,
        "1 rows have no label, and 0 of the test split may lack one"));
}

CATCH_TEST_CASE(
  "edges without a label stay in the test split that a source says",
  "[partition][tasks]") {
  temp_folder folder;
  auto info = five_people();
  info.tasks = {{.name = "sign",
                 .kind = edge_task_kind::edge_class,
                 .edge_types = {0},
                 .reverse_types = {std::nullopt},
                 .class_count = 2}};
  auto writer = value_of(dataset_writer::create(folder.path(), info, {}));
  value_of(writer.append_edges(0, some_sources, some_destinations));
  const std::vector<std::int64_t> classes{1, -1, 0, -1, -1, 1, -1};
  std::vector<std::uint8_t> bytes(classes.size() * sizeof(classes[0]));
  std::memcpy(bytes.data(), classes.data(), bytes.size());
  value_of(writer.set_task(0, {.choose = numbered({{{0, 1}, {2, 3}, {4, 5}}}),
                               .says_splits = true,
                               .labels = {bytes}}));
  const auto written = value_of(writer.finish());
  CATCH_CHECK(written.tasks[0].split_counts
              == std::array<std::int64_t, 3>{1, 1, 2});
  CATCH_CHECK(written.tasks[0].unlabelled == 1);
  CATCH_CHECK(writer.unlabelled().at(0).of_splits
              == std::array<std::int64_t, 3>{1, 1, 0});
  CATCH_CHECK(writer.unlabelled().at(0).others == 0);
  const auto data = value_of(dataset::open(folder.path()));
  CATCH_CHECK(data.info().tasks[0].unlabelled == 1);
  const auto rows = value_of(open_task(folder.path(), data.info(), "sign"));
  CATCH_CHECK(elements_of<std::int64_t>(*rows.splits[2]->labels)
              == std::vector<std::int64_t>{-1, 1});
}

namespace {

/// An edge type's edges by their ends, and the levels of its edges.
using edge_set = std::multiset<std::tuple<node_id, node_id>>;

} // namespace

CATCH_TEST_CASE("rows are edges, held-out edges and their reverses are hidden, "
                "and exclusions are all visible edges of a pair",
                "[partition][tasks]") {
  const auto seed = GENERATE(range(0, 40));
  CATCH_INFO("seed " << seed);
  std::mt19937_64 random{static_cast<std::uint64_t>(seed)};
  const auto users = static_cast<node_id>(2 + random() % 12);
  const auto items = static_cast<node_id>(1 + random() % 9);
  dataset_info info;
  info.name = "shop";
  info.node_types = {{.name = "user", .count = users},
                     {.name = "item", .count = items}};
  info.edge_types = {{.source = 0, .name = "buys", .destination = 1},
                     {.source = 1, .name = "rev_buys", .destination = 0},
                     {.source = 0, .name = "sees", .destination = 1}};
  info.edge_types[0].weighted = info.edge_types[1].weighted = true;
  info.tasks = {{.name = "buys",
                 .edge_types = {0, 2},
                 .reverse_types = {edge_type_id{1}, std::nullopt}}};
  const auto drop = random() % 2 == 0;
  edge_rules once{.duplicates =
                    drop ? duplicate_edges::drop : duplicate_edges::keep};
  temp_folder folder;
  auto writer = value_of(
    dataset_writer::create(folder.path(), info, {.edges = {once, once, once}}));
  std::array<edge_set, 3> given;
  for (const edge_type_id type : {0, 2}) {
    id_list from;
    id_list to;
    std::vector<float> weights;
    for (std::uint64_t i = 0; i < 60; ++i) {
      from.push_back(static_cast<node_id>(random() % users));
      to.push_back(static_cast<node_id>(random() % items));
      weights.push_back(static_cast<float>(random() % 50) / 7);
      given[static_cast<std::size_t>(type)].emplace(from.back(), to.back());
      if (type == 0)
        given[1].emplace(to.back(), from.back());
    }
    if (type == 2)
      weights.clear();
    value_of(writer.append_edges(type, from, to, weights));
    if (type == 0)
      value_of(writer.append_edges(1, to, from, weights));
  }
  std::map<std::tuple<edge_type_id, node_id, node_id>, int> held;
  std::size_t candidates = 0;
  value_of(writer.set_task(
    0, {.choose = [&](std::span<const task_edge> edges) -> result<task_rows> {
      candidates = edges.size();
      task_rows out;
      for (std::size_t i = 0; i < edges.size(); ++i) {
        const auto s = random() % 4;
        if (s == 3)
          continue;
        out[s].push_back(i);
        const auto& edge = edges[i];
        const auto type = edge.type == 0 ? 0 : 2;
        auto& level = held[{type, edge.source, edge.destination}];
        level = std::max(level, static_cast<int>(s));
      }
      return out;
    }}));
  const auto written = value_of(writer.finish());
  CATCH_CHECK(std::cmp_equal(candidates, written.edge_types[0].count
                                           + written.edge_types[2].count));
  const auto data = value_of(dataset::open(folder.path()));
  const auto task = value_of(open_task(folder.path(), data.info(), "buys"));
  std::array<std::vector<node_id>, 3> source;
  std::array<std::vector<node_id>, 3> destination;
  std::array<std::vector<int>, 3> level; // By edge.
  for (edge_type_id e = 0; e < 3; ++e) {
    const auto& arrays = data.edges(e);
    const auto begin = elements_of<std::int64_t>(arrays.indptr);
    const auto visible = elements_of<std::int32_t>(*arrays.visible);
    const auto sources = elements_of<std::int32_t>(arrays.indices);
    edge_set stored;
    for (std::size_t d = 0; d + 1 < begin.size(); ++d)
      for (auto at = begin[d]; at < begin[d + 1]; ++at) {
        source[e].push_back(sources[static_cast<std::size_t>(at)]);
        destination[e].push_back(static_cast<node_id>(d));
        level[e].push_back(at - begin[d] < visible[2 * d]       ? 0
                           : at - begin[d] < visible[2 * d + 1] ? 1
                                                                : 2);
        stored.emplace(source[e].back(), static_cast<node_id>(d));
      }
    if (!drop)
      CATCH_CHECK(stored == given[e]);
  }
  // The reverse of a held-out link is hidden as deeply as any edge of its pair.
  for (std::size_t e = 0; e < source[1].size(); ++e) {
    const auto at = held.find({0, destination[1][e], source[1][e]});
    CATCH_CHECK(level[1][e] == (at == held.end() ? 0 : at->second));
  }
  std::set<std::pair<edge_type_id, edge_id>> seen;
  for (std::size_t s = 0; s < 3; ++s) {
    if (!task.splits[s])
      continue;
    const auto& rows = *task.splits[s];
    const auto edges = elements_of<std::int64_t>(rows.edges);
    const auto edge_ids = elements_of<std::int64_t>(rows.ids);
    const auto types = elements_of<std::int32_t>(*rows.types);
    for (std::size_t r = 0; r < edge_ids.size(); ++r) {
      const auto e = static_cast<std::size_t>(types[r] == 0 ? 0 : 2);
      const auto id = static_cast<std::size_t>(edge_ids[r]);
      CATCH_CHECK(source[e][id] == edges[2 * r]);
      CATCH_CHECK(destination[e][id] == edges[2 * r + 1]);
      CATCH_CHECK(std::cmp_equal(level[e][id], s));
      CATCH_CHECK(seen.emplace(e, edge_ids[r]).second);
      if (s == 0) {
        const auto list = elements_of<std::int64_t>(rows.exclude->rows)[r];
        const auto ends = elements_of<std::int64_t>(rows.exclude->indptr);
        std::set<std::tuple<std::int32_t, edge_id, int>> got;
        for (auto i = static_cast<std::size_t>(ends[list]);
             std::cmp_less(i, ends[list + 1]); ++i)
          got.emplace(elements_of<std::int32_t>(rows.exclude->types)[i],
                      elements_of<std::int64_t>(rows.exclude->ids)[i],
                      elements_of<std::uint8_t>(rows.exclude->ends)[i]);
        std::set<std::tuple<std::int32_t, edge_id, int>> want;
        for (const auto of : {e, std::size_t{1}})
          for (std::size_t i = 0; i < source[of].size(); ++i) {
            const auto own = of == e && source[of][i] == edges[2 * r]
                             && destination[of][i] == edges[2 * r + 1];
            const auto opposite = of == 1 && e == 0
                                  && source[of][i] == edges[2 * r + 1]
                                  && destination[of][i] == edges[2 * r];
            if (level[of][i] == 0 && (own || opposite))
              want.emplace(static_cast<std::int32_t>(of),
                           static_cast<edge_id>(i), of == 1);
          }
        CATCH_CHECK(got == want);
      } else {
        for (const auto side : {0, 1}) {
          const auto list =
            elements_of<std::int64_t>(rows.known->rows)[2 * r + side];
          std::set<node_id> want;
          for (std::size_t i = 0; i < source[e].size(); ++i)
            if ((side == 0 ? source : destination)[e][i] == edges[2 * r + side])
              want.insert((side == 0 ? destination : source)[e][i]);
          CATCH_CHECK(lists_of(rows.known->indptr,
                               rows.known->ids)[static_cast<std::size_t>(list)]
                      == id_list(want.begin(), want.end()));
        }
      }
    }
  }
  const auto found = value_of(inspect_dataset(data));
  CATCH_CHECK(found.broken == std::vector<std::string>{});
}

CATCH_TEST_CASE("a task without rows, or whose labels are missing, is refused",
                "[partition][tasks]") {
  temp_folder folder;
  CATCH_CHECK(has(error_of(write_links(folder.path(), {}, false)).message,
                  "task likes: none of 7 edges is in a split"));
  temp_folder other;
  auto info = five_people();
  info.tasks = {{.name = "sign",
                 .kind = edge_task_kind::edge_class,
                 .edge_types = {0},
                 .reverse_types = {std::nullopt},
                 .class_count = 2}};
  auto writer = value_of(dataset_writer::create(other.path(), info, {}));
  value_of(writer.append_edges(0, some_sources, some_destinations));
  value_of(writer.set_task(0, {.choose = numbered({{{0}, {}, {}}})}));
  CATCH_CHECK(has(error_of(writer.finish()).message,
                  "task sign: 0 bytes of labels given for 7 edges"));
}

CATCH_TEST_CASE("broken files of tasks are refused or found",
                "[partition][tasks]") {
  temp_folder folder;
  value_of(write_links(folder.path(), {{{0, 2, 5}, {3}, {4, 6}}}, false));
  const auto rewrite = [&](const char* name, auto values,
                           std::vector<std::int64_t> shape) {
    const auto path = folder / "tasks" / "likes" / name;
    value_of(write_npy_bytes(path,
                             dtype_of<typename decltype(values)::value_type>(),
                             shape, std::as_bytes(std::span{values})));
  };
  const auto refused = [&] {
    const auto info = value_of(read_dataset_info(folder.path()));
    return error_of(open_task(folder.path(), info, "likes")).message;
  };
  const auto info = value_of(read_dataset_info(folder.path()));
  CATCH_CHECK(has(error_of(open_task(folder.path(), info, "hates")).message,
                  "has no task \"hates\"; it has likes"));
  rewrite("test.edges.npy", id_list{3, 1, 4}, {3});
  CATCH_CHECK(has(refused(), "test.edges.npy has the shape [3]; [2, 2] "
                             "expected"));
  rewrite("test.edges.npy", id_list{3, 1, 4, 5}, {2, 2});
  CATCH_CHECK(has(refused(), "row 1 has destination 5, but "
                             "person__likes__person has 5"));
  rewrite("test.edges.npy", id_list{3, 2, 4, 0}, {2, 2}); // Not that edge.
  CATCH_CHECK(std::ranges::any_of(
    value_of(inspect_dataset(value_of(dataset::open(folder.path())))).broken,
    [](const std::string& sentence) {
      return has(sentence, "row 0 is edge 5, which does not join 3 and 2");
    }));
  rewrite("test.edges.npy", id_list{3, 1, 4, 0}, {2, 2});
  rewrite("test.ids.npy", id_list{5, 7}, {2});
  CATCH_CHECK(has(refused(), "row 1 has edge 7, but"));
  rewrite("test.ids.npy", id_list{5, 1}, {2});
  rewrite("val.known.indptr.npy", id_list{0, 9, 1}, {3});
  CATCH_CHECK(has(refused(), "should ascend from 0 to"));
  rewrite("val.known.indptr.npy", id_list{0, 1, 4}, {3});
  rewrite("val.known.ids.npy", id_list{1, 0, 0, 3}, {4});
  CATCH_CHECK(has(refused(), "list 1 has node 0, where 1 to 4 can follow"));
  rewrite("val.known.ids.npy", id_list{1, 0, 2, 3}, {4});
  rewrite("train.exclude.types.npy", std::vector<std::int32_t>{0, 0, 0, 1},
          {4});
  CATCH_CHECK(has(refused(), "element 3 is 1, but there are 1 edge types"));
  rewrite("train.exclude.types.npy", std::vector<std::int32_t>{0, 0, 0, 0},
          {4});
  value_of(open_task(folder.path(), info, "likes"));
  const auto data = value_of(dataset::open(folder.path()));
  CATCH_CHECK(value_of(inspect_dataset(data)).broken.empty());
  // The digest is over the rows, too.
  rewrite("test.ids.npy", id_list{1, 5}, {2});
  CATCH_CHECK_FALSE(
    value_of(inspect_dataset(value_of(dataset::open(folder.path()))))
      .broken.empty());
}

CATCH_TEST_CASE("what dataset.json says of tasks is checked",
                "[partition][tasks]") {
  temp_folder folder;
  value_of(write_links(folder.path(), {{{0, 2, 5}, {3}, {4, 6}}}, false));
  const auto text = value_of(read_text(folder / "dataset.json", 1 << 20));
  const auto changed = [&text](std::string_view from, std::string_view to) {
    auto out = text;
    const auto at = out.find(from);
    CATCH_REQUIRE(at != out.npos);
    out.replace(at, from.size(), to);
    return error_of(parse_dataset_info(out, "it")).message;
  };
  CATCH_CHECK(value_of(parse_dataset_info(text, "it")).tasks.size() == 1);
  CATCH_CHECK(has(changed("\"link\"", "\"lnk\""),
                  "\"kind\" should be link, edge_class, edge_labels or "
                  "edge_value"));
  CATCH_CHECK(has(changed("\"link\"", "\"edge_class\""),
                  "task likes has 0 classes; 1 to 16777216 expected"));
  CATCH_CHECK(has(changed("\"name\": \"likes\",\n      \"reverse_types\"",
                          "\"name\": \"li/kes\",\n      \"reverse_types\""),
                  "\"li/kes\" cannot name a type"));
  CATCH_CHECK(has(changed("\"link\"", "\"link\", \"unlabelled\": 1"),
                  "1 rows without a label, more than rows of the test split"));
  CATCH_CHECK(has(changed("\"visible\": true", "\"visible\": false"),
                  "holds out edges of person__likes__person, which is not "
                  "\"visible\""));
  CATCH_CHECK(has(changed("\"format_version\": 6", "\"format_version\": 8"),
                  "has format version 8"));
}
