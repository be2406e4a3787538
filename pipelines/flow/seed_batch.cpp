#include "pipelines/flow/seed_batch.hpp"

#include "partition/sampling/id_table.hpp"

#include <numeric>

namespace graphmill {

namespace {

void take_single(const seed_table::column& column,
                 std::span<const seed_row> rows, seed_batch& out) {
  auto& nodes = out.nodes[static_cast<std::size_t>(column.type)];
  nodes.reserve(rows.size());
  for (const auto row : rows)
    nodes.push_back(column.nodes[static_cast<std::size_t>(row)]);
  std::iota(out.locals.begin(), out.locals.end(), local_id{0});
}

/// Numbers the nodes of one type. Those of other types do not matter to the
/// order in which they appear.
void number_type(node_type_id type, const seed_table& table,
                 std::span<const seed_row> rows, const dataset_info& info,
                 seed_batch& out) {
  std::vector<node_id> ids;
  std::vector<std::size_t> places; // Of each in `locals`.
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (const auto& column = table.columns[c]; column.type == type) {
        ids.push_back(column.nodes[static_cast<std::size_t>(rows[r])]);
        places.push_back(r * table.columns.size() + c);
      }
  if (ids.empty())
    return;
  std::vector<local_id> locals(ids.size());
  pod_vector<node_id> distinct;
  id_table numbers{info.node_types[static_cast<std::size_t>(type)].count,
                   nullptr};
  numbers.number(std::span<const node_id>{ids}, locals.data(), distinct);
  for (std::size_t i = 0; i < ids.size(); ++i)
    out.locals[places[i]] = locals[i];
  out.nodes[static_cast<std::size_t>(type)].assign(distinct.begin(),
                                                   distinct.end());
}

} // namespace

seed_batch batch_of(const seed_table& table, std::span<const seed_row> rows,
                    const dataset_info& info) {
  seed_batch out;
  out.columns = table.columns.size();
  out.nodes.resize(info.node_types.size());
  out.locals.resize(rows.size() * out.columns);
  if (out.columns == 1)
    take_single(table.columns.front(), rows, out);
  else
    for (node_type_id t = 0; t < std::ssize(info.node_types); ++t)
      number_type(t, table, rows, info, out);
  return out;
}

} // namespace graphmill
