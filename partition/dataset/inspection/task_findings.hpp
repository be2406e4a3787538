#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/dataset/inspection/inspect.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace graphmill {

/// Counts what may be wrong with the splits of a task, and finds damage: rows
/// that are no rows, or not of the edges that they name, and held-out edges
/// that an earlier phase could see.
/// @param out Gets a sentence for each kind of damage.
task_inspection inspect_task(const dataset& data, std::size_t task,
                             std::vector<std::string>& out);

/// Ends of levels that are none of the list.
void find_bad_levels(const npy_array& visible, const npy_array& indptr,
                     std::vector<std::string>& out);

} // namespace graphmill
