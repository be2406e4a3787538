#include "partition/importers/csv/csv_roles.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/importers/csv/csv_names.hpp"

#include <algorithm>
#include <string>

namespace graphmill {

std::string_view flag_of(csv_role role) {
  switch (role) {
  case csv_role::source:
    return "--source";
  case csv_role::destination:
    return "--destination";
  case csv_role::relation:
    return "--relation";
  case csv_role::weight:
    return "--weight";
  case csv_role::edge_time:
    return "--edge-time";
  case csv_role::node_time:
    return "--node-time";
  case csv_role::id:
    return "--id";
  case csv_role::label:
    return "--label";
  case csv_role::split:
    return "--split-column";
  case csv_role::label_set:
    return "--label-set";
  case csv_role::split_set:
    return "--split-set";
  case csv_role::train_mask:
    return "--train-mask";
  case csv_role::val_mask:
    return "--val-mask";
  case csv_role::test_mask:
    return "--test-mask";
  case csv_role::time:
    return "--time";
  case csv_role::feature:
    return "--feature";
  case csv_role::task_label:
    return "--task-label";
  case csv_role::task_split:
    return "--task-split";
  case csv_role::task_time:
    return "--task-time";
  case csv_role::task_weight:
    return "--task-weight";
  case csv_role::task_negatives:
    return "--task-negatives";
  case csv_role::ignore:
    return "--ignore";
  }
  return "";
}

bool is_for(csv_role role, bool edges) {
  const auto of_edges =
    role == csv_role::source || role == csv_role::destination
    || role == csv_role::relation || role == csv_role::weight
    || role == csv_role::edge_time || task_column(role) != nullptr;
  return role == csv_role::ignore || role == csv_role::feature
         || of_edges == edges;
}

std::optional<std::size_t> csv_task_columns::*task_column(csv_role role) {
  switch (role) {
  case csv_role::task_label:
    return &csv_task_columns::label;
  case csv_role::task_split:
    return &csv_task_columns::split;
  case csv_role::task_time:
    return &csv_task_columns::time;
  case csv_role::task_weight:
    return &csv_task_columns::weight;
  case csv_role::task_negatives:
    return &csv_task_columns::negatives;
  default:
    return nullptr;
  }
}

bool may_repeat(csv_role role) {
  return role == csv_role::label_set || role == csv_role::split_set
         || role == csv_role::feature || role == csv_role::ignore;
}

bool has_role(const column_roles& roles, csv_role role) {
  return std::ranges::find(roles, std::optional{role}) != roles.end();
}

std::vector<std::size_t> columns_without_role(const column_roles& roles) {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < roles.size(); ++i)
    if (!roles[i])
      left.push_back(i);
  return left;
}

namespace {

/// Puts a column into the label set that it belongs to.
result<void> add_to_set(csv_layout& layout, std::size_t column, csv_role role,
                        const csv_reader& rows) {
  const auto name = layout.header ? label_set_name(layout.names[column]) : "";
  if (!check_name(name, ""))
    return rows.wrong(fmt::format(
      "column {} makes a label set that cannot be called \"{}\"; give it a "
      "name in the header of letters, digits, '-', '.' and single '_' within",
      column_text(layout, column), name));
  auto& sets = layout.label_sets;
  auto at = std::ranges::find(sets, name, &csv_set_columns::name);
  if (at == sets.end())
    at = sets.insert(sets.end(), csv_set_columns{name, {}, {}});
  auto& place = role == csv_role::label_set ? at->label : at->split;
  if (place)
    return rows.wrong(
      fmt::format("columns {} and {} are both {}s of the label "
                  "set \"{}\"; leave one of them out with --ignore",
                  column_text(layout, *place), column_text(layout, column),
                  role == csv_role::label_set ? "label" : "split", name));
  place = column;
  return ok();
}

} // namespace

result<void> fill_in(csv_layout& layout, const column_roles& roles,
                     const csv_reader& rows) {
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (!roles[i] || task_column(*roles[i]) != nullptr)
      continue;
    if (*roles[i] == csv_role::label_set || *roles[i] == csv_role::split_set) {
      GRAPHMILL_TRYV(add_to_set(layout, i, *roles[i], rows));
      continue;
    }
    if (*roles[i] == csv_role::feature || *roles[i] == csv_role::ignore) {
      auto& list =
        *roles[i] == csv_role::feature ? layout.features : layout.ignored;
      list.push_back(i);
      continue;
    }
    auto* place = *roles[i] == csv_role::source        ? &layout.source
                  : *roles[i] == csv_role::destination ? &layout.destination
                  : *roles[i] == csv_role::relation    ? &layout.relation
                  : *roles[i] == csv_role::weight      ? &layout.weight
                  : *roles[i] == csv_role::edge_time   ? &layout.edge_time
                  : *roles[i] == csv_role::node_time   ? &layout.node_time
                  : *roles[i] == csv_role::id          ? &layout.id
                  : *roles[i] == csv_role::label       ? &layout.label
                  : *roles[i] == csv_role::split       ? &layout.split
                  : *roles[i] == csv_role::train_mask  ? &layout.masks[0]
                  : *roles[i] == csv_role::val_mask    ? &layout.masks[1]
                  : *roles[i] == csv_role::test_mask   ? &layout.masks[2]
                                                       : &layout.time;
    if (*place
        && lower_name(layout.names[i]) == lower_name(layout.names[**place]))
      return rows.wrong(fmt::format("two columns \"{}\": rename one of them",
                                    lower_name(layout.names[i])));
    if (*place)
      return rows.wrong(
        fmt::format("columns {} and {} both look like {}; choose one with {}, "
                    "and leave out "
                    "the other with --ignore",
                    column_text(layout, **place), column_text(layout, i),
                    flag_of(*roles[i]).substr(2), flag_of(*roles[i])));
    *place = i;
  }
  for (const auto mask : layout.masks)
    if (mask && layout.split)
      return rows.wrong(fmt::format(
        "column {} has splits, and column {} is a mask of one; leave out one "
        "of them with --ignore",
        column_text(layout, *layout.split), column_text(layout, *mask)));
  return ok();
}

} // namespace graphmill
