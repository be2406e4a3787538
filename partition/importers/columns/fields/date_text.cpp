#include "partition/importers/columns/fields/date_text.hpp"

#include "messages/words/number_text.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

namespace graphmill {

namespace {

/// The fields of a date as they are read.
struct date_fields {
  int year = 0;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  double second = 0;
  int offset_minutes = 0; ///< East of UTC.
};

/// Reads a text from the front.
class date_reader {
public:
  explicit date_reader(std::string_view text) : left_(text) {}

  bool done() const { return left_.empty(); }
  char front() const { return left_.empty() ? '\0' : left_.front(); }

  bool skip(char c) {
    if (front() != c || left_.empty())
      return false;
    left_.remove_prefix(1);
    return true;
  }

  /// Reads that many digits.
  bool digits(std::size_t count, int& out) {
    if (left_.size() < count)
      return false;
    const auto text = left_.substr(0, count);
    if (text.find_first_not_of("0123456789") != text.npos)
      return false;
    out = *number_from<int>(text);
    left_.remove_prefix(count);
    return true;
  }

  /// Reads one or two digits.
  bool short_digits(int& out) { return digits(2, out) || digits(1, out); }

  /// Reads two digits and a fraction, if there is one.
  bool seconds(double& out) {
    int whole = 0;
    if (!digits(2, whole))
      return false;
    out = whole;
    if (front() != '.' && front() != ',')
      return true;
    left_.remove_prefix(1);
    double unit = 0.1;
    const auto before = left_.size();
    for (; front() >= '0' && front() <= '9'; left_.remove_prefix(1)) {
      out += unit * (front() - '0');
      unit /= 10;
    }
    return left_.size() < before;
  }

private:
  std::string_view left_;
};

bool read_iso_offset(date_reader& text, date_fields& out) {
  if (text.skip('Z') || text.skip('z') || text.done())
    return true;
  const auto west = text.front() == '-';
  if (!text.skip('-') && !text.skip('+'))
    return false;
  int hours = 0;
  int minutes = 0;
  if (!text.digits(2, hours))
    return false;
  const auto colon = text.skip(':');
  if ((colon || !text.done()) && !text.digits(2, minutes))
    return false;
  if (hours > 14 || minutes > 59)
    return false;
  out.offset_minutes = (west ? -1 : 1) * (hours * 60 + minutes);
  return true;
}

bool read_iso_time(date_reader& text, date_fields& out) {
  if (!text.digits(2, out.hour))
    return false;
  const auto colon = text.skip(':');
  if (!text.digits(2, out.minute))
    return false;
  const auto next = text.front();
  const auto has_seconds = colon ? text.skip(':') : next >= '0' && next <= '9';
  if (has_seconds && !text.seconds(out.second))
    return false;
  text.skip(' ');
  return read_iso_offset(text, out);
}

std::optional<date_fields> read_iso(std::string_view from) {
  date_reader text{from};
  date_fields out;
  if (!text.digits(4, out.year))
    return std::nullopt;
  const auto dash = text.skip('-');
  if (!text.digits(2, out.month) || (dash && !text.skip('-'))
      || !text.digits(2, out.day))
    return std::nullopt;
  const auto timed = text.skip('T') || text.skip('t') || text.skip(' ');
  if ((timed && !read_iso_time(text, out)) || !text.done())
    return std::nullopt;
  return out;
}

std::optional<date_fields> read_pattern(std::string_view from,
                                        std::string_view pattern) {
  date_reader text{from};
  date_fields out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      if (!text.skip(pattern[i]))
        return std::nullopt;
      continue;
    }
    auto read = false;
    switch (pattern[++i]) {
    case 'Y':
      read = text.digits(4, out.year);
      break;
    case 'y': // As POSIX reads it.
      read = text.digits(2, out.year);
      out.year += out.year < 69 ? 2000 : 1900;
      break;
    case 'm':
      read = text.short_digits(out.month);
      break;
    case 'd':
      read = text.short_digits(out.day);
      break;
    case 'H':
      read = text.short_digits(out.hour);
      break;
    case 'M':
      read = text.digits(2, out.minute);
      break;
    case 'S':
      read = text.seconds(out.second);
      break;
    default:
      break;
    }
    if (!read)
      return std::nullopt;
  }
  return text.done() ? std::optional{out} : std::nullopt;
}

