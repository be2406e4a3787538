#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/importers/edge_split.hpp"
#include "partition/importers/npy/npy_folder.hpp"
#include "partition/writing/dataset_writer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

struct npy_source;

/// What the edges of a type bring for a task of edges, opened.
struct npy_task_arrays {
  std::optional<npy_array> splits;    ///< [E] 0, 1 and 2, or -1: no row.
  std::optional<npy_array> labels;    ///< [E] or [E, any]
  std::optional<npy_array> times;     ///< [E] or [E, 1]
  std::optional<npy_array> weights;   ///< [E] or [E, 1], of rows
  std::optional<npy_array> negatives; ///< [E, any], -1 throughout: none.
};

/// Opens the files of a task beside those of edges: `edge_split.npy`,
/// `edge_label.npy`, `edge_time.npy`, `edge_row_weight.npy` and
/// `edge_negatives.npy`. Fails if one has not a row for each edge.
result<npy_task_arrays> open_npy_task(npy_folder& folder,
                                      const std::string& prefix,
                                      std::int64_t edges);

/// The task of a folder: what the user asks for or, if nothing, one whose
/// splits or labels are there. Fails if arrays are there that it does not use,
/// or missing that it needs.
/// @param edge_times Whether edges have the times, which rows take from them.
result<std::optional<edge_task_request>>
npy_task_request(const npy_source& source,
                 const std::optional<edge_task_request>& wanted,
                 bool edge_times = false);

/// Gives the task to a writer.
/// @param info With the task as its first one; its edge types are those of the
/// source, by the same numbers.
result<void> copy_npy_task(const npy_source& source, const dataset_info& info,
                           const edge_task_request& request,
                           dataset_writer& writer);

} // namespace graphmill
