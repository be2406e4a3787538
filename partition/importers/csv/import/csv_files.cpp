#include "partition/importers/csv/import/csv_files.hpp"

#include "partition/importers/csv/csv_tables.hpp"

#include <algorithm>
#include <system_error>

namespace graphmill {

result<std::vector<std::filesystem::path>>
csv_files(const csv_import_options& options) {
  GRAPHMILL_TRY(const auto all, join_tables(options));
  std::vector<std::filesystem::path> files;
  const auto add = [&files](const std::filesystem::path& file) {
    if (std::ranges::find(files, file) == files.end())
      files.push_back(file);
  };
  for (const auto* tables : {&all.nodes, &all.edges})
    for (const auto& table : *tables) {
      add(table.file);
      for (const auto& file : table.more)
        add(file);
    }
  std::error_code failed;
  for (const auto* dataset : {&options.classes_of, &options.like})
    for (const auto* name : {"dataset.json", "partitions.json", "columns.json"})
      if (!dataset->empty() && std::filesystem::exists(*dataset / name, failed))
        add(*dataset / name);
  return files;
}

} // namespace graphmill
