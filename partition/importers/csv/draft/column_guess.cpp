#include "partition/importers/csv/draft/column_guess.hpp"

#include "messages/base/printable.hpp"
#include "messages/words/number_text.hpp"
#include "partition/importers/columns/boolean_column.hpp"
#include "partition/importers/columns/fields/date_text.hpp"
#include "partition/importers/columns/fields/field_items.hpp"
#include "partition/importers/columns/fields/number_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

constexpr std::size_t most_values_kept = 100000;
constexpr std::size_t most_one_hot = 50;
constexpr std::size_t most_example_bytes = 40;

} // namespace

void column_guess::add(std::string_view field) {
  ++rows_;
  if (is_missing(field, {})) {
    ++missing_;
    return;
  }
  if (example_.empty())
    example_ = shortened(printable(field), most_example_bytes);
  if (values_.size() < most_values_kept)
    values_.emplace(field);
  std::string point{field};
  std::ranges::replace(point, ',', '.');
  const auto number = number_from<double>(point);
  if (number && std::isfinite(*number)) {
    ++(point == field ? numbers_ : comma_numbers_);
    least_ =
      numbers_ + comma_numbers_ == 1 ? *number : std::min(least_, *number);
    greatest_ =
      numbers_ + comma_numbers_ == 1 ? *number : std::max(greatest_, *number);
  }
  booleans_ += boolean_in(field) ? 1 : 0;
  if (!number && read_moment(field, "iso")) {
    ++dates_;
    timed_ += field.find(':') != field.npos ? 1 : 0;
  }
  const auto bar = field.find('|') != field.npos;
  bars_ += bar ? 1 : 0;
  if (bar || field.find(';') != field.npos) {
    ++lists_;
    for_each_item(field, bar ? "|" : ";", [this](std::string_view item) {
      if (items_.size() < most_values_kept)
        items_.emplace(item);
    });
  }
  words_ += 1 + std::ranges::count(field, ' ');
}

bool column_guess::is_unique() const {
  return missing_ == 0 && rows_ > 1
         && (static_cast<std::int64_t>(values_.size()) == rows_
             || values_.size() == most_values_kept);
}

/// Whether all fields that say something are of a kind.
bool column_guess::all(std::int64_t count) const {
  return rows_ > missing_ && count == rows_ - missing_;
}

std::string column_guess::numbers(const char* decimal) const {
  // Far apart: the ratio of what is usual and what is largest says so.
  const auto wide = least_ >= 0 && greatest_ > 10000;
  return fmt::format("{{as: number{}{}, scale: {}}}", decimal,
                     missing_ > 0 ? ", fill: median, missing: true" : "",
                     wide ? "[log, standard]" : "standard");
}

std::string column_guess::feature() const {
  const auto missing = missing_ > 0 ? ", missing: true" : "";
  if (all(booleans_) && values_.size() > 1)
    return fmt::format("{{as: boolean{}}}", missing);
  if (all(numbers_))
    return numbers("");
  if (all(numbers_ + comma_numbers_))
    return numbers(", decimal: comma");
  if (all(dates_))
    return fmt::format("{{as: date, parts: [days{}]{}}}",
                       timed_ > 0 ? ", weekday, hour" : ", month, weekday",
                       missing);
  if (rows_ == missing_ || values_.size() <= 1)
    return {};
  if (lists_ * 2 > rows_ - missing_ && items_.size() <= most_one_hot)
    return fmt::format("{{as: category, separator: \"{}\"{}}}",
                       bars_ * 2 > lists_ ? "|" : ";", missing);
  if (values_.size() <= most_one_hot)
    return fmt::format("{{as: category{}}}", missing);
  if (words_ >= 3 * (rows_ - missing_))
    return "{as: text, buckets: 128, weigh: tfidf}";
  if (is_unique())
    return {};
  return fmt::format("{{as: hash, buckets: 64{}}}", missing);
}

std::string column_guess::reason() const {
  if (rows_ == missing_)
    return "empty in all rows";
  return fmt::format(
    "{}{} values, such as {}{}",
    values_.size() == most_values_kept ? "more than " : "", values_.size(),
    example_,
    missing_ > 0 ? fmt::format("; missing in {} of {} rows", missing_, rows_)
                 : "");
}

} // namespace graphmill
