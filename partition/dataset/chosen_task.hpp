#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/dataset/label_sets.hpp"

#include <string_view>

namespace graphmill {

/// A dataset as a task of edges shows it: `chosen_task` is set, and the target
/// is the type at which edges of the task's first edge type end; its labels,
/// classes and numbers of seeds are those of the task's rows. Choosing again
/// changes nothing. Fails, with the tasks that there are, if there is none of
/// that name.
result<dataset_info> choose_task(const dataset_info& info,
                                 std::string_view name);

/// Gives the chosen task of a dataset the outputs that a run has learnt: their
/// number and their names. Tasks of links stay as they are.
dataset_info with_outputs_of(dataset_info chosen, const label_meaning& learnt);

/// The chosen task; null: nodes are learnt.
inline const edge_task_info* chosen_task(const dataset_info& info) {
  return info.chosen_task ? &info.tasks[*info.chosen_task] : nullptr;
}

} // namespace graphmill
