#include "partition/importers/csv/csv_tables.hpp"

#include "partition/files/file_stamp.hpp"

#include <glob.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <system_error>
#include <utility>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

/// The files that a pattern of the shell matches; of anything else, and where
/// there is a file of that name, the path itself.
result<std::vector<fs::path>> files_matching(const fs::path& pattern) {
  const auto text = pattern.string();
  std::error_code failed;
  if (text.find_first_of("*?[") == text.npos || fs::exists(pattern, failed))
    return std::vector{pattern};
  ::glob_t found{};
  const auto code = ::glob(text.c_str(), GLOB_ERR, nullptr, &found);
  std::vector<fs::path> files;
  for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i)
    files.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  if (code == GLOB_NOMATCH)
    return fail(ec::not_found, "no file matches {}", text);
  if (code != 0)
    return fail(ec::io, "cannot list the files that match {}", text);
  return files;
}

/// The files of the tables of one kind, by the types of those.
using files_by_type =
  std::map<std::string,
           std::map<std::pair<std::uint64_t, std::uint64_t>, fs::path>>;

/// Fails if a table has the file already, also by another path or link.
result<void> expect_new(const std::string& type, const fs::path& file,
                        files_by_type& files) {
  const auto stamp = stamp_file(file);
  if (!stamp)
    return ok(); // What is wrong is told when the file is read.
  const auto [at, fresh] = files[type].emplace(
    std::pair{stamp.value().device, stamp.value().inode}, file);
  if (fresh)
    return ok();
  if (at->second == file)
    return fail(ec::invalid_argument,
                "{} is given twice for the type {}: give it once, or another "
                "type",
                file.string(), type);
  return fail(ec::invalid_argument,
              "{} and {} are the same file, given twice for the type {}: give "
              "it once, or another type",
              at->second.string(), file.string(), type);
}

/// Adds the files of a table to those of its type that are there.
result<void> add_table(std::vector<csv_table>& tables, csv_table table,
                       files_by_type& known) {
  GRAPHMILL_TRY(auto files, files_matching(table.file));
  std::ranges::move(table.more, std::back_inserter(files));
  auto at = std::ranges::find(tables, table.type, &csv_table::type);
  for (auto& file : files) {
    GRAPHMILL_TRYV(expect_new(table.type, file, known));
    if (at == tables.end()) {
      tables.push_back({table.type, std::move(file)});
      at = tables.end() - 1;
      continue;
    }
    at->more.push_back(std::move(file));
  }
  return ok();
}

result<std::vector<csv_table>> joined_tables(std::vector<csv_table> tables,
                                             const std::string& usual_type) {
  std::vector<csv_table> out;
  files_by_type known;
  for (auto& table : tables) {
    if (table.type.empty())
      table.type = usual_type;
    GRAPHMILL_TRYV(add_table(out, std::move(table), known));
  }
  return out;
}

} // namespace

result<csv_import_options> join_tables(csv_import_options options) {
  GRAPHMILL_TRY(options.nodes, joined_tables(std::move(options.nodes), "node"));
  GRAPHMILL_TRY(options.edges, joined_tables(std::move(options.edges),
                                             std::string{usual_edge_type}));
  decltype(options.task_files) task_files;
  for (const auto& [pattern, which] : options.task_files) {
    GRAPHMILL_TRY(const auto files, files_matching(pattern));
    for (const auto& file : files)
      task_files.emplace_back(file.string(), which);
  }
  options.task_files = std::move(task_files);
  for (auto* tables : {&options.nodes, &options.edges})
    for (auto& table : *tables)
      table.comments = options.comments;
  return options;
}

} // namespace graphmill
