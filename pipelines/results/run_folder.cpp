#include "pipelines/results/run_folder.hpp"

#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <system_error>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_file = std::size_t{1} << 20;

std::string time_stamp() {
  const auto now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                     parts.tm_min, parts.tm_sec);
}

/// Names and errors may hold bytes that are no text.
std::string text_of(const nlohmann::json& content, int indent) {
  return content.dump(indent, ' ', false,
                      nlohmann::json::error_handler_t::replace);
}

/// Makes a folder that did not exist before, trying suffixes.
result<fs::path> make_fresh(const fs::path& root, const std::string& stem) {
  GRAPHMILL_TRYV(make_private_folder(root));
  for (int n = 1; n < 1000; ++n) {
    auto path = root / (n == 1 ? stem : fmt::format("{}-{}", stem, n));
    if (::mkdir(path.c_str(), S_IRWXU) == 0)
      return path;
    if (errno != EEXIST)
      return fail_errno(errno, "cannot make the run folder {}", path.string());
  }
  return fail(ec::io, "cannot find a free name for a run folder in {}",
              root.string());
}

} // namespace

result<void> write_file(const fs::path& path, const std::string& content) {
  GRAPHMILL_TRY(auto file, scratch_file::create(path, file_access::owner));
  GRAPHMILL_TRYV(write_all(file.fd(), std::as_bytes(std::span{content}), path));
  return file.commit();
}

result<run_folder> run_folder::create(const fs::path& root,
                                      const std::string& name,
                                      const std::string& definition_yaml,
                                      const origin& from) {
  run_folder out;
  out.origin_ = from;
  // Whoever reads it later may be in another folder.
  std::error_code failed;
  out.origin_.data = fs::absolute(from.data, failed);
  if (failed)
    return fail_errno(failed.value(),
                      "cannot tell where {} is, as seen from the root: has the "
                      "folder been removed in which this process was started?",
                      from.data.string());
  GRAPHMILL_TRY(out.path_,
                make_fresh(root, fmt::format("{}-{}", name, time_stamp())));
  if (auto begun = out.begin(definition_yaml); !begun) {
    std::error_code ignored;
    fs::remove_all(out.path_, ignored);
    return begun.error();
  }
  return out;
}

/// Writes what a run has from its first moment.
result<void> run_folder::begin(const std::string& definition_yaml) {
  GRAPHMILL_TRYV(write_file(definition(), definition_yaml));
  const nlohmann::json about{
    {"data", origin_.data.string()},
    {"dataset_digest", origin_.dataset_digest},
    {"format_version", 1},
  };
  GRAPHMILL_TRYV(write_file(path_ / "run.json", text_of(about, 2) + "\n"));
  // Not kept open: the run may wait for long, among many others.
  return write_file(path_ / "metrics.jsonl", "");
}

result<run_folder> run_folder::open(const fs::path& folder) {
  run_folder out;
  out.path_ = folder;
  const auto file = folder / "run.json";
  const auto read = read_json(file, largest_file);
  if (!read && read.error().code == ec::not_found)
    return fail(ec::not_found,
                "{} is not a run folder: it has no run.json. `graphmill train` "
                "prints the folder of its run",
                folder.string());
  if (!read)
    return read.error();
  const auto& about = read.value();
  if (!about.is_object() || !about.contains("data")
      || !about["data"].is_string())
    return fail(ec::invalid_data, "{} is damaged", file.string());
  if (!about.contains("format_version") || about["format_version"] != 1)
    return fail(ec::version_mismatch,
                "{} was written by a newer version of Graphmill",
                file.string());
  out.origin_.data = about["data"].get<std::string>();
  if (about.contains("dataset_digest") && about["dataset_digest"].is_string())
    out.origin_.dataset_digest = about["dataset_digest"].get<std::string>();
  std::error_code failed;
  if (!fs::exists(out.weights(), failed))
    return fail(ec::not_found,
                "the run {} has no weights: it did not come to its end",
                folder.string());
  return out;
}

result<void> run_folder::add_metrics(const nlohmann::json& line) {
  if (!metrics_.is_open())
    metrics_.open(path_ / "metrics.jsonl", std::ios::app);
  metrics_ << text_of(line, -1) << '\n';
  metrics_.flush();
  if (!metrics_)
    return fail_errno(errno, "cannot write {}",
                      (path_ / "metrics.jsonl").string());
  return ok();
}

result<void> run_folder::add_step(const nlohmann::json& line) {
  const auto path = path_ / "steps.jsonl";
  if (!steps_.is_open()) {
    GRAPHMILL_TRYV(
      open_file(path, O_WRONLY | O_CREAT | O_APPEND, file_access::owner));
    steps_.open(path, std::ios::app);
  }
  steps_ << text_of(line, -1) << '\n';
  steps_.flush();
  if (!steps_)
    return fail_errno(errno, "cannot write {}", path.string());
  return ok();
}

result<void> run_folder::write_summary(const nlohmann::json& summary) {
  return write_file(path_ / "summary.json", text_of(summary, 2) + "\n");
}

} // namespace graphmill
