#include "partition/importers/time_text.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/text.hpp"

#include <string>
#include <utility>
#include <vector>

namespace graphmill::test::time_text {

namespace {

std::int64_t read(const char* text, time_unit unit = time_unit::automatic) {
  CATCH_INFO(text);
  return value_of(time_text_reader{unit}.read(text));
}

std::string refusal(const char* text, time_unit unit = time_unit::automatic) {
  CATCH_INFO(text);
  const auto read = time_text_reader{unit}.read(text);
  CATCH_REQUIRE_FALSE(read);
  return read.error().message;
}

} // namespace

CATCH_TEST_CASE("times are ISO 8601 or numbers whose size is clear",
                "[partition][import][times]") {
  constexpr std::int64_t second = 1'000'000;
  CATCH_CHECK(read("1970-01-01") == 0);
  CATCH_CHECK(read("1970-01-02") == 86'400 * second);
  CATCH_CHECK(read("1969-12-31T23:59:59") == -second);
  CATCH_CHECK(read("2024-02-29T12:30") == 1'709'209'800 * second);
  CATCH_CHECK(read("2024-02-29 12:30:00Z") == 1'709'209'800 * second);
  CATCH_CHECK(read("2024-02-29T13:30:00+01:00") == 1'709'209'800 * second);
  CATCH_CHECK(read("2024-02-29T13:30:00+0100") == 1'709'209'800 * second);
  CATCH_CHECK(read("2024-02-29T07:00:00.25-05:30")
              == 1'709'209'800 * second + 250'000);
  CATCH_CHECK(read("1289241911") == 1'289'241'911 * second);
  CATCH_CHECK(read("1289241911.72836") == 1'289'241'911 * second + 728'360);
  CATCH_CHECK(read("-1289241911.5") == -1'289'241'911 * second - 500'000);
  CATCH_CHECK(read("1289241911728") == 1'289'241'911'728 * 1000);
  CATCH_CHECK(read("1289241911728360") == 1'289'241'911'728'360);
  CATCH_CHECK(read("12", time_unit::seconds) == 12 * second);
  CATCH_CHECK(read("0.000001", time_unit::seconds) == 1);
  CATCH_CHECK(read("-0.5", time_unit::seconds) == -500'000);
  CATCH_CHECK(read("12", time_unit::milliseconds) == 12'000);
  CATCH_CHECK(read("12", time_unit::microseconds) == 12);
  CATCH_CHECK(read("-7", time_unit::steps) == -7);
  CATCH_CHECK(read("3.0", time_unit::steps) == 3);
}

CATCH_TEST_CASE("times that may be several things are refused",
                "[partition][import][times]") {
  for (const auto* text :
       {"2015", "0", "20240229", "99999999", "100000000000000000",
        "1289241911728.5", "-9223372036854775808"})
    CATCH_CHECK(has(refusal(text), "--time-unit"));
  for (const auto* text : {"20240229", "2024022923", "202402292359",
                           "20240229235959", "19000101", "20991231235959"}) {
    CATCH_CHECK(has(refusal(text), "may be the date"));
    read(text, time_unit::steps);
  }
  // These are no dates.
  for (const auto* text :
       {"2023022923", "1899123123", "2100010100", "2024022924", "202402292360"})
    read(text);
  for (const auto* text :
       {"", "yesterday", "2024-13-01", "2023-02-29", "2024-02-29T25:00",
        "2024-02-29T10:00:60", "29.02.2024", "02/29/2024", "2024-02-29T10",
        "2024-02-29T10:00:00+", "2024-02-29T10:00Zulu", "nan", "1e9"})
    CATCH_CHECK(has(refusal(text), "neither ISO 8601"));
  CATCH_CHECK(has(refusal("29.02.2024", time_unit::seconds), "neither"));
  CATCH_CHECK(has(refusal("1289241911.5s"), "neither"));
  CATCH_CHECK(has(refusal("1289241911."), "neither"));
  CATCH_CHECK(has(refusal("1289241911.1234567"), "microseconds"));
  CATCH_CHECK(has(refusal("1.5", time_unit::steps), "have none"));
  CATCH_CHECK(has(refusal("2024-02-29", time_unit::seconds), "for numbers"));
  CATCH_CHECK(has(refusal("9007199254740993", time_unit::steps), "too far"));
  CATCH_CHECK(has(refusal("9999-12-31"), "too far"));
  CATCH_CHECK(has(refusal("1684-01-01"), "too far"));
  CATCH_CHECK(
    has(refusal("9223372036854775807", time_unit::seconds), "too far"));
}

CATCH_TEST_CASE("a column tells what its times were taken for",
                "[partition][import][times]") {
  time_text_reader seconds;
  CATCH_CHECK(seconds.told().empty());
  value_of(seconds.read("1289241911"));
  value_of(seconds.read("-1289241911.5"));
  CATCH_CHECK(seconds.told()
              == "seconds since 1970, from 1929-02-23T05:14:48.500000Z to "
                 "2010-11-08T18:45:11Z");
  time_text_reader steps{time_unit::steps};
  value_of(steps.read("7"));
  value_of(steps.read("-3"));
  CATCH_CHECK(steps.told() == "steps, from -3 to 7");
}

CATCH_TEST_CASE("a column has times of one form",
                "[partition][import][times]") {
  time_text_reader times;
  value_of(times.read("1289241911"));
  value_of(times.read("1289241911.5"));
  const auto other = times.read("1289241911728");
  CATCH_REQUIRE_FALSE(other);
  CATCH_CHECK(has(other.error().message, "of another form"));
  CATCH_CHECK_FALSE(times.read("2024-02-29"));
  // Each of these is another form, and a zone more or less shifts times.
  const std::vector<std::vector<const char*>> forms{
    {"2024-02-29", "2024-02-28"},
    {"2024-02-29T08:00", "2024-02-29 08:00:00.5"},
    {"2024-02-29T08:00Z", "2024-02-29 08:00:00.5+02:00",
     "2024-02-29T08:00-0100"},
    {"1289241911", "1289241911.0"},
    {"1289241911728", "1289241911728.0"}};
  for (const auto& own : forms)
    for (const auto& others : forms) {
      time_text_reader column;
      for (const auto* text : own)
        value_of(column.read(text));
      for (const auto* text : others)
        CATCH_CHECK(column.read(text).has_value() == (&own == &others));
    }
}

CATCH_TEST_CASE("a column goes on in the form of an earlier one",
                "[partition][import][times]") {
  for (const auto* phrase :
       {"ISO 8601 dates", "ISO 8601 without a zone, as UTC",
        "ISO 8601 with a zone", "seconds since 1970", "milliseconds since 1970",
        "microseconds since 1970", "steps"}) {
    CATCH_INFO(phrase);
    const auto form = time_form_of(phrase);
    CATCH_REQUIRE(form);
    CATCH_CHECK(to_string(*form) == phrase);
  }
  CATCH_CHECK_FALSE(time_form_of(""));
  CATCH_CHECK_FALSE(time_form_of("ISO 8601"));
  time_text_reader zoned{time_unit::automatic, time_form::zoned};
  CATCH_CHECK(zoned.told().empty());
  const auto local = zoned.read("2024-02-29T08:00");
  CATCH_REQUIRE_FALSE(local);
  CATCH_CHECK(local.error().message
              == "\"2024-02-29T08:00\" is of another form (ISO 8601 without a "
                 "zone, as UTC) than the times that are there (ISO 8601 "
                 "with a zone); write new times in that form");
  value_of(zoned.read("2024-02-29T08:00Z"));
  CATCH_CHECK(has(zoned.read("2024-02-29").error().message,
                  "than \"2024-02-29T08:00Z\" before it"));
}

CATCH_TEST_CASE("only times that are kept settle the form",
                "[partition][import][times]") {
  time_text_reader times;
  value_of(times.check("2024-02-29"));
  value_of(times.check("1289241911"));
  CATCH_CHECK(times.told().empty());
  times.keep();
  value_of(times.check("1289241912"));
  CATCH_CHECK_FALSE(times.check("2024-02-29"));
  CATCH_CHECK(times.told()
              == "seconds since 1970, from 2010-11-08T18:45:11Z to "
                 "2010-11-08T18:45:11Z");
}

CATCH_TEST_CASE("a refused time says how to write it, or its unit",
                "[partition][import][times]") {
  for (const auto& [text, advice] :
       std::vector<std::pair<const char*, const char*>>{
         {"2024-05-01T06:41:00.058123456789+02:00",
          "finer than a microsecond; round it to 6 digits, such as "
          "2024-05-01T06:41:00.058123+02:00"},
         {"20240501T064100Z", "write it as 2024-05-01T06:41:00Z"},
         {"20240501T0641", "write it as 2024-05-01T06:41"},
         {"45413.00067", "may be 2024-05-01 as a spreadsheet counts days"},
         {"45413", "may be 2024-05-01 as a spreadsheet counts days"},
         {"1714521658000.5", "counts milliseconds since 1970 by its size"}}) {
    CATCH_INFO(text);
    CATCH_CHECK(has(refusal(text), advice));
  }
  CATCH_CHECK(has(refusal("1714521658000", time_unit::seconds),
                  "counts milliseconds since 1970: say --time-unit ms"));
  CATCH_CHECK(has(refusal("1714521658000000", time_unit::milliseconds),
                  "counts microseconds since 1970: say --time-unit us"));
}

CATCH_TEST_CASE("a unit that all times contradict is refused",
                "[partition][import][times]") {
  const auto checked = [](time_unit unit, std::vector<const char*> texts) {
    time_text_reader column{unit};
    for (const auto* text : texts)
      value_of(column.read(text));
    return column.check_unit();
  };
  using enum time_unit;
  CATCH_CHECK(
    error_of(checked(milliseconds, {"1714521658", "1714608058"})).message
    == "--time-unit ms: times would go from "
       "1970-01-20T20:15:21.658000Z to 1970-01-20T20:16:48.058000Z. "
       "By their size they count seconds since 1970: say --time-unit "
       "s, or step for counts of anything else");
  CATCH_CHECK_FALSE(checked(microseconds, {"1714521658"}));
  CATCH_CHECK_FALSE(checked(microseconds, {"1714521658000"}));
  CATCH_CHECK(checked(milliseconds, {"12", "1714608058"}));
  CATCH_CHECK(checked(milliseconds, {"1714521658000"}));
  CATCH_CHECK(checked(seconds, {"1714521658"}));
  CATCH_CHECK(checked(steps, {"1714521658"}));
  CATCH_CHECK(checked(automatic, {"1714521658"}));
  CATCH_CHECK(checked(milliseconds, {}));
}

} // namespace graphmill::test::time_text
