#include "partition/importers/csv/csv_task_choices.hpp"

#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/csv_roles.hpp"

#include <algorithm>
#include <string>

namespace graphmill {

namespace {

/// Takes the name of a task from the column of a choice.
result<void> name_task(const csv_import_options& options, csv_choice& choice) {
  const auto& tasks = options.changes.tasks;
  const auto equals = choice.column.find('=');
  const auto name = choice.column.substr(0, equals);
  if (!choice.task.empty() || equals == std::string::npos
      || std::ranges::find(tasks, name, name_of) == tasks.end())
    return ok();
  if (std::ranges::any_of(options.edges, [&name](const csv_table& table) {
        return names_table(name, table);
      })) {
    if (tasks.size() == 1)
      return ok();
    return fail(ec::invalid_argument,
                "{0} {1}: {2} is a task and a table; give the task another "
                "name, or say {2}={1} for this table of the task",
                flag_of(choice.role), choice.column, name);
  }
  choice.task = name;
  choice.column = choice.column.substr(equals + 1);
  return ok();
}

} // namespace

bool takes_choice(const csv_import_options& options,
                  const edge_task_request& task, csv_role role,
                  std::string_view named) {
  const auto name = name_of(task);
  if (!named.empty())
    return named == name;
  if (role == csv_role::task_label && options.changes.tasks.size() > 1
      && !traits_of(task.kind).labels)
    return false;
  if (role == csv_role::task_negatives && options.changes.tasks.size() > 1
      && !traits_of(task.kind).negatives)
    return false;
  return std::ranges::none_of(options.choices, [&](const csv_choice& other) {
    return other.role == role && other.task == name;
  });
}

result<void> name_tasks_of_choices(csv_import_options& options) {
  for (auto& choice : options.choices)
    if (task_column(choice.role) != nullptr)
      GRAPHMILL_TRYV(name_task(options, choice));
  const auto& tasks = options.changes.tasks;
  for (const auto& choice : options.choices)
    if (task_column(choice.role) != nullptr && choice.task.empty()
        && std::ranges::none_of(tasks, [&](const edge_task_request& task) {
             return takes_choice(options, task, choice.role, {});
           }))
      return fail(ec::invalid_argument,
                  "{} {}: none of the tasks {} takes it: each has a column of "
                  "its own{}; leave the option out, or say TASK= before it",
                  flag_of(choice.role), choice.column, names_of(tasks),
                  choice.role == csv_role::task_label ? ", or no labels" : "");
  return ok();
}

} // namespace graphmill
