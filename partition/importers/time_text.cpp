#include "partition/importers/time_text.hpp"

#include "messages/base/printable.hpp"
#include "messages/words/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>

namespace graphmill {

namespace {

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t most_ticks = std::int64_t{1} << 53;
constexpr std::size_t most_digits = 6; ///< Of a fraction of a second.

/// Takes characters from the front of a text.
class cursor {
public:
  explicit cursor(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  /// The next character, if it is one of these.
  std::optional<char> one_of(std::string_view these) {
    if (rest_.empty() || these.find(rest_.front()) == these.npos)
      return std::nullopt;
    const auto out = rest_.front();
    rest_.remove_prefix(1);
    return out;
  }
  /// A number of so many digits.
  std::optional<std::int64_t> digits(std::size_t count) {
    if (rest_.size() < count)
      return std::nullopt;
    std::int64_t out = 0;
    for (const auto digit : rest_.substr(0, count)) {
      if (digit < '0' || digit > '9')
        return std::nullopt;
      out = 10 * out + (digit - '0');
    }
    rest_.remove_prefix(count);
    return out;
  }
  std::size_t digits_ahead() const {
    const auto end = rest_.find_first_not_of("0123456789");
    return end == rest_.npos ? rest_.size() : end;
  }
  bool ends_at(std::size_t place) const { return rest_.size() == place; }
  /// Digits of a fraction, as millionths. Further ones must be 0.
  std::optional<std::int64_t> millionths() {
    std::int64_t out = 0;
    std::size_t taken = 0;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9';
         ++taken, rest_.remove_prefix(1)) {
      if (taken < most_digits)
        out = 10 * out + (rest_.front() - '0');
      else if (rest_.front() != '0')
        return std::nullopt;
    }
    if (taken == 0)
      return std::nullopt;
    for (; taken < most_digits; ++taken)
      out *= 10;
    return out;
  }

private:
  std::string_view rest_;
};

/// Microseconds since 1970 in UTC of a time of day; nothing: it is none.
std::optional<std::int64_t> clock_time(cursor& at) {
  const auto hour = at.digits(2);
  const auto colon = at.one_of(":");
  const auto minute = at.digits(2);
  if (!hour || !colon || !minute || *hour > 23 || *minute > 59)
    return std::nullopt;
  auto out = (*hour * 60 + *minute) * 60 * second;
  if (at.one_of(":")) {
    const auto seconds = at.digits(2);
    if (!seconds || *seconds > 59)
      return std::nullopt;
    out += *seconds * second;
    if (at.one_of(".,")) {
      const auto fraction = at.millionths();
      if (!fraction)
        return std::nullopt;
      out += *fraction;
    }
  }
  if (at.done() || at.one_of("Z"))
    return at.done() ? std::optional{out} : std::nullopt;
  const auto sign = at.one_of("+-");
  const auto hours = sign ? at.digits(2) : std::nullopt;
  at.one_of(":");
  const auto minutes = hours ? at.digits(2) : std::nullopt;
  if (!minutes || *hours > 23 || *minutes > 59 || !at.done())
    return std::nullopt;
  const auto shift = (*hours * 60 + *minutes) * 60 * second;
  return *sign == '+' ? out - shift : out + shift;
}

std::chrono::year_month_day date_of(std::int64_t year, std::int64_t month,
                                    std::int64_t day) {
  return {std::chrono::year{static_cast<int>(year)},
          std::chrono::month{static_cast<unsigned>(month)},
          std::chrono::day{static_cast<unsigned>(day)}};
}

/// Microseconds since 1970 as ISO 8601.
std::string iso_text(std::int64_t time) {
  const std::chrono::sys_time<std::chrono::microseconds> when{
    std::chrono::microseconds{time}};
  const auto day = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{when - day};
  auto out = fmt::format(
    "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
    clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (const auto rest = clock.subseconds().count(); rest != 0)
    out += fmt::format(".{:06}", rest);
  return out + "Z";
}

/// A time of ISO 8601, and what it says besides.
struct iso_reading {
  std::int64_t time = 0;
  time_form form = time_form::none;
};

std::optional<iso_reading> iso_time(std::string_view text) {
  cursor at{text};
  const auto year = at.digits(4);
  const auto dash = at.one_of("-");
  const auto month = at.digits(2);
  const auto second_dash = at.one_of("-");
  const auto day = at.digits(2);
  if (!year || !dash || !month || !second_dash || !day)
    return std::nullopt;
  const auto date = date_of(*year, *month, *day);
  if (!date.ok())
    return std::nullopt;
  const auto days =
    std::chrono::sys_days{date}.time_since_epoch().count() * 86'400 * second;
  if (at.done())
    return iso_reading{days, time_form::date};
  if (!at.one_of("T "))
    return std::nullopt;
  const auto time = clock_time(at);
  if (!time)
    return std::nullopt;
  const auto zone =
    text.find_first_of("Z+-", std::string_view{"2024-05-01"}.size());
  return iso_reading{days + *time,
                     zone == text.npos ? time_form::local : time_form::zoned};
}

/// How ISO 8601 is to be written that is almost read; empty: it is something
/// else.
std::string iso_advice(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (const auto point = text.find_first_of(".,"); point != text.npos) {
    const auto digits = text.substr(point + 1);
    const auto end = std::ranges::find_if_not(digits, is_digit);
    const auto count = static_cast<std::size_t>(end - digits.begin());
    const auto rounded = fmt::format(
      "{}{}", text.substr(0, point + 1 + std::min(count, most_digits)),
      digits.substr(count));
    if (count > most_digits && iso_time(rounded))
      return fmt::format("has a fraction finer than a microsecond; round it to "
                         "{} digits, such as {}",
                         most_digits, rounded);
  }
  // 20240501T064100Z, with all digits of the time of day or without seconds.
  constexpr std::size_t date = 8;
  const auto mark = text.find('T');
  if (mark != date || text.size() < date + 5)
    return {};
  auto clock = text.substr(date + 1);
  const auto digits = static_cast<std::size_t>(
    std::ranges::find_if_not(clock, is_digit) - clock.begin());
  auto whole =
    fmt::format("{}-{}-{}T{}:{}", text.substr(0, 4), text.substr(4, 2),
                text.substr(6, 2), clock.substr(0, 2), clock.substr(2, 2));
  if (digits == 6)
    whole += fmt::format(":{}", clock.substr(4, 2));
  whole += clock.substr(std::min(digits, clock.size()));
  if ((digits != 4 && digits != 6) || !iso_time(whole))
    return {};
  return fmt::format("is ISO 8601 without dashes and colons; write it as {}",
                     whole);
}

/// What a whole number counts, by its size: from 1973 to 5138.
std::optional<time_unit> unit_by_size(std::int64_t value) {
  // Of the least number there is no positive one.
  const auto size = value < 0 ? -(value + 1) : value;
  if (size >= 100'000'000 && size < 100'000'000'000)
    return time_unit::seconds;
  if (size >= 100'000'000'000 && size < 100'000'000'000'000)
    return time_unit::milliseconds;
  if (size >= 100'000'000'000'000 && size < 100'000'000'000'000'000)
    return time_unit::microseconds;
  return std::nullopt;
}

/// The date that a day of a spreadsheet is, if it is one of 1954 to 2118;
/// empty: it is none.
std::string spreadsheet_day(std::int64_t day) {
  constexpr std::int64_t first = 20'000;
  constexpr std::int64_t last = 80'000;
  constexpr std::int64_t day_of_1970 = 25'569;
  if (day < first || day >= last)
    return {};
  const std::chrono::year_month_day date{
    std::chrono::sys_days{std::chrono::days{day - day_of_1970}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

/// Whether digits may be a calendar date of 1900 to 2099, with or without a
/// time of day, such as 20240501 or 20240501083000.
bool is_calendar_date(std::string_view digits) {
  const auto size = digits.size();
  if (size != 8 && size != 10 && size != 12 && size != 14)
    return false;
  cursor at{digits};
  const auto year = at.digits(4);
  const auto month = at.digits(2);
  const auto day = at.digits(2);
  if (!day || !month || !year || *year < 1900 || *year > 2099
      || !date_of(*year, *month, *day).ok())
    return false;
  for (const auto most : {23, 59, 59}) {
    if (at.done())
      return true;
    const auto part = at.digits(2);
    if (!part || *part > most)
      return false;
  }
  return at.done();
}

constexpr auto form_phrases = std::to_array<std::string_view>(
  {"", "ISO 8601 dates", "ISO 8601 without a zone, as UTC",
   "ISO 8601 with a zone", "seconds since 1970", "milliseconds since 1970",
   "microseconds since 1970", "steps"});

time_form form_of(time_unit unit) {
  switch (unit) {
  case time_unit::seconds:
    return time_form::seconds;
  case time_unit::milliseconds:
    return time_form::milliseconds;
  case time_unit::microseconds:
    return time_form::microseconds;
  case time_unit::steps:
    return time_form::steps;
  case time_unit::automatic:
    break;
  }
  return time_form::none;
}

std::string_view name_of(time_unit unit) {
  return to_string(form_of(unit));
}

bool is_number(time_form form) {
  return form >= time_form::seconds;
}

/// The word of --time-unit.
std::string_view unit_word(time_unit unit) {
  constexpr std::array<std::string_view, 5> words{"", "s", "ms", "us", "step"};
  return words[static_cast<std::size_t>(unit)];
}

std::int64_t factor_of(time_unit unit) {
  return unit == time_unit::seconds        ? second
         : unit == time_unit::milliseconds ? 1000
                                           : 1;
}

template <class... Args>
error bad(fmt::format_string<Args...> text, Args&&... args) {
  return fail(ec::invalid_data, "{}",
              fmt::format(text, std::forward<Args>(args)...));
}

} // namespace

std::string_view to_string(time_form form) {
  return form_phrases[static_cast<std::size_t>(form)];
}

std::optional<time_form> time_form_of(std::string_view phrase) {
  const auto at = std::ranges::find(form_phrases, phrase);
  if (phrase.empty() || at == form_phrases.end())
    return std::nullopt;
  return static_cast<time_form>(at - form_phrases.begin());
}

result<void> time_text_reader::take_form(time_form form,
                                         std::string_view text) {
  last_.form = form;
  if (!any_)
    last_.text = text;
  if (form_ == time_form::none || form_ == form)
    return ok();
  const auto shown = printable(std::string{text});
  if (!any_)
    return bad("\"{}\" is of another form ({}) than the times "
               "that are there ({}); write new times in that form",
               shown, to_string(form), to_string(form_));
  return bad("\"{}\" is of another form ({}) than \"{}\" before it ({}); "
             "write all times of a column alike{}",
             shown, to_string(form), first_, to_string(form_),
             is_number(form) || is_number(form_)
               ? ", or say what its numbers are (--time-unit)"
               : "");
}

result<std::int64_t> time_text_reader::number(std::string_view text) {
  const auto shown = printable(std::string{text});
  const auto point = text.find('.');
  const auto whole = number_from<std::int64_t>(text.substr(0, point));
  auto rest = cursor{point == text.npos ? "" : text.substr(point + 1)};
  const auto digits = point == text.npos ? 0 : rest.digits_ahead();
  if (!whole
      || (point != text.npos && (digits == 0 || !rest.ends_at(digits)))) {
    if (const auto advice = iso_advice(text); !advice.empty())
      return bad("\"{}\" {}", shown, printable(advice));
    return bad("\"{}\" is neither ISO 8601, such as 2024-05-01 or "
               "2024-05-01T08:30:00Z, nor a number",
               shown);
  }
  const auto fraction =
    point == text.npos ? std::optional<std::int64_t>{0} : rest.millionths();
  if (!fraction)
    return bad("\"{}\" has a fraction that is no whole number of microseconds",
               shown);
  auto unit = unit_;
  if (unit == time_unit::automatic) {
    if (point == text.npos && is_calendar_date(text))
      return bad("\"{}\" may be the date {}-{}-{}, or a count: write dates as "
                 "{}-{}-{}, or say what is counted (--time-unit s, ms, us or "
                 "step)",
                 shown, text.substr(0, 4), text.substr(4, 2), text.substr(6, 2),
                 text.substr(0, 4), text.substr(4, 2), text.substr(6, 2));
    if (const auto day = spreadsheet_day(*whole); !day.empty())
      return bad(
        "\"{}\" may be {} as a spreadsheet counts days: write times as "
        "{}T08:30:00, or say --time-unit step if they count something "
        "else",
        shown, day, day);
    const auto found = unit_by_size(*whole);
    if (found && *found != time_unit::seconds && *fraction != 0)
      return bad("\"{}\" counts {} by its size, and has a fraction of one: "
                 "round it, or say --time-unit s if it counts seconds",
                 shown, name_of(*found));
    if (!found)
      return bad("\"{}\" may count seconds, milliseconds or steps: say which "
                 "(--time-unit s, ms, us or step)",
                 shown);
    unit = *found;
  }
  if (point != text.npos && *fraction != 0 && unit != time_unit::seconds)
    return bad("\"{}\" has a fraction, and {} have none", shown, name_of(unit));
  GRAPHMILL_TRYV(take_form(form_of(unit), text));
  std::int64_t out = 0;
  const auto negative = !text.empty() && text.front() == '-';
  if (__builtin_mul_overflow(*whole, factor_of(unit), &out)
      || __builtin_add_overflow(out, negative ? -*fraction : *fraction, &out)
      || out > most_ticks || out < -most_ticks) {
    const auto other = unit_by_size(*whole);
    if (unit == time_unit::steps || !other || *other == unit)
      return bad("\"{}\" is too far from 1970", shown);
    return bad(
      "\"{}\" is too far from 1970 with --time-unit {}; by its size it "
      "counts {}: say --time-unit {}, or leave it out",
      shown, unit_word(unit), name_of(*other), unit_word(*other));
  }
  return out;
}

result<std::int64_t> time_text_reader::ticks(std::string_view text) {
  if (const auto read = iso_time(text)) {
    const auto time = read->time;
    if (unit_ != time_unit::automatic)
      return bad("\"{}\" is ISO 8601, and --time-unit is for numbers",
                 printable(std::string{text}));
    if (time > most_ticks || time < -most_ticks)
      return bad("\"{}\" is too far from 1970: times go from 1684 to 2255",
                 printable(std::string{text}));
    GRAPHMILL_TRYV(take_form(read->form, text));
    return time;
  }
  return number(text);
}

result<std::int64_t> time_text_reader::check(std::string_view text) {
  GRAPHMILL_TRY(last_.time, ticks(text));
  return last_.time;
}

void time_text_reader::keep() {
  if (!any_)
    first_ = printable(last_.text);
  form_ = last_.form;
  least_ = any_ ? std::min(least_, last_.time) : last_.time;
  most_ = any_ ? std::max(most_, last_.time) : last_.time;
  any_ = true;
}

result<void> time_text_reader::check_unit() const {
  if (!any_ || unit_ == time_unit::automatic || unit_ == time_unit::steps)
    return ok();
  const auto factor = factor_of(unit_);
  const auto least = unit_by_size(least_ / factor);
  if (!least || *least == unit_ || least != unit_by_size(most_ / factor))
    return ok();
  return fail(
    ec::invalid_argument,
    "--time-unit {}: times would go from {} to {}. By their size they "
    "count {}: say --time-unit {}, or step for counts of anything "
    "else",
    unit_word(unit_), iso_text(least_), iso_text(most_), name_of(*least),
    unit_word(*least));
}

std::string time_text_reader::told() const {
  if (!any_)
    return {};
  const auto one = [this](std::int64_t time) {
    return unit_ == time_unit::steps ? std::to_string(time) : iso_text(time);
  };
  return fmt::format("{}, from {} to {}", to_string(form_), one(least_),
                     one(most_));
}

} // namespace graphmill
