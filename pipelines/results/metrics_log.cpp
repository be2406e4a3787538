#include "pipelines/results/metrics_log.hpp"

#include "partition/files/json_text.hpp"
#include "pipelines/results/run_folder.hpp"
#include "pipelines/results/run_lines.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>

namespace graphmill {

std::int32_t epoch_of(const nlohmann::json& line) {
  return static_cast<std::int32_t>(
    integer_of(line.value("epoch", nlohmann::json{})).value_or(0));
}

result<void> metrics_part::read(std::span<char> to, std::uint64_t at) const {
  std::size_t done = 0;
  while (done < to.size()) {
    // The position of the file is that of whoever adds lines.
    const auto n = ::pread(file->get(), to.data() + done, to.size() - done,
                           static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail_errno(errno, "cannot read {}", path.string());
    if (n == 0)
      break;
    done += static_cast<std::size_t>(n);
  }
  const auto has_end = at + to.size() < bytes || to.back() == '\n';
  if (done < to.size() || !has_end)
    return fail(ec::invalid_data,
                "{} lacks lines that the run has written: somebody else has "
                "changed it",
                path.string());
  return ok();
}

/// To be read, too, as it is then whatever becomes of its name.
result<void> metrics_log::open() {
  if (file_)
    return ok();
  GRAPHMILL_TRY(auto file, open_file(path_, O_RDWR | O_CREAT | O_APPEND,
                                     file_access::owner));
  GRAPHMILL_TRY(first_, file_size(file.get(), path_));
  file_ = std::make_shared<unique_fd>(std::move(file));
  return ok();
}

result<void> metrics_log::add(const nlohmann::json& line) {
  GRAPHMILL_TRYV(open());
  GRAPHMILL_TRY(const auto end, append_line(file_->get(), path_, line));
  if (line.value("phase", "") == "test")
    return ok();
  const auto epoch = epoch_of(line);
  if (ends_.empty() || ends_.back().first < epoch)
    ends_.emplace_back(epoch, end);
  else
    ends_.back().second = end;
  return ok();
}

result<void> metrics_log::replace(const nlohmann::json& lines) {
  std::string text;
  for (const auto& line : lines)
    text += line_text(line);
  file_.reset();
  ends_.clear();
  return write_file(path_, text);
}

result<metrics_part> metrics_log::until(std::int32_t epoch) {
  GRAPHMILL_TRYV(open());
  const auto later = std::ranges::upper_bound(
    ends_, epoch, {}, [](const auto& one) { return one.first; });
  return metrics_part{
    file_, later == ends_.begin() ? first_ : std::prev(later)->second, path_};
}

void metrics_log::each(
  const std::function<void(nlohmann::json line)>& tell) const {
  run_lines file{path_};
  while (const auto text = file.next()) {
    auto line = parse_json(*text, "metrics.jsonl");
    if (!line || !line.value().is_object() || !line.value().contains("phase")
        || !line.value()["phase"].is_string())
      break;
    tell(std::move(line).value());
  }
}

nlohmann::json metrics_log::read() const {
  auto out = nlohmann::json::array();
  each([&out](nlohmann::json line) { out.push_back(std::move(line)); });
  return out;
}

} // namespace graphmill
