#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/shard.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace graphmill {

/// Counts what may be wrong with the splits of a task, and finds damage: rows
/// that are no rows, or not of the edges that they name, and held-out edges
/// that an earlier phase could see.
/// @param out Gets a sentence for each kind of damage.
task_inspection inspect_task(const dataset& data, std::size_t task,
                             std::vector<std::string>& out);

/// Sentences on link tasks whose held-out links training shows the other way
/// round.
/// @pre `data` is sound, as behind an import.
std::vector<std::string> notes_on_tasks(const dataset& data);

/// `inspect_task` of the tasks of a partitioned dataset, with its edges in all
/// parts. Fails if a part or a file cannot be read.
result<std::vector<task_inspection>>
inspect_tasks(const std::filesystem::path& folder,
              const partitioned_graph& graph, std::vector<std::string>& out);

/// Maps between original and global ids that are none, or not the inverse of
/// each other. A folder of an older version has none.
void find_bad_orders(const std::filesystem::path& folder,
                     const partitioned_graph& graph,
                     std::vector<std::string>& out);

/// Lists whose times do not ascend within a level.
/// @param visible Null: all edges are of one level.
void find_bad_times(const npy_array& times, const npy_array& indptr,
                    const npy_array* visible, std::vector<std::string>& out);

/// Ends of levels that are none of the list.
void find_bad_levels(const npy_array& visible, const npy_array& indptr,
                     std::vector<std::string>& out);

} // namespace graphmill
