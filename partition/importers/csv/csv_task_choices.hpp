#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/edge_split.hpp"

#include <string_view>

namespace graphmill {

/// Takes "<task>=" from the columns of choices for tasks: a choice then has the
/// task in a field of its own. A name of a table stays, if it is no task's too.
/// Fails if it is one of several tasks as well, and if no task takes a column.
/// @param options As `join_tables` gives them, with all tasks.
result<void> name_tasks_of_choices(csv_import_options& options);

/// Whether a task takes the column of a choice: it is named, or none of its own
/// has this role. Of several tasks, those without labels take none of labels.
/// @param named The task of the choice; empty: none.
bool takes_choice(const csv_import_options& options,
                  const edge_task_request& task, csv_role role,
                  std::string_view named);

} // namespace graphmill
