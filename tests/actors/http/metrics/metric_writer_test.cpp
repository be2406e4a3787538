#include "actors/http/metrics/metric_writer.hpp"

#include "tests/support/catch.hpp"

#include <limits>

using namespace graphmill;

CATCH_TEST_CASE("numbers and labels of metrics", "[prometheus]") {
  constexpr metric_family empty{"graphmill_none", "No samples."};
  constexpr metric_family family{"graphmill_x", "Some help."};
  metric_writer out;
  out.begin(empty);
  out.begin(family);
  out.add("", 5);
  out.add("a=\"b\"", 0.5);
  for (const auto value : {-2.0, 0.1, 1e-5, 1700000000.5, 9007199254740992.0,
                           1e300, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()})
    out.add("", value);
  CATCH_CHECK(out.take()
              == "# HELP graphmill_x Some help.\n"
                 "# TYPE graphmill_x gauge\n"
                 "graphmill_x 5\n"
                 "graphmill_x{a=\"b\"} 0.5\n"
                 "graphmill_x -2\n"
                 "graphmill_x 0.1\n"
                 "graphmill_x 1e-05\n"
                 "graphmill_x 1700000000.5\n"
                 "graphmill_x 9007199254740992\n"
                 "graphmill_x 1e+300\n"
                 "graphmill_x NaN\n"
                 "graphmill_x +Inf\n"
                 "graphmill_x -Inf\n");
  CATCH_CHECK(metric_label("daemon", "plain-1") == "daemon=\"plain-1\"");
  // As a label has it: \" and \\, and what is no text is text.
  CATCH_CHECK(metric_label("daemon", "a\"b\\c") == R"(daemon="a\"b\\c")");
  CATCH_CHECK(metric_label("daemon", "a\nb") == R"(daemon="a\\nb")");
  CATCH_CHECK(metric_label("daemon", "a\xff") == R"(daemon="a\\xff")");
}
