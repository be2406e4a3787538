#include "messages/base/random.hpp"
#include "partition/dataset/data_records.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/dataset/verification/verification.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/partition/shop.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

using id_list = std::vector<std::int64_t>;

template <class T>
std::vector<T> elements_in(const npy_array& array) {
  const auto values = value_of(array.as<T>());
  return {values.begin(), values.end()};
}

dataset write_tasks(const fs::path& folder, std::uint64_t seed) {
  fs::create_directory(folder);
  const auto info = shop_with_tasks(50, 30);
  auto writer = value_of(dataset_writer::create(folder, info, {}));
  random_stream draws{seed, 0};
  const auto draw = [&draws](std::int64_t below) {
    return static_cast<std::int64_t>(
      draws.below(static_cast<std::uint64_t>(below)));
  };
  id_list stars;
  for (const auto type : {0, 2}) {
    id_list from;
    id_list to;
    for (int i = 0; i < 300; ++i) {
      from.push_back(draw(50));
      to.push_back(draw(type == 0 ? 30 : 50));
      if (type == 0)
        stars.push_back(draw(3));
    }
    value_of(writer.append_edges(type, from, to));
    if (type == 0)
      value_of(writer.append_edges(1, to, from));
  }
  const auto choose =
    [&draw](std::span<const task_edge> edges) -> result<task_rows> {
    task_rows out;
    for (std::size_t i = 0; i < edges.size(); ++i)
      out[static_cast<std::size_t>(draw(3))].push_back(i);
    return out;
  };
  const auto of_row = [](split which, const task_edge& edge) {
    static thread_local id_list negatives;
    negatives = which == split::test ? id_list{edge.given % 30, 7} : id_list{};
    return std::span<const node_id>{negatives};
  };
  value_of(writer.set_task(0, {.choose = choose, .negatives = of_row}));
  const auto bytes = std::as_bytes(std::span{stars});
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  value_of(writer.set_task(
    1, {.choose = choose, .labels = {{first, first + bytes.size()}}}));
  value_of(writer.finish());
  return value_of(dataset::open(folder));
}

/// [type][global id]
std::vector<std::vector<node_id>> originals_of(const partitioned_graph& graph) {
  std::vector<std::vector<node_id>> out(graph.info().node_types.size());
  for (part_id p = 0; p < graph.part_count(); ++p) {
    const auto part = value_of(graph.open_shard(p));
    for (std::size_t t = 0; t < out.size(); ++t)
      for (const auto id :
           part->nodes(static_cast<node_type_id>(t)).original_ids)
        out[t].push_back(id);
  }
  return out;
}

} // namespace

CATCH_TEST_CASE("parts keep the rows of tasks, with global id_list of nodes",
                "[partition][tasks]") {
  const auto seed = GENERATE(range(0, 6));
  const part_id parts = 1 + seed % 4;
  CATCH_INFO("seed " << seed);
  temp_folder folder;
  const auto whole =
    write_tasks(folder / "whole", static_cast<std::uint64_t>(seed));
  partition_options options;
  options.parts = parts;
  options.method = partition_method::random;
  options.seed = static_cast<std::uint64_t>(seed);
  fs::create_directory(folder / "parts");
  value_of(partition_dataset(whole, options, folder / "parts"));
  const auto graph = value_of(partitioned_graph::open(folder / "parts"));
  const auto originals = originals_of(graph);
  for (const auto* name : {"links", "stars"}) {
    const auto before =
      value_of(open_task(folder / "whole", whole.info(), name));
    const auto after =
      value_of(open_task(folder / "parts", graph.info(), name));
    const auto& task = graph.info().tasks[*graph.info().find_task(name)];
    for (std::size_t s = 0; s < 3; ++s) {
      CATCH_REQUIRE(before.splits[s]);
      CATCH_REQUIRE(after.splits[s]);
      const auto& was = *before.splits[s];
      const auto& is = *after.splits[s];
      const auto edges = elements_in<std::int64_t>(is.edges);
      id_list back;
      for (std::size_t r = 0; r < edges.size() / 2; ++r) {
        const auto& about = graph.info().edge_types[static_cast<std::size_t>(
          value_of(edge_type_of_row(task, is, r)))];
        back.push_back(originals[about.source][edges[2 * r]]);
        back.push_back(originals[about.destination][edges[2 * r + 1]]);
      }
      CATCH_CHECK(back == elements_in<std::int64_t>(was.edges));
      const auto old = was.all();
      const auto now = is.all();
      CATCH_REQUIRE(old.size() == now.size());
      for (std::size_t a = 0; a < old.size(); ++a) {
        CATCH_CHECK(old[a].first == now[a].first);
        CATCH_CHECK(old[a].second->shape() == now[a].second->shape());
        const auto bytes = [](const npy_array& array) {
          return std::string_view{reinterpret_cast<const char*>(array.data()),
                                  static_cast<std::size_t>(array.size())
                                    * size_of(array.type())};
        };
        if (old[a].first != "edges" && old[a].first != "negatives"
            && old[a].first != "known.ids")
          CATCH_CHECK(bytes(*old[a].second) == bytes(*now[a].second));
      }
      if (is.negatives)
        CATCH_CHECK(originals[1][elements_in<std::int64_t>(*is.negatives)[1]]
                    == 7);
      if (!is.known)
        continue;
      // Of the first row, what is known with its source.
      const auto list = elements_in<std::int64_t>(is.known->rows)[0];
      const auto ends = elements_in<std::int64_t>(is.known->indptr);
      const auto known = elements_in<std::int64_t>(is.known->ids);
      const auto known_before = elements_in<std::int64_t>(was.known->ids);
      const auto type = value_of(edge_type_of_row(task, is, 0));
      id_list named;
      for (auto i = ends[list]; i < ends[list + 1]; ++i)
        named.push_back(
          originals[graph.info().edge_types[type].destination][known[i]]);
      std::ranges::sort(named);
      CATCH_CHECK(named
                  == id_list(known_before.begin() + ends[list],
                             known_before.begin() + ends[list + 1]));
    }
  }
  for (part_id p = 0; p < parts; ++p) {
    const auto part = value_of(graph.open_shard(p));
    for (edge_type_id e = 0; e < 3; ++e) {
      const auto visible = elements_in<std::int32_t>(*whole.edges(e).visible);
      const auto& mine = part->edges(e);
      const auto to = graph.info().edge_types[e].destination;
      const auto& owned = part->nodes(to).original_ids;
      CATCH_REQUIRE(mine.visible.size() == 2 * owned.size());
      for (std::size_t row = 0; row < owned.size(); ++row)
        for (const std::size_t level : {0, 1})
          CATCH_REQUIRE(mine.visible[2 * row + level]
                        == visible[2 * owned[row] + level]);
    }
  }
  std::vector<part_id> all;
  for (part_id p = 0; p < parts; ++p)
    all.push_back(p);
  const auto records = value_of(records_in(folder / "parts", all));
  value_of(verify_all(records, {}));
  CATCH_CHECK(std::ranges::any_of(records, [](const digest_record& record) {
    return record.path.string().find("tasks/links/train.exclude.ends.npy")
           != std::string::npos;
  }));
}
