#include "pipelines/results/run_listing.hpp"

#include "pipelines/results/run_folder.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// Where a coordinator keeps what it knows of the runs beside it.
constexpr auto history_of_coordinator = "runs.sqlite";

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t out = 0;
  std::error_code failed;
  for (fs::recursive_directory_iterator entry{folder, failed}, end;
       !failed && entry != end; entry.increment(failed)) {
    std::error_code unknown;
    if (!fs::is_regular_file(entry->symlink_status(unknown)) || unknown)
      continue;
    const auto bytes = entry->file_size(unknown);
    out += unknown ? 0 : bytes;
  }
  return out;
}

std::optional<unix_time> changed_at(const fs::path& file) {
  struct stat about {};
  if (::lstat(file.c_str(), &about) != 0)
    return std::nullopt;
  return std::chrono::duration_cast<unix_time>(
    std::chrono::seconds{about.st_mtim.tv_sec});
}

listed_state state_of_run(run_folder& folder, const nlohmann::json& summary) {
  if (summary.is_object()) {
    if (summary.value("error", nlohmann::json{}).is_null())
      return listed_state::finished;
    return summary.value("cancelled", nlohmann::json{}) == true
             ? listed_state::stopped
             : listed_state::failed;
  }
  const auto held = folder.hold(); // Until this has been looked at.
  return !held && held.error().code == ec::unavailable
           ? listed_state::on
           : listed_state::unfinished;
}

/// Nothing of what is no run.
std::optional<listed_run> run_in(const fs::path& folder) {
  std::error_code unknown;
  if (fs::is_symlink(folder, unknown) || !fs::is_directory(folder, unknown))
    return std::nullopt;
  auto opened = run_folder::reopen(folder);
  if (!opened)
    return std::nullopt;
  listed_run out;
  out.name = folder.filename().string();
  if (auto summary = opened.value().read_summary())
    out.summary = std::move(summary).value();
  out.state = state_of_run(opened.value(), out.summary);
  out.began = changed_at(folder / "run.json").value_or(unix_time{0});
  out.changed = out.began;
  for (const auto& file : {opened.value().summary_file(),
                           opened.value().metrics_file(), opened.value().log()})
    out.changed = std::max(out.changed, changed_at(file).value_or(out.began));
  out.size = size_of_run(folder);
  return out;
}

} // namespace

run_size size_of_run(const fs::path& folder) {
  return {bytes_in(folder), bytes_in(folder / "checkpoints")};
}

std::string_view to_string(listed_state which) {
  switch (which) {
  case listed_state::finished:
    return "finished";
  case listed_state::stopped:
    return "stopped";
  case listed_state::failed:
    return "failed";
  case listed_state::on:
    return "on";
  case listed_state::unfinished:
    return "unfinished";
  }
  return "unknown";
}

result<std::vector<listed_run>> list_runs(const fs::path& runs) {
  std::error_code failed;
  std::vector<listed_run> out;
  fs::directory_iterator entry{runs, failed};
  if (failed)
    return fail_errno(failed.value(), "cannot list the runs in {}",
                      runs.string());
  for (const fs::directory_iterator end; !failed && entry != end;
       entry.increment(failed))
    if (auto found = run_in(entry->path()))
      out.push_back(*std::move(found));
  if (failed)
    return fail_errno(failed.value(), "cannot list the runs in {}",
                      runs.string());
  std::ranges::sort(out, [](const listed_run& a, const listed_run& b) {
    return std::pair{b.began, b.name} < std::pair{a.began, a.name};
  });
  return out;
}

result<run_size> remove_run(const fs::path& runs, const std::string& name) {
  const auto folder = runs / name;
  if (name.empty() || name.front() == '.' || fs::path{name}.has_parent_path())
    return fail(ec::invalid_argument,
                "\"{}\" is no name of a run in {}: `graphmill runs --local` "
                "lists them",
                name, runs.string());
  std::error_code unknown;
  if (fs::is_symlink(folder, unknown))
    return fail(ec::invalid_argument,
                "{} is a link, and not the folder of a run: remove it by hand",
                folder.string());
  GRAPHMILL_TRY(auto opened, run_folder::reopen(folder));
  GRAPHMILL_TRYV(opened.hold()); // Nobody goes on with it from now on.
  if (fs::exists(runs / history_of_coordinator, unknown)
      && !opened.read_summary())
    return fail(ec::unavailable,
                "the run {} may be in the queue of the coordinator whose "
                "folder {} is: cancel it there first",
                name, runs.string());
  const auto size = size_of_run(folder);
  // By a name that nobody looks for, so that no half of a run is found.
  const auto hidden = runs / fmt::format(".{}.removed", name);
  std::error_code failed;
  fs::rename(folder, hidden, failed);
  if (!failed)
    fs::remove_all(hidden, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot remove {}", folder.string());
  return size;
}

} // namespace graphmill
