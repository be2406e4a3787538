#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// What whole numbers in a column of times count. `automatic` goes by their
/// size, and refuses those that may be several things.
enum class time_unit : std::uint8_t {
  automatic,
  seconds, ///< Since 1970, and so the next two.
  milliseconds,
  microseconds,
  steps ///< Of nothing: the numbers are kept.
};

/// What all times of a column are written as.
enum class time_form : std::uint8_t {
  none, ///< Not known yet.
  date,
  local, ///< With a time of day, but no zone: taken as UTC.
  zoned,
  seconds, ///< Numbers, as in `time_unit`; and so the next three.
  milliseconds,
  microseconds,
  steps
};

/// Its phrase in messages and records; that of none is empty.
std::string_view to_string(time_form form);

/// The form that has a phrase.
std::optional<time_form> time_form_of(std::string_view phrase);

/// Ticks of a second in what a reader gives.
constexpr std::int64_t ticks_of(time_unit unit) {
  return unit == time_unit::steps ? 1 : 1'000'000;
}

/// Reads the times of one column: ISO 8601, such as 2024-05-01,
/// 2024-05-01T08:30:00 (UTC) or 2024-05-01 08:30:00.25+02:00, or numbers, which
/// are seconds since 1970 if they have a fraction other than 0. Gives
/// microseconds since 1970, or steps. A column has times of one form: dates, or
/// times of day with or without a zone, or numbers of one unit. Value type.
class time_text_reader {
public:
  /// @param expected The form that all times must have; none: that of the
  /// first one that is kept.
  explicit time_text_reader(time_unit unit = time_unit::automatic,
                            time_form expected = time_form::none)
    : unit_(unit), form_(expected) {}

  /// Fails with `invalid_data` and what is wrong, which follows "the time":
  /// text that is no time, a number that may be several things, another form
  /// than those that were kept, more digits than a microsecond has, and times
  /// beyond 2^53 ticks, which rows of tasks could not have exactly.
  result<std::int64_t> check(std::string_view text);

  /// Keeps what was checked last without an error: it is one of the column's
  /// times, and all others are of its form. A row that is left out keeps none.
  void keep();

  /// Checks a time and keeps it.
  result<std::int64_t> read(std::string_view text) {
    GRAPHMILL_TRY(const auto time, check(text));
    keep();
    return time;
  }

  /// Fails if the unit was said, and all times are of the size of another one.
  result<void> check_unit() const;

  time_form form() const { return form_; }

  /// What the times were taken for, and the first and last of them, such as
  /// "seconds since 1970, from 2024-05-01T08:30:00Z to 2024-06-01T00:00:00Z".
  /// Empty: there were none.
  std::string told() const;

private:
  result<std::int64_t> ticks(std::string_view text);
  result<std::int64_t> number(std::string_view text);
  result<void> take_form(time_form form, std::string_view text);

  /// A time that was checked.
  struct checked {
    time_form form = time_form::none;
    std::string text; ///< Only where it is the first of the column.
    std::int64_t time = 0;
  };

  time_unit unit_;
  time_form form_; ///< Of the times so far.
  std::string first_;
  checked last_;
  std::int64_t least_ = 0;
  std::int64_t most_ = 0;
  bool any_ = false;
};

} // namespace graphmill
