#include "partition/growing/appending.hpp"

#include "partition/growing/grown_dataset.hpp"
#include "partition/writing/prepare.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// Within the new folder, while it is made. No type has such a name.
constexpr const char* additions_name = ".additions";

result<void> write_additions(const dataset& before, const additions& what,
                             const additions_folders& folders,
                             const progress_callback& on_progress,
                             const std::atomic<bool>* stop) {
  if (const auto* arrays = std::get_if<new_arrays>(&what))
    return import_npy_additions(before, *arrays, folders, on_progress, stop);
  auto tables = std::get<csv_import_options>(what);
  tables.after = before.folder();
  tables.stop = stop;
  return import_csv_additions(tables, folders, on_progress);
}

/// Fails if a split is said for a task that is not there, or said twice.
result<void> check_new_rows(const dataset& before, const additions& what) {
  const auto* arrays = std::get_if<new_arrays>(&what);
  const auto& said = arrays != nullptr
                       ? arrays->rows
                       : std::get<csv_import_options>(what).new_rows;
  const auto& tasks = before.info().tasks;
  if (said.empty())
    return ok();
  std::string names;
  for (const auto& task : tasks)
    names += (names.empty() ? "" : ", ") + task.name;
  if (tasks.empty())
    return fail(ec::invalid_argument,
                "--split: {} has no task of edges; a column of splits puts new "
                "nodes into one",
                before.folder().string());
  std::set<std::string> seen;
  for (const auto& [task, unused] : said) {
    if (!task.empty() && !before.info().find_task(task))
      return fail(ec::invalid_argument, "--split: {} has no task {}; it has {}",
                  before.folder().string(), task, names);
    if (!seen.insert(task).second)
      return fail(ec::invalid_argument,
                  "--split: two splits are said{}{}; say one",
                  task.empty() ? "" : " for the task ", task);
  }
  for (const auto& task : tasks)
    if (const auto which = split_for(said, task.name);
        arrays != nullptr && which && *which != split::test
        && traits_of(task.kind).labels)
      return fail(ec::invalid_argument,
                  "--split {}: arrays have no labels, so their edges make no "
                  "row of the task {} there: append a table, or say --split "
                  "{}=test or {}=none",
                  file_stem(*which), task.name, task.name, task.name);
  return ok();
}

/// What is reported where nothing is new.
growth_report unchanged(const dataset& data) {
  growth_report out{data.info(), data.info()};
  out.notes.push_back(fmt::format(
    "there is no new node or edge: {} stays as it is", data.folder().string()));
  return out;
}

result<growth_report> append_into(const dataset& before, const additions& what,
                                  const fs::path& folder,
                                  const progress_callback& on_progress,
                                  const std::atomic<bool>* stop, bool rolls) {
  const auto aside = folder / additions_name;
  const additions_folders folders{aside / "nodes", aside / "edges"};
  // One folder at a time: see `folder_builder`.
  std::error_code failed;
  for (const auto& each : {aside, folders.nodes, folders.edges}) {
    fs::create_directory(each, failed);
    if (failed)
      return fail_errno(failed.value(), "cannot make the folder {}",
                        each.string());
  }
  GRAPHMILL_TRYV(write_additions(before, what, folders, on_progress, stop));
  result<growth_report> out = fail(ec::internal, "nothing was appended");
  {
    GRAPHMILL_TRY(const auto nodes, dataset::open(folders.nodes));
    GRAPHMILL_TRY(const auto edges, dataset::open(folders.edges));
    const auto is_empty = [](const auto& type) { return type.count == 0; };
    if (!rolls && std::ranges::all_of(nodes.info().node_types, is_empty)
        && std::ranges::all_of(edges.info().edge_types, is_empty))
      return unchanged(before);
    out = write_grown_dataset(before, nodes, edges, folder, on_progress, stop,
                              rolls);
    if (out && out->now.digest == before.info().digest)
      out = unchanged(before);
  }
  fs::remove_all(aside, failed);
  if (out && failed)
    return fail_errno(failed.value(), "cannot remove {}", aside.string());
  return out;
}

} // namespace

result<growth_report> append_to_dataset(const fs::path& folder,
                                        const additions& what,
                                        const progress_callback& on_progress,
                                        const std::atomic<bool>* stop,
                                        bool rolls) {
  growth_report out;
  const auto build = [&](const fs::path& partial) -> result<bool> {
    // Opened with the lock, so that two who append do not lose what is new.
    GRAPHMILL_TRY(const auto before, dataset::open(folder));
    GRAPHMILL_TRYV(expect_growable(before));
    GRAPHMILL_TRYV(check_new_rows(before, what));
    GRAPHMILL_TRY(out,
                  append_into(before, what, partial, on_progress, stop, rolls));
    return out.now.digest != out.before.digest;
  };
  folder_preparation work{folder, present_folder::replace};
  GRAPHMILL_TRYV(work.run(build, on_progress, stop));
  return out;
}

} // namespace graphmill
