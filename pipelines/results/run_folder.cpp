#include "pipelines/results/run_folder.hpp"

#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"
#include "pipelines/results/event_place.hpp"
#include "pipelines/results/run_lines.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <span>
#include <string_view>
#include <system_error>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// Names of classes are the most of it.
constexpr std::size_t largest_file = std::size_t{1} << 26;
constexpr std::size_t largest_summary = std::size_t{1} << 26;
/// A folder with curves, or a link to it.
constexpr auto events_name = "tensorboard";

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

/// Where a line of steps.jsonl stands, seen from a position.
enum class line_place { behind, behind_in_its_epoch, ahead };

line_place place_of_line(std::string_view line, const course_position& at) {
  const auto read = parse_json(line, "a line of steps.jsonl");
  if (!read || !read.value().is_object())
    return line_place::ahead;
  const auto& step = read.value();
  const auto epoch = integer_of(step.value("epoch", nlohmann::json{}));
  const auto number = integer_of(step.value("step", nlohmann::json{}));
  const auto which = step.value("phase", nlohmann::json{});
  if (!epoch || !number || which == "test") // The test is the end of a run.
    return line_place::ahead;
  if (*epoch <= at.epoch) // Files count from 1.
    return line_place::behind;
  return *epoch == at.epoch + 1 && which == "train" && *number <= at.step
           ? line_place::behind_in_its_epoch
           : line_place::ahead;
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

/// Of a run folder that somebody else has made: no name in it leads out of it,
/// and there is no pipe, for whose other end one would wait.
result<void> check_content(const fs::path& folder) {
  for (const auto* name : {"definition.yaml", "run.json", "metrics.jsonl",
                           "sizes.json", "steps.jsonl", "weights.safetensors",
                           "summary.json", "log.txt", "checkpoints"}) {
    std::error_code unknown;
    const auto there = fs::symlink_status(folder / name, unknown);
    if (!fs::is_symlink(there) && !fs::is_fifo(there))
      continue;
    return fail(ec::permission,
                "{} is a {}, and what belongs to a run must lie in its folder: "
                "look who has put it there, and remove it",
                (folder / name).string(),
                fs::is_symlink(there) ? "link" : "pipe");
  }
  // Curves that are gone can be done without.
  const auto curves = event_place(folder / events_name);
  if (!curves && curves.error().code != ec::not_found)
    return curves.error();
  return ok();
}

} // namespace

std::string line_text(const nlohmann::json& content) {
  return text_of(content, -1) + '\n';
}

result<void> append_line(int file, const fs::path& path,
                         std::string_view line) {
  GRAPHMILL_TRY(const auto end, file_size(file, path));
  auto written = write_all(file, std::as_bytes(std::span{line}), path);
  if (!written) {
    [[maybe_unused]] const auto cut =
      ::ftruncate(file, static_cast<off_t>(end));
  }
  return written;
}

result<void> write_file(const fs::path& path, const std::string& content) {
  GRAPHMILL_TRY(auto file, scratch_file::create(path, file_access::owner));
  GRAPHMILL_TRYV(write_all(file.fd(), std::as_bytes(std::span{content}), path));
  return file.commit();
}

result<run_folder> run_folder::create(const fs::path& root,
                                      const std::string& name,
                                      const std::string& definition_yaml,
                                      const origin& from) {
  // Whoever reads it later may be in another folder.
  std::error_code failed;
  const auto data = fs::absolute(from.data, failed);
  if (failed)
    return fail_errno(failed.value(),
                      "cannot tell where {} is, as seen from the root: has the "
                      "folder been removed in which this process was started?",
                      from.data.string());
  GRAPHMILL_TRY(auto path,
                make_fresh(root, fmt::format("{}-{}", name, time_stamp())));
  run_folder out{std::move(path)};
  out.origin_ = {data, from.learnt};
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
  auto about = to_json(origin_.learnt);
  about["data"] = origin_.data.string();
  about["format_version"] = 1;
  GRAPHMILL_TRYV(write_file(path_ / "run.json", text_of(about, 2) + "\n"));
  // Not kept open: the run may wait for long, among many others.
  return write_file(metrics_file(), "");
}

result<void> run_folder::keep_events(const fs::path& elsewhere) {
  if (events_)
    return ok();
  const auto here = path_ / events_name;
  if (elsewhere.empty()) {
    GRAPHMILL_TRYV(make_inner_folder(here));
  } else {
    // Whoever goes on with the run may be in another folder.
    std::error_code failed;
    const auto there = fs::absolute(elsewhere, failed) / path_.filename();
    if (failed)
      return fail_errno(failed.value(), "cannot tell where {} is",
                        elsewhere.string());
    GRAPHMILL_TRYV(make_event_place(here, there));
  }
  events_.emplace(here);
  return ok();
}

result<run_folder> run_folder::open(const fs::path& folder) {
  GRAPHMILL_TRY(auto out, reopen(folder));
  std::error_code failed;
  if (fs::exists(out.weights(), failed))
    return out;
  if (const auto held = out.hold();
      !held && held.error().code == ec::unavailable)
    return fail(ec::unavailable,
                "the run {} is on, and has no weights yet: wait for its end",
                folder.string());
  return fail(ec::not_found,
              "the run {} has no weights: it did not come to its end. "
              "`graphmill resume {}` goes on with it, on a cluster with "
              "--cluster",
              folder.string(), folder.string());
}

