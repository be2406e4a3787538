#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/dataset/edge_tasks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace graphmill {

/// Whether evaluations of a task of links rank all nodes in place of a row's
/// destination, and in place of its source: negatives replace that end, and as
/// many are wanted as there are nodes. Splits with given negatives are left out
/// of account.
inline std::array<bool, 2> ends_ranked_among_all(const definition& def,
                                                 const dataset_info& info,
                                                 const edge_task_info& task) {
  const auto corrupt = def.negatives.corrupt;
  std::array<bool, 2> out{
    corrupt == corrupted_end::destination || corrupt == corrupted_end::both,
    corrupt == corrupted_end::source || corrupt == corrupted_end::both};
  for (const auto type : task.edge_types) {
    const auto& about = info.edge_types[static_cast<std::size_t>(type)];
    const auto fits = [&](node_type_id end) {
      return info.node_types[static_cast<std::size_t>(end)].count
             <= std::int64_t{def.evaluate.negatives};
    };
    out[0] = out[0] && fits(about.destination);
    out[1] = out[1] && fits(about.source);
  }
  return out;
}

} // namespace graphmill
