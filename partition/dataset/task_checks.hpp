#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

namespace graphmill {

/// Whether the tasks of a dataset have names of their own that can be parts of
/// file names, types that exist and belong together, and possible counts.
/// @pre the types of `info` are sound
result<void> check_tasks(const dataset_info& info, std::string_view where);

/// Opens the arrays of a task and checks their types and shapes, and the ends
/// of lists.
/// @param folder Of the dataset, or of its parts.
result<task_arrays> open_task(const std::filesystem::path& folder,
                              const edge_task_info& task);

/// Opens a task by its name, and checks its rows. Fails, with the tasks that
/// there are, if there is none of that name.
/// @param folder Of a dataset, whose nodes have original ids, or of one in
/// parts, where they have global ids. Edges have original ids in both.
/// @param info Of the whole graph.
result<task_arrays> open_task(const std::filesystem::path& folder,
                              const dataset_info& info, std::string_view name);

/// Reads the rows of a split. Fails at the first node, edge type, edge or list
/// that does not exist, at a label that is none, and at a time or weight that
/// cannot be one. Fails unless as many rows lack a label as the task says. It
/// does not compare rows with the edges that they name.
/// @param info Of the whole graph.
result<void> check_rows(const dataset_info& info, const edge_task_info& task,
                        split which, const task_split_arrays& arrays);

/// The edge type of a row. @pre types are checked
result<edge_type_id> edge_type_of_row(const edge_task_info& task,
                                      const task_split_arrays& arrays,
                                      std::size_t row);

/// The first list with an edge that is older than one of a lower level. None:
/// all lists are in the order of time over all levels. Reads two times for each
/// level and list, and takes lists that are damaged for sound.
/// @param indptr, times, visible As of `edge_shard` in shard.hpp.
std::optional<std::size_t> first_overlap(std::span<const std::int64_t> indptr,
                                         std::span<const std::int64_t> times,
                                         std::span<const std::int32_t> visible);

} // namespace graphmill
