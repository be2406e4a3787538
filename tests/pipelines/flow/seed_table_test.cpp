#include "pipelines/flow/seed_table.hpp"

#include "partition/dataset/label_sets.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace graphmill::test::seed_tables {

namespace {

/// Six edges of a cycle, all of them training rows.
void write_cycle(const std::filesystem::path& folder, edge_task_kind kind,
                 std::vector<std::uint8_t> labels) {
  dataset_info info;
  info.name = "cycle";
  info.node_types = {{.name = "node", .count = 6}};
  info.edge_types = {{.source = 0, .name = "to", .destination = 0}};
  info.tasks = {{.name = "rows",
                 .kind = kind,
                 .edge_types = {0},
                 .reverse_types = {std::nullopt},
                 .class_count = kind == edge_task_kind::link ? 0 : 3}};
  auto writer = value_of(dataset_writer::create(folder, info, {}));
  value_of(writer.append_edges(0, std::vector<node_id>{0, 1, 2, 3, 4, 5},
                               std::vector<node_id>{1, 2, 3, 4, 5, 0}));
  incoming_task choice;
  choice.choose = [](std::span<const task_edge> edges) -> result<task_rows> {
    task_rows out;
    for (std::size_t i = 0; i < edges.size(); ++i)
      out[0].push_back(i);
    return out;
  };
  if (!labels.empty())
    choice.labels = {std::move(labels)};
  value_of(writer.set_task(0, std::move(choice)));
  value_of(writer.finish());
}

/// The training rows as weights see them that have learnt two outputs.
std::shared_ptr<const seed_table>
rows_as_learnt(const std::filesystem::path& folder, label_kind kind,
               std::int64_t outputs) {
  const auto graph = value_of(partitioned_graph::open(folder));
  const auto shown = value_of(value_of(graph.with_unknown_labels(label_meaning{
                                         kind, "node", 2, {"a", "b"}}))
                                .with_task("rows"));
  CATCH_CHECK(shown.info().node_types[0].class_count == outputs);
  CATCH_CHECK(shown.info().node_types[0].class_names.size()
              == (kind == label_kind::links ? 0 : 2));
  return table_of(std::make_shared<const partitioned_graph>(shown),
                  split::train);
}

} // namespace

CATCH_TEST_CASE("rows have the outputs that weights have learnt, and no labels",
                "[flow][seed_table]") {
  const temp_folder folder;
  for (const auto* name : {"classes", "labels", "links"})
    std::filesystem::create_directory(folder / name);
  const std::vector<std::int64_t> classes{0, 1, 2, 0, 1, 2};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(classes.data());
  write_cycle(folder / "classes", edge_task_kind::edge_class,
              {bytes, bytes + 6 * sizeof(std::int64_t)});
  auto rows = rows_as_learnt(folder / "classes", label_kind::classes, 2);
  CATCH_CHECK(
    std::ranges::equal(rows->edges->classes, std::vector<std::int64_t>(6, -1)));
  write_cycle(folder / "labels", edge_task_kind::edge_labels,
              std::vector<std::uint8_t>(6 * 3, 1));
  rows = rows_as_learnt(folder / "labels", label_kind::multi_label, 2);
  CATCH_CHECK(rows->edges->label_bytes == 2);
  CATCH_CHECK(std::ranges::equal(rows->edges->label_rows,
                                 std::vector<std::uint8_t>(6 * 2, no_labels)));
  write_cycle(folder / "links", edge_task_kind::link, {});
  rows = rows_as_learnt(folder / "links", label_kind::links, 1);
  CATCH_CHECK(rows->rows() == 6);
}

} // namespace graphmill::test::seed_tables
