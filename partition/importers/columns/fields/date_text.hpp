#pragma once

#include "messages/base/error.hpp"

#include <string>
#include <string_view>

namespace graphmill {

/// A moment of the proleptic Gregorian calendar. Moments without a time zone
/// count as UTC.
struct calendar_moment {
  double seconds = 0; ///< Since the first of January 1970, UTC.
  int year = 1970;
  int month = 1;       ///< 1 to 12.
  int day = 1;         ///< 1 to 31.
  int day_of_year = 0; ///< 0 to 365.
  int weekday = 0;     ///< 0 is Monday.
  int hour = 0;
  int minute = 0;
};

/// Reads a date with or without a time.
/// @param format "iso": ISO 8601 such as 2024-05-31, 20240531,
/// 2024-05-31T09:30, 2024-05-31 09:30:00.5Z or with an offset such as +02:00;
/// "epoch", "epoch-ms", "epoch-us" or "epoch-ns": a number of seconds and so on
/// since 1970; else a pattern of %Y, %y, %m, %d, %H, %M, %S and other
/// characters, which stand for themselves.
/// Calendar fields of a text are those that it shows: an offset shifts
/// `seconds` alone. Fails on what is no such date, and on dates that do not
/// exist.
result<calendar_moment> read_moment(std::string_view text,
                                    const std::string& format);

/// Fails on a format that `read_moment` does not know.
result<void> check_date_format(const std::string& format);

} // namespace graphmill
