#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/importers/edge_split.hpp"
#include "partition/importers/no_label_values.hpp"
#include "partition/importers/npy/npy_folder.hpp"
#include "partition/writing/dataset_writer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

struct npy_edge_source;
struct npy_source;

/// What the edges of a type bring for tasks of edges, opened.
struct npy_task_arrays {
  std::optional<npy_array> splits;    ///< [E] 0, 1 and 2, or -1: no row.
  std::optional<npy_array> labels;    ///< [E] or [E, any]
  std::optional<npy_array> times;     ///< [E] or [E, 1]
  std::optional<npy_array> weights;   ///< [E] or [E, 1], of rows
  std::optional<npy_array> negatives; ///< [E, any], -1 throughout: none.
};

/// Opens the files of all tasks beside those of edges: `edge_split.npy`,
/// `edge_label.npy`, `edge_time.npy`, `edge_row_weight.npy` and
/// `edge_negatives.npy`. Fails if one has not a row for each edge.
/// @param task Of this task alone: `edge_split.<task>.npy` and so on. Empty: of
/// all.
result<npy_task_arrays> open_npy_task(npy_folder& folder,
                                      const std::string& prefix,
                                      const std::string& task,
                                      std::int64_t edges);

/// The tasks of a folder: what the user asks for or, if nothing, one whose
/// splits or labels are there. Fails if arrays are there that they do not use,
/// or missing that they need.
/// @param edge_times Whether edges have the times, which rows take from them.
result<std::vector<edge_task_request>>
npy_task_requests(const npy_source& source,
                  const std::vector<edge_task_request>& wanted,
                  bool edge_times = false);

/// Gives tasks to a writer.
/// @param info With these tasks; its edge types are those of the source, by the
/// same numbers.
/// @param none Labels that stand for none. Notes tell which there are.
/// @returns these.
result<unlabelled_nodes>
copy_npy_tasks(const npy_source& source, const dataset_info& info,
               const std::vector<edge_task_request>& tasks,
               const no_label_values& none, const note_callback& on_note,
               dataset_writer& writer);

} // namespace graphmill
