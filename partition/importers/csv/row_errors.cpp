#include "partition/importers/csv/row_errors.hpp"

#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "partition/files/file_stamp.hpp"

#include <fcntl.h>

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace graphmill {

namespace {

constexpr std::size_t most_errors_told = 20;
/// Of a sentence in the list: a cell may be as long as a row.
constexpr std::size_t most_bytes_told = 600;

/// @returns whether the line was not marked before.
bool mark_line(std::vector<bool>& lines, std::size_t line) {
  if (lines.size() <= line)
    lines.resize(std::max(line + 1, lines.size() * 2));
  const auto fresh = !lines[line];
  lines[line] = true;
  return fresh;
}

/// A sentence without its numbers and quoted texts: of errors of one kind it is
/// the same.
std::string kind_of(std::string_view sentence) {
  std::string out;
  auto quoted = false;
  for (const auto c : sentence) {
    quoted = quoted != (c == '"');
    if (!quoted && (c < '0' || c > '9'))
      out += c;
  }
  return out;
}

} // namespace

result<left_out_lines*>
row_errors::left_out(const csv_table& table,
                     const std::filesystem::path& file) {
  auto& out = left_out_[{table.type, file}];
  if (out.rejected == nullptr) {
    GRAPHMILL_TRY(const auto stamp, stamp_file(file));
    out.rejected = &files_[{stamp.device, stamp.inode}];
  }
  return &out;
}

result<void> row_errors::add(const csv_reader& rows, left_out_lines& out,
                             std::string_view column, const error& wrong) {
  if (wrong.code != ec::invalid_data)
    return wrong;
  const auto line = static_cast<std::size_t>(rows.line());
  const auto whole = column.empty();
  if (whole || skips())
    mark_line(out.lines, line);
  if (whole && !mark_line(out.rejected->whole, line))
    return ok(); // Another table has told it.
  const auto sentence =
    whole ? wrong.message : fmt::format("{} ({})", wrong.message, column);
  tell(shortened(printable(sentence), most_bytes_told));
  const auto end = line + static_cast<std::size_t>(rows.lines());
  for (auto covered = line; covered < end; ++covered)
    rows_ += mark_line(out.rejected->any, covered) ? 1 : 0;
  if (!skips())
    return ok();
  if (rows_ > most_skipped_)
    return all({});
  return write(rows, column, wrong.message);
}

void row_errors::tell(std::string sentence) {
  ++errors_;
  auto key = kind_of(sentence);
  auto at =
    std::ranges::find(kinds_, key, &std::pair<std::string, error_kind>::first);
  if (at == kinds_.end() && kinds_.size() < most_errors_told)
    at = kinds_.insert(at, {std::move(key), {}});
  if (at != kinds_.end()) {
    ++at->second.errors;
    if (at->second.first.size() < most_errors_told)
      at->second.first.push_back(sentence);
  }
  if (first_.size() < most_errors_told)
    first_.push_back(std::move(sentence));
}

/// The first sentences. Where there are more of several kinds, the first ones
/// of each kind, so that one kind does not hide the others.
std::string row_errors::sentences() const {
  std::string out;
  if (kinds_.size() == 1 || std::cmp_equal(errors_, first_.size())) {
    if (std::cmp_greater(errors_, first_.size()))
      out = fmt::format("; the first {}", first_.size());
    out += ':';
    for (const auto& sentence : first_)
      out += '\n' + sentence;
    return out;
  }
  const auto each = std::max<std::size_t>(1, most_errors_told / kinds_.size());
  auto left = errors_;
  out = fmt::format(
    "; {}{} kinds:", kinds_.size() == most_errors_told ? "at least " : "",
    kinds_.size());
  for (const auto& [key, kind] : kinds_) {
    const auto shown = std::min(each, kind.first.size());
    for (std::size_t i = 0; i < shown; ++i)
      out += '\n' + kind.first[i];
    if (const auto more = kind.errors - static_cast<std::int64_t>(shown);
        more > 0)
      out += fmt::format("\n  and {} more of this kind", more);
    left -= kind.errors;
  }
  return left == 0 ? out : out + fmt::format("\nand {} more", left);
}

result<void> row_errors::write(const csv_reader& rows, std::string_view column,
                               std::string_view sentence) {
  std::string text;
  if (rejects_file_.get() < 0) {
    GRAPHMILL_TRY(rejects_file_,
                  open_file(rejects_, O_WRONLY | O_CREAT | O_TRUNC));
    text = "file,line,column,error,row\n";
  }
  const auto place = fmt::format("{}:{}: ", rows.path().string(), rows.line());
  if (sentence.starts_with(place))
    sentence.remove_prefix(place.size());
  text +=
    fmt::format("{},{},{},{},{}\n", quoted_csv_field(rows.path().string()),
                rows.line(), quoted_csv_field(column),
                quoted_csv_field(sentence), quoted_csv_field(rows.row_text()));
  return write_all(rejects_file_.get(), std::as_bytes(std::span{text}),
                   rejects_);
}

error row_errors::all(std::string_view last) const {
  if (errors_ == 1 && last.empty() && !skips())
    return error{ec::invalid_data, first_.front()};
  auto text = fmt::format("{} in {}", pluralized(errors_, "error"),
                          pluralized(rows_, "row"));
  if (skips() && rows_ > most_skipped_)
    text += fmt::format(
      ", and --skip-bad-rows allows {}; reading stopped there", most_skipped_);
  text += sentences();
  if (!last.empty())
    text += fmt::format("\n{}", last);
  return error{ec::invalid_data, text};
}

result<void> row_errors::finish() const {
  if (failed())
    return all({});
  return ok();
}

error row_errors::with(const error& last) const {
  if (!failed() || last.message == all({}).message)
    return last;
  return {last.code, all(last.message).message};
}

} // namespace graphmill
