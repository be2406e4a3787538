#include "partition/importers/csv/draft/column_guess.hpp"

#include "messages/base/printable.hpp"
#include "messages/words/number_text.hpp"
#include "partition/importers/columns/boolean_column.hpp"
#include "partition/importers/columns/fields/date_text.hpp"
#include "partition/importers/columns/fields/field_items.hpp"
#include "partition/importers/columns/fields/number_reader.hpp"
#include "partition/importers/exact_number.hpp"

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
  constexpr std::string_view namibia = "NA";
  if (is_missing(field, {})) {
    ++missing_;
    namibias_ += field == namibia ? 1 : 0;
    return;
  }
  if (example_.empty())
    example_ = shortened(printable(field), most_example_bytes);
  if (values_.size() < most_values_kept)
    values_.emplace(field);
  codes_ += field.size() == namibia.size()
                && std::ranges::all_of(
                  field, [](char c) { return c >= 'A' && c <= 'Z'; })
              ? 1
              : 0;
  times_read_ += times_.read(field) ? 1 : 0;
  std::string point{field};
  std::ranges::replace(point, ',', '.');
  // A code such as 01067 is no number: its zeros would be lost.
  const auto code = field.size() > 1
                    && field.find_first_not_of("0123456789") == field.npos
                    && field.front() == '0';
  const auto number = code ? std::nullopt : number_from<double>(point);
  if (number && std::isfinite(*number)) {
    ++(point == field ? numbers_ : comma_numbers_);
    fractions_ += point.find('.') != point.npos ? 1 : 0;
    least_ =
      numbers_ + comma_numbers_ == 1 ? *number : std::min(least_, *number);
    greatest_ =
      numbers_ + comma_numbers_ == 1 ? *number : std::max(greatest_, *number);
  }
  if (has_thousands(field)) {
    if (++grouped_ == 1)
      example_ = shortened(printable(field), most_example_bytes);
    uncounted_ += number ? 0 : 1;
  }
  booleans_ += boolean_in(field) ? 1 : 0;
  if (!number && !code) {
    const auto is_iso = read_moment(field, "iso").has_value();
    dates_ += is_iso ? 1 : 0;
    if (!is_iso)
      written_.add(field);
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

bool column_guess::is_time(bool by_number) const {
  return missing_ == 0 && all(times_read_) && (by_number || numbers_ == 0);
}

bool column_guess::may_be_id() const {
  return rows_ > missing_ && !all(dates_)
         && !(all(numbers_ + comma_numbers_) && fractions_ > 0);
}

/// Whether values are codes of countries, among which NA is Namibia.
bool column_guess::has_codes() const {
  return namibias_ > 0 && all(codes_) && values_.size() < most_one_hot;
}

/// Whether all fields that say something are of a kind.
bool column_guess::all(std::int64_t count) const {
  return rows_ > missing_ && count == rows_ - missing_;
}

/// Whether all are numbers, and no comma in them is certainly before a
/// fraction: 1,234 may be one thousand or a little more than one.
bool column_guess::may_have_thousands() const {
  return grouped_ > 0 && grouped_ == comma_numbers_ + uncounted_
         && all(numbers_ + grouped_);
}

std::string column_guess::numbers(const char* decimal) const {
  // Far apart: the ratio of what is usual and what is largest says so.
  const auto wide = least_ >= 0 && greatest_ > 10000;
  return fmt::format("{{as: number{}{}, scale: {}}}", decimal,
                     missing_ > 0 ? ", fill: median, missing: true" : "",
                     wide ? "[log, standard]" : "standard");
}

std::string column_guess::dates(const std::string& format) const {
  return fmt::format("{{as: date{}, parts: [days{}]{}}}", format,
                     timed_ > 0 ? ", weekday, hour" : ", month, weekday",
                     missing_ > 0 ? ", missing: true" : "");
}

/// The patterns that read all fields that say something.
std::vector<std::string> column_guess::date_patterns() const {
  return rows_ > missing_ ? written_.patterns(rows_ - missing_)
                          : std::vector<std::string>{};
}

std::string column_guess::feature() const {
  if (has_codes()) {
    std::vector<std::string> values{values_.begin(), values_.end()};
    values.emplace_back("NA");
    std::ranges::sort(values);
    return fmt::format("{{as: category, values: [\"{}\"]{}}}",
                       fmt::join(values, "\", \""),
                       missing_ > namibias_ ? ", missing: true" : "");
  }
  const auto missing = missing_ > 0 ? ", missing: true" : "";
  if (all(booleans_) && values_.size() > 1)
    return fmt::format("{{as: boolean{}}}", missing);
  if (all(numbers_))
    return numbers("");
  if (may_have_thousands())
    return {};
  if (all(numbers_ + comma_numbers_))
    return numbers(", decimal: comma");
  if (all(dates_))
    return dates("");
  if (const auto patterns = date_patterns(); !patterns.empty())
    return patterns.size() > 1
             ? std::string{}
             : dates(fmt::format(", format: \"{}\"", patterns.front()));
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
  if (may_have_thousands())
    return fmt::format("commas as in {} may separate thousands: then take them "
                       "out of the table; or stand before fractions: then "
                       "{{as: number, decimal: comma}}",
                       example_);
  if (const auto patterns = date_patterns(); patterns.size() > 1)
    return fmt::format(
      "the order in {} is unclear: it is {{as: date, format: \"{}\"}}",
      example_, fmt::join(patterns, "\"} or {as: date, format: \""));
  if (has_codes())
    return fmt::format("codes such as {}, among which NA is no gap: it is "
                       "Namibia in {} of {} rows",
                       example_, namibias_, rows_);
  return fmt::format(
    "{}{} values, such as {}{}",
    values_.size() == most_values_kept ? "more than " : "", values_.size(),
    example_,
    missing_ > 0 ? fmt::format("; missing in {} of {} rows", missing_, rows_)
                 : "");
}

} // namespace graphmill
