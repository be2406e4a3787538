#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstdint>

namespace graphmill {

/// A dataset as a definition learns it. Without `task` it is what
/// `choose_labels` gives. With one, `chosen_task` is set, and the target is the
/// type at which edges of the task's first edge type end; its labels, classes
/// and numbers of seeds are those of the task's rows. Choosing again changes
/// nothing. Fails, with those that there are, if there is no such task or label
/// set, or if a definition names both.
result<dataset_info> choose_target(const dataset_info& info,
                                   const definition& def);

/// The chosen task; null: nodes are learnt.
inline const edge_task_info* chosen_task(const dataset_info& info) {
  return info.chosen_task ? &info.tasks[*info.chosen_task] : nullptr;
}

} // namespace graphmill
