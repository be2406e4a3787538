#include "partition/importers/csv/csv_ends.hpp"

#include "partition/importers/csv/csv_names.hpp"
#include "partition/importers/npy/npy_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace graphmill {

std::array<std::string, 2> two_end_types(const csv_table& table) {
  const auto parts = split_edge_type_name(table.type);
  if (!parts || (*parts)[0] == (*parts)[2])
    return {};
  return {(*parts)[0], (*parts)[2]};
}

void add_ends_by_type(column_roles& roles, const csv_table& table,
                      const csv_layout& layout) {
  const auto types = two_end_types(table);
  if (!layout.header || types[0].empty())
    return;
  std::array<std::vector<std::size_t>, 2> named;
  for (const auto column : columns_without_role(roles))
    for (std::size_t end = 0; end < named.size(); ++end)
      if (names_type(layout.names[column], types[end]))
        named[end].push_back(column);
  const auto apart = named[0] != named[1]; // A column may be called like both.
  constexpr std::array ends{csv_role::source, csv_role::destination};
  for (std::size_t end = 0; end < named.size(); ++end)
    if (apart && named[end].size() == 1 && !has_role(roles, ends[end]))
      roles[named[end].front()] = ends[end];
}

result<void> add_ends(column_roles& roles, const csv_table& table,
                      const csv_layout& layout, const csv_reader& rows) {
  auto left = columns_without_role(roles);
  std::vector<csv_role> missing;
  for (auto end : {csv_role::source, csv_role::destination})
    if (!has_role(roles, end))
      missing.push_back(end);
  // By their order alone, names would be taken for those of the other type.
  const auto types = two_end_types(table);
  if (left.size() == 2 && missing.size() == 2 && layout.header
      && !types[0].empty())
    return rows.wrong(fmt::format(
      "which of the columns {} has ids of {}, and which ids of {}? Say so with "
      "--source and --destination",
      columns_text(layout, left), types[0], types[1]));
  if (left.size() == missing.size()) {
    for (std::size_t i = 0; i < left.size(); ++i)
      roles[left[i]] = missing[i];
    return ok();
  }
  if (left.size() < missing.size())
    return rows.wrong(fmt::format(
      "the columns are {}; a source and a destination expected (--source, "
      "--destination)",
      columns_text(layout, all_columns(layout))));
  const auto text = columns_text(layout, left);
  const auto unnamed =
    std::ranges::find_if(left, [&layout](std::size_t column) {
      return layout.header && layout.names[column].empty();
    });
  if (missing.empty())
    return rows.wrong(fmt::format(
      "nothing is known of {}: take columns as features of edges with "
      "--feature, say which one has their weights with --weight, make one edge "
      "type of each value of one with --relation, or leave columns out with "
      "--ignore{}",
      text,
      unnamed == left.end()
        ? ""
        : fmt::format(" (--ignore {}={} for the one without a name)",
                      table.file.filename().string(), *unnamed + 1)));
  return rows.wrong(fmt::format(
    "which of the columns {} are source and destination? Say so by {} "
    "(--source, --destination, --relation, --weight), and leave out the others "
    "with --ignore",
    text, layout.header ? "name" : "number"));
}

} // namespace graphmill
