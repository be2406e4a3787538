#include "pipelines/results/metrics_log.hpp"

#include "partition/files/json_text.hpp"
#include "pipelines/results/run_folder.hpp"
#include "pipelines/results/run_lines.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace graphmill {

std::int32_t epoch_of(const nlohmann::json& line) {
  return static_cast<std::int32_t>(
    integer_of(line.value("epoch", nlohmann::json{})).value_or(0));
}

result<void> metrics_part::read(std::span<char> to, std::uint64_t at) const {
  // The position of the file is that of the thread that adds lines.
  auto done = read_at(file->get(), std::as_writable_bytes(to), at, path);
  return !done && done.error().code == ec::invalid_data ? changed()
                                                        : std::move(done);
}

error metrics_part::changed() const {
  return fail(ec::invalid_data,
              "{} is not as the run has written it: somebody else has changed "
              "it",
              path.string());
}

metrics_log::metrics_log(std::filesystem::path path) : path_(std::move(path)) {
  begin({});
}

void metrics_log::begin(std::string_view text) {
  bytes_ = 0;
  hash_ = content_hash{};
  ends_ = {end_with(text, 0)};
}

metrics_log::epoch_end metrics_log::end_with(std::string_view text,
                                             std::int32_t epoch) {
  bytes_ += text.size();
  hash_.update(text);
  return {epoch, bytes_, hash_.short_digest()};
}

/// To be read, too, as it is then whatever becomes of its name.
result<void> metrics_log::open() {
  if (file_)
    return ok();
  GRAPHMILL_TRY(auto file, open_file(path_, O_RDWR | O_CREAT | O_APPEND,
                                     file_access::owner));
  file_ = std::make_shared<unique_fd>(std::move(file));
  return ok();
}

result<void> metrics_log::add(const nlohmann::json& line) {
  GRAPHMILL_TRYV(open());
  const auto text = line_text(line);
  GRAPHMILL_TRYV(append_line(file_->get(), path_, text));
  const auto epoch = std::max(epoch_of(line), ends_.back().epoch);
  const auto end = end_with(text, epoch);
  if (line.value("phase", "") == "test")
    return ok();
  if (ends_.back().epoch < epoch)
    ends_.push_back(end);
  else
    ends_.back() = end;
  return ok();
}

result<void> metrics_log::replace(const nlohmann::json& lines) {
  std::string text;
  for (const auto& line : lines)
    text += line_text(line);
  file_.reset();
  begin(text);
  return write_file(path_, text);
}

result<metrics_part> metrics_log::until(std::int32_t epoch) {
  GRAPHMILL_TRYV(open());
  const auto later = std::ranges::upper_bound(ends_.begin() + 1, ends_.end(),
                                              epoch, {}, &epoch_end::epoch);
  const auto& end = *std::prev(later);
  return metrics_part{file_, end.bytes, end.digest, path_};
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
