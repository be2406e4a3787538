#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace graphmill {

/// What each column of a table is; nothing: not known yet.
using column_roles = std::vector<std::optional<csv_role>>;

/// The flag of the command line by which a role is given.
std::string_view flag_of(csv_role role);

/// Whether a column of an edge list, or else of a node table, can be this.
bool is_for(csv_role role, bool edges);

/// Those of columns that tasks have.
inline constexpr auto task_roles = std::to_array(
  {csv_role::task_label, csv_role::task_split, csv_role::task_time,
   csv_role::task_weight, csv_role::task_negatives});

/// Where a task keeps the column of a role; null if the role is not one of
/// tasks.
std::optional<std::size_t> csv_task_columns::*task_column(csv_role role);

/// Whether a table may have several columns of a role.
bool may_repeat(csv_role role);

/// Whether a column has a role.
bool has_role(const column_roles& roles, csv_role role);

/// The columns that have none, in their order.
std::vector<std::size_t> columns_without_role(const column_roles& roles);

/// Puts the column of each role but those of tasks where the layout keeps it.
/// Fails if two columns
/// are the same, and if a label set has no name that it can have.
/// @param rows For errors.
result<void> fill_in(csv_layout& layout, const column_roles& roles,
                     const csv_reader& rows);

} // namespace graphmill
