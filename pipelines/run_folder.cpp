#include "pipelines/run_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <system_error>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

std::string time_stamp() {
  const auto now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                     parts.tm_min, parts.tm_sec);
}

/// Makes a folder that did not exist before, trying suffixes.
result<fs::path> make_fresh(const fs::path& root, const std::string& stem) {
  std::error_code failed;
  fs::create_directories(root, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot make the folder {}",
                      root.string());
  for (int n = 1; n < 1000; ++n) {
    auto path = root / (n == 1 ? stem : fmt::format("{}-{}", stem, n));
    if (fs::create_directory(path, failed))
      return path;
    if (failed)
      return fail_errno(failed.value(), "cannot make the run folder {}",
                        path.string());
  }
  return fail(ec::io, "cannot find a free name for a run folder in {}",
              root.string());
}

result<void> write_all(int file, const std::string& content,
                       const fs::path& path) {
  std::size_t done = 0;
  while (done < content.size()) {
    const auto n = write(file, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail_errno(errno, "cannot write {}", path.string());
    done += static_cast<std::size_t>(n);
  }
  if (fsync(file) != 0)
    return fail_errno(errno, "cannot write {}", path.string());
  return ok();
}

result<std::string> read_file(const fs::path& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in)
    return fail_errno(errno, "cannot open {}", path.string());
  return std::string{std::istreambuf_iterator<char>{in}, {}};
}

} // namespace

result<void> write_file(const fs::path& path, const std::string& content) {
  auto aside = path;
  aside += ".tmp";
  const auto file =
    ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0)
    return fail_errno(errno, "cannot write {}", path.string());
  auto written = write_all(file, content, path);
  ::close(file);
  if (written && ::rename(aside.c_str(), path.c_str()) != 0)
    written = fail_errno(errno, "cannot write {}", path.string());
  if (!written)
    ::unlink(aside.c_str());
  return written;
}

result<run_folder> run_folder::create(const fs::path& root,
                                      const std::string& name,
                                      const std::string& definition_yaml,
                                      const origin& from) {
  run_folder out;
  TRY(out.path_, make_fresh(root, fmt::format("{}-{}", name, time_stamp())));
  out.origin_ = from;
  TRYV(write_file(out.definition(), definition_yaml));
  const nlohmann::json about{
    {"data", from.data.string()},
    {"dataset_digest", from.dataset_digest},
    {"format_version", 1},
  };
  TRYV(write_file(out.path_ / "run.json", about.dump(2) + "\n"));
  out.metrics_.open(out.path_ / "metrics.jsonl", std::ios::app);
  if (!out.metrics_)
    return fail_errno(errno, "cannot write {}",
                      (out.path_ / "metrics.jsonl").string());
  return out;
}

result<run_folder> run_folder::open(const fs::path& folder) {
  run_folder out;
  out.path_ = folder;
  const auto file = folder / "run.json";
  if (!fs::exists(file))
    return fail(ec::not_found,
                "{} is not a run folder: it has no run.json. `graphmill train` "
                "prints the folder of its run",
                folder.string());
  TRY(auto text, read_file(file));
  const auto about = nlohmann::json::parse(text, nullptr, false);
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
  if (!fs::exists(out.weights()))
    return fail(ec::not_found,
                "the run {} has no weights: it did not come to its end",
                folder.string());
  return out;
}

result<void> run_folder::add_metrics(const nlohmann::json& line) {
  metrics_ << line.dump() << '\n';
  metrics_.flush();
  if (!metrics_)
    return fail_errno(errno, "cannot write {}",
                      (path_ / "metrics.jsonl").string());
  return ok();
}

result<void> run_folder::write_summary(const nlohmann::json& summary) {
  return write_file(path_ / "summary.json", summary.dump(2) + "\n");
}

} // namespace graphmill
