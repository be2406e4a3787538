#include "partition/importers/columns/fields/date_text.hpp"
#include "tests/support/result.hpp"
#include "tests/support/text.hpp"

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("dates of ISO 8601", "[import][columns][date]") {
  const auto day = value_of(read_moment("2024-02-29", "iso"));
  CATCH_CHECK(day.seconds == 19782 * 86400.0);
  CATCH_CHECK(day.weekday == 3); // A Thursday.
  CATCH_CHECK(day.day_of_year == 59);
  CATCH_CHECK(value_of(read_moment("20240229", "iso")).seconds == day.seconds);

  const auto timed = value_of(read_moment("2024-02-29T09:30:15.5Z", "iso"));
  CATCH_CHECK(timed.seconds == day.seconds + 9 * 3600 + 30 * 60 + 15.5);
  CATCH_CHECK(timed.hour == 9);
  // An offset moves the moment, not the clock that the text shows.
  const auto east = value_of(read_moment("2024-02-29 09:30+02:00", "iso"));
  CATCH_CHECK(east.seconds == day.seconds + 7 * 3600 + 30 * 60);
  CATCH_CHECK(east.hour == 9);

  for (const auto* bad :
       {"", "2024", "2024-2-9", "01/02/2024", "2024-02-30", "2024-13-01",
        "2024-02-29T25:00", "2024-02-29T09:30:", "2024-02-29x", "1709200000",
        "2024-02-29T09:30+2", "2024-02-29T09:30+15:00", "2023-02-29"}) {
    CATCH_INFO(bad);
    CATCH_CHECK_FALSE(read_moment(bad, "iso"));
  }
  CATCH_CHECK(
    has(error_of(read_moment("01/02/2024", "iso")).message, "format: epoch"));
}

CATCH_TEST_CASE("dates in other formats", "[import][columns][date]") {
  const auto day = value_of(read_moment("2024-02-29", "iso")).seconds;
  CATCH_CHECK(value_of(read_moment("29.2.2024", "%d.%m.%Y")).seconds == day);
  CATCH_CHECK(value_of(read_moment("02/29/24 07:05", "%m/%d/%y %H:%M")).seconds
              == day + 7 * 3600 + 5 * 60);
  CATCH_CHECK_FALSE(read_moment("29.2.2024 ", "%d.%m.%Y"));

  const auto epoch = value_of(read_moment("1709199015.5", "epoch"));
  CATCH_CHECK(epoch.seconds == 1709199015.5);
  CATCH_CHECK(epoch.hour == 9);
  CATCH_CHECK(value_of(read_moment("1709199015500", "epoch-ms")).seconds
              == 1709199015.5);
  CATCH_CHECK(value_of(read_moment("-86400", "epoch")).year == 1969);
  // Milliseconds that are taken for seconds are far in the future.
  CATCH_CHECK(has(error_of(read_moment("1709199015500", "epoch")).message,
                  "is it in another unit"));

  CATCH_CHECK(check_date_format("iso"));
  CATCH_CHECK(check_date_format("%d.%m.%Y"));
  CATCH_CHECK_FALSE(check_date_format("%d.%m"));
  CATCH_CHECK_FALSE(check_date_format("%Y%"));
  CATCH_CHECK_FALSE(check_date_format("%Y-%q"));
}
