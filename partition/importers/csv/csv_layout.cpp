#include "partition/importers/csv/csv_layout.hpp"

#include "messages/words/number_text.hpp"
#include "partition/importers/csv/csv_names.hpp"
#include "partition/importers/npy/npy_source.hpp"

#include <algorithm>
#include <numeric>

namespace graphmill {

namespace {

constexpr std::size_t most_columns_named = 12;

} // namespace

std::vector<std::string> trimmed_fields(const csv_reader& rows) {
  std::vector<std::string> out;
  for (auto field : rows.fields())
    out.emplace_back(trim_blanks(field));
  return out;
}

std::optional<std::size_t> find_column(const csv_layout& layout,
                                       const std::string& text) {
  const auto named = [&](auto written) -> std::optional<std::size_t> {
    for (std::size_t i = 0; layout.header && i < layout.count(); ++i)
      if (written(layout.names[i]) == written(text))
        return i;
    return std::nullopt;
  };
  if (const auto same = named([](std::string_view name) { return name; }))
    return same;
  if (const auto alike = named(lower_name))
    return alike;
  const auto number = number_from<std::size_t>(text);
  if (number && *number >= 1 && *number <= layout.count())
    return *number - 1;
  return std::nullopt;
}

std::vector<std::size_t> all_columns(const csv_layout& layout) {
  std::vector<std::size_t> columns(layout.count());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return columns;
}

std::string columns_text(const csv_layout& layout,
                         const std::vector<std::size_t>& columns) {
  std::string out;
  for (std::size_t i = 0; i < columns.size() && i < most_columns_named; ++i)
    out += (i == 0 ? "" : ", ") + column_text(layout, columns[i]);
  if (columns.size() > most_columns_named)
    out += fmt::format(" and {} more", columns.size() - most_columns_named);
  return out;
}

std::string column_text(const csv_layout& layout, std::size_t column) {
  return layout.header && !layout.names[column].empty()
           ? fmt::format("\"{}\"", layout.names[column])
           : std::to_string(column + 1);
}

std::string layout_text(const csv_table& table, const csv_layout& layout) {
  auto out = fmt::format("{}: {}", table.file.filename().string(),
                         layout.header ? "a header" : "no header");
  const auto add = [&](const char* name, std::optional<std::size_t> column) {
    if (column)
      out += fmt::format(", {} {}", name, column_text(layout, *column));
  };
  add("source", layout.source);
  add("destination", layout.destination);
  add("relation", layout.relation);
  add("weight", layout.weight);
  add("time of the edge", layout.edge_time);
  for (const auto& task : layout.tasks) {
    for (const auto& [what, column] :
         {std::pair{"label", task.label}, std::pair{"split", task.split},
          std::pair{"time", task.time}, std::pair{"weight", task.weight},
          std::pair{"negatives", task.negatives}})
      add(fmt::format("{} of the task {}", what, task.name).c_str(), column);
  }
  add("id", layout.id);
  add("label", layout.label);
  add("split", layout.split);
  add("training mask", layout.masks[0]);
  add("validation mask", layout.masks[1]);
  add("test mask", layout.masks[2]);
  add("time", layout.time);
  add("time of the node", layout.node_time);
  for (const auto& set : layout.label_sets) {
    add("label of a set", set.label);
    add("split of a set", set.split);
  }
  if (!layout.features.empty())
    out += fmt::format(", {} features ({})", layout.features.size(),
                       columns_text(layout, layout.features));
  if (!layout.ignored.empty())
    out += fmt::format(", left out {}", columns_text(layout, layout.ignored));
  return out;
}

bool names_table(const std::string& name, const csv_table& table) {
  const auto is_called = [&name](const std::filesystem::path& file) {
    return file.filename().string() == name;
  };
  if (name == table.type || is_called(table.file)
      || std::ranges::any_of(table.more, is_called))
    return true;
  const auto parts = split_edge_type_name(table.type);
  return parts && name == (*parts)[1];
}

} // namespace graphmill