/// Adds what follows from year, month and day. Nothing if there is no such day.
std::optional<calendar_moment> moment_of(const date_fields& from) {
  namespace chrono = std::chrono;
  const chrono::year_month_day date{
    chrono::year{from.year}, chrono::month{static_cast<unsigned>(from.month)},
    chrono::day{static_cast<unsigned>(from.day)}};
  if (!date.ok() || from.hour > 23 || from.minute > 59 || from.second >= 61)
    return std::nullopt;
  const chrono::sys_days days{date};
  const chrono::sys_days first{date.year() / chrono::January / 1};
  calendar_moment out;
  out.year = from.year;
  out.month = from.month;
  out.day = from.day;
  out.hour = from.hour;
  out.minute = from.minute;
  out.day_of_year = static_cast<int>((days - first).count());
  out.weekday = static_cast<int>(chrono::weekday{days}.iso_encoding()) - 1;
  out.seconds = static_cast<double>(days.time_since_epoch().count()) * 86400
                + (from.hour * 60 + from.minute - from.offset_minutes) * 60.0
                + from.second;
  return out;
}

/// How many of a unit make a second; nothing if a format is no epoch.
std::optional<double> units_per_second(const std::string& format) {
  if (format == "epoch")
    return 1;
  if (format == "epoch-ms")
    return 1e3;
  if (format == "epoch-us")
    return 1e6;
  if (format == "epoch-ns")
    return 1e9;
  return std::nullopt;
}

result<calendar_moment> moment_of_epoch(std::string_view text, double units) {
  const auto number = number_from<double>(text);
  // The years 1900 to 2200: others are in another unit, or no times at all.
  constexpr auto least = -2208988800.0;
  constexpr auto most = 7258118400.0;
  if (!number || !std::isfinite(*number))
    return fail(ec::invalid_data, "\"{}\" is no number of an epoch", text);
  const auto seconds = *number / units;
  if (seconds < least || seconds > most)
    return fail(ec::invalid_data,
                "{} is not between the years 1900 and 2200; is it in another "
                "unit: `format: epoch`, epoch-ms, epoch-us or epoch-ns?",
                text);
  namespace chrono = std::chrono;
  const auto whole = std::floor(seconds / 86400);
  const auto of_day = seconds - whole * 86400;
  const chrono::year_month_day date{
    chrono::sys_days{chrono::days{static_cast<int>(whole)}}};
  // Just below midnight, the difference is rounded to a whole day.
  constexpr auto last_minute = 24 * 60 - 1;
  const auto minutes = std::min(static_cast<int>(of_day / 60), last_minute);
  auto out =
    *moment_of({.year = static_cast<int>(date.year()),
                .month = static_cast<int>(static_cast<unsigned>(date.month())),
                .day = static_cast<int>(static_cast<unsigned>(date.day())),
                .hour = minutes / 60,
                .minute = minutes % 60,
                .second = 0});
  out.seconds = seconds;
  return out;
}

} // namespace

result<calendar_moment> read_moment(std::string_view text,
                                    const std::string& format) {
  if (const auto units = units_per_second(format))
    return moment_of_epoch(text, *units);
  const auto fields =
    format == "iso" ? read_iso(text) : read_pattern(text, format);
  if (!fields && format == "iso")
    return fail(ec::invalid_data,
                "\"{}\" is no date of ISO 8601, such as 2024-05-31 or "
                "2024-05-31T09:30:00Z; say how it is written, such as `format: "
                "\"%d.%m.%Y\"`, or `format: epoch` of seconds since 1970",
                text);
  if (!fields)
    return fail(ec::invalid_data, "\"{}\" is not written as {}", text, format);
  const auto out = moment_of(*fields);
  if (!out)
    return fail(ec::invalid_data, "\"{}\" is no day or time that there is",
                text);
  return *out;
}

result<void> check_date_format(const std::string& format) {
  if (format == "iso" || units_per_second(format))
    return ok();
  auto has_year = false;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%')
      continue;
    const auto next = i + 1 < format.size() ? format[++i] : '\0';
    if (std::string_view{"YymdHMS"}.find(next) == std::string_view::npos
        || next == '\0')
      return fail(ec::invalid_argument,
                  "format has %{}; it may have %Y, %y, %m, %d, %H, %M and %S",
                  next == '\0' ? std::string{} : std::string(1, next));
    has_year = has_year || next == 'Y' || next == 'y';
  }
  if (!has_year)
    return fail(ec::invalid_argument,
                "format is \"{}\"; iso, epoch, epoch-ms, epoch-us, epoch-ns or "
                "a pattern such as %d.%m.%Y expected",
                format);
  return ok();
}

} // namespace graphmill
