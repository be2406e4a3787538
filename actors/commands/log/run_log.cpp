#include "actors/commands/log/run_log.hpp"

#include "actors/process/logger.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

constexpr const char* present_name = "log.txt";

/// The first one has what was put aside.
constexpr const char* file_names[]{"log.txt.old", present_name};

/// A line that is longer is told in pieces.
constexpr std::size_t longest_line = std::size_t{1} << 20;

} // namespace

result<void> run_log::open() {
  const auto begin = client_.fetch_file({run_, present_name, 0});
  if (begin)
    size_ = begin.value().size;
  else if (begin.error().code != ec::not_found)
    return begin.error();
  return ok();
}

/// @returns whether there may be more.
result<bool> run_log::read_more() {
  if (file_ == std::size(file_names))
    return false;
  const auto is_present = file_ + 1 == std::size(file_names);
  auto piece = client_.fetch_file({run_, file_names[file_], offset_});
  if (!piece && piece.error().code != ec::not_found)
    return piece.error();
  if (piece) {
    const auto end = is_present ? size_ : piece.value().size;
    const auto& bytes = piece.value().bytes;
    const auto taken =
      std::min<std::uint64_t>(bytes.size(), end - std::min(end, offset_));
    text_.erase(0, std::exchange(told_, 0));
    text_.append(reinterpret_cast<const char*>(bytes.data()), taken);
    offset_ += taken;
    if (taken != 0 && offset_ < end)
      return true;
  }
  ++file_;
  offset_ = 0;
  if (told_ < text_.size() && !text_.ends_with('\n'))
    text_ += '\n'; // It was cut off, as by a full disk.
  return true;
}

result<std::optional<run_log::entry>> run_log::next() {
  auto end = text_.find('\n', told_);
  while (end == std::string::npos && text_.size() - told_ < longest_line) {
    GRAPHMILL_TRY(const auto more, read_more());
    if (!more)
      return std::optional<entry>{};
    end = text_.find('\n', told_);
  }
  const auto length = std::min(end - told_, longest_line);
  const auto text = std::string_view{text_}.substr(told_, length);
  auto line = run_log_line(text);
  entry out{line.value_or(log_line{}), line.has_value()};
  if (!line) {
    out.line.time = last_;
    out.line.text = text;
  }
  out.line.run = run_;
  out.line.module = "run";
  last_ = out.line.time;
  told_ += length;
  if (told_ == end)
    ++told_;
  return std::optional{std::move(out)};
}

} // namespace graphmill
