#include "pipelines/flow/output_blocks.hpp"

#include "partition/dataset/chosen_task.hpp"

#include <algorithm>

namespace graphmill {

std::int64_t output_block::rows() const {
  return within_type() ? (counts[0] + 1) / 2 : std::max(counts[0], counts[1]);
}

node_id output_block::node(std::int64_t i, std::size_t end) const {
  const auto wanted =
    within_type() ? 2 * i + static_cast<std::int64_t>(end) : i;
  return std::min(wanted, std::max(counts[end], std::int64_t{1}) - 1);
}

std::vector<output_block> output_blocks(const dataset_info& info) {
  std::vector<output_block> out;
  std::vector<bool> told(info.node_types.size());
  std::int64_t rows = 0;
  const auto& task = *chosen_task(info);
  for (std::size_t r = 0; r < task.edge_types.size(); ++r) {
    const auto& ends =
      info.edge_types[static_cast<std::size_t>(task.edge_types[r])];
    output_block one{.relation = static_cast<std::int32_t>(r),
                     .types = {ends.source, ends.destination},
                     .first = rows};
    const auto nodes_of = [&info](node_type_id type) {
      return info.node_types[static_cast<std::size_t>(type)].count;
    };
    if (nodes_of(ends.source) == 0 || nodes_of(ends.destination) == 0)
      continue;
    for (std::size_t end = 0; end < 2; ++end)
      if (!told[static_cast<std::size_t>(one.types[end])])
        one.counts[end] = nodes_of(one.types[end]);
    if (one.rows() == 0)
      continue;
    for (const auto type : one.types)
      told[static_cast<std::size_t>(type)] = true;
    rows += one.rows();
    out.push_back(one);
  }
  return out;
}

std::int64_t rows_of(std::span<const output_block> blocks) {
  return blocks.empty() ? 0 : blocks.back().first + blocks.back().rows();
}

std::vector<named_edge> edges_of(std::span<const output_block> blocks) {
  std::vector<named_edge> out;
  out.reserve(static_cast<std::size_t>(rows_of(blocks)));
  for (const auto& block : blocks)
    for (std::int64_t i = 0; i < block.rows(); ++i)
      out.push_back({block.node(i, 0), block.node(i, 1), block.relation});
  return out;
}

} // namespace graphmill
