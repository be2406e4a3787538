#include "pipelines/flow/seed_table.hpp"

#include <utility>

namespace graphmill {

std::shared_ptr<const seed_table>
table_of(std::shared_ptr<const partitioned_graph> graph, split which) {
  seed_table out;
  out.columns.push_back({graph->info().target, graph->seeds(which)});
  out.keeps = std::move(graph);
  return std::make_shared<const seed_table>(std::move(out));
}

std::shared_ptr<const seed_table>
table_of(const dataset_info& info,
         std::shared_ptr<const std::vector<node_id>> nodes) {
  seed_table out;
  out.columns.push_back({info.target, *nodes});
  out.keeps = std::move(nodes);
  return std::make_shared<const seed_table>(std::move(out));
}

} // namespace graphmill