result<run_folder> run_folder::reopen(const fs::path& folder) {
  run_folder out{folder};
  GRAPHMILL_TRYV(check_content(folder));
  const auto file = folder / "run.json";
  const auto read = read_json(file, largest_file);
  std::error_code unknown;
  if (!read && !fs::exists(folder, unknown) && !unknown)
    return fail(ec::not_found,
                "there is no run folder {}: it has been removed, or is "
                "elsewhere",
                folder.string());
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
  GRAPHMILL_TRY(out.origin_.learnt, learnt_in(about, file.string()));
  // Of a link that leads nowhere, the log will say so.
  if (fs::exists(fs::symlink_status(folder / events_name, unknown)))
    out.events_.emplace(folder / events_name);
  return out;
}

result<void> run_folder::hold() {
  const auto path = path_ / "run.json";
  GRAPHMILL_TRY(held_, open_file(path, O_RDONLY));
  // The lock goes with the process, however that ends.
  if (::flock(held_.get(), LOCK_EX | LOCK_NB) == 0)
    return ok();
  if (errno == EWOULDBLOCK)
    return fail(ec::unavailable,
                "the run {} is on: another process writes to its folder. Wait "
                "for its end, or stop it",
                path_.string());
  return fail_errno(errno, "cannot lock {}", path.string());
}

result<void> run_folder::go_back(const nlohmann::json& metrics,
                                 const course_position& at,
                                 const std::string& definition_yaml) {
  // Of an end that the run has yet to come to again.
  std::error_code kept;
  if (fs::remove(summary_file(), kept); kept)
    return fail_errno(kept.value(), "cannot remove {}",
                      summary_file().string());
  steps_.reset();
  GRAPHMILL_TRYV(metrics_.replace(metrics));
  if (events_)
    GRAPHMILL_TRYV(events_->forget());
  GRAPHMILL_TRYV(cut_steps(at));
  return write_file(definition(), definition_yaml);
}

/// Leaves the lines of the steps before a position. The last line may have been
/// cut short.
result<void> run_folder::cut_steps(const course_position& at) {
  const auto path = path_ / "steps.jsonl";
  std::error_code unknown;
  if (!fs::exists(path, unknown))
    return ok();
  GRAPHMILL_TRY(auto file, scratch_file::create(path, file_access::owner));
  run_lines old{path};
  while (const auto line = old.next()) {
    if (place_of_line(*line, at) == line_place::ahead)
      continue;
    const auto kept = std::string{*line} + '\n';
    GRAPHMILL_TRYV(
      write_all(file.fd(), std::as_bytes(std::span{kept}), file.path()));
  }
  return file.commit();
}

bool run_folder::has_steps_until(const course_position& at,
                                 std::int64_t expected) const {
  run_lines lines{path_ / "steps.jsonl"};
  std::int64_t found = 0;
  while (const auto line = lines.next())
    if (place_of_line(*line, at) == line_place::behind_in_its_epoch)
      ++found;
  return found == expected;
}

result<void> run_folder::add_metrics(const nlohmann::json& line) {
  return metrics_.add(line);
}

result<void> run_folder::add_events(const nlohmann::json& line) {
  return events_ ? events_->tell(line, metrics_file()) : ok();
}

result<void> run_folder::add_step(const nlohmann::json& line) {
  const auto path = path_ / "steps.jsonl";
  if (steps_.get() < 0) {
    GRAPHMILL_TRY(steps_, open_file(path, O_WRONLY | O_CREAT | O_APPEND,
                                    file_access::owner));
  }
  GRAPHMILL_TRYV(append_line(steps_.get(), path, line_text(line)));
  return ok();
}

result<void> run_folder::write_sizes(const std::vector<size_change>& sizes) {
  return write_file(path_ / "sizes.json", text_of(sizes_json(sizes), 2) + "\n");
}

std::vector<size_change> run_folder::read_sizes() const {
  const auto read = read_json(path_ / "sizes.json", largest_file);
  return read ? sizes_in(read.value()).value_or(std::vector<size_change>{})
              : std::vector<size_change>{};
}

result<void> run_folder::write_summary(const nlohmann::json& summary) {
  return write_file(summary_file(), text_of(summary, 2) + "\n");
}

result<nlohmann::json> run_folder::read_summary() const {
  return read_json(summary_file(), largest_summary);
}

nlohmann::json run_folder::summary_at_end() const {
  std::error_code unknown;
  auto summary = read_summary();
  if (!summary || !summary.value().is_object()
      || !fs::exists(weights(), unknown))
    return {};
  const auto& said = summary.value();
  const auto ended = said.value("error", nlohmann::json{}).is_null()
                     && said.value("digest", nlohmann::json{}).is_string();
  return ended ? std::move(summary).value() : nlohmann::json{};
}

} // namespace graphmill
