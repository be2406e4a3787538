#include "pipelines/figures/figure_tables.hpp"
#include "tests/support/catch.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

using namespace graphmill;

namespace {

/// What is true of every table.
template <std::size_t Rows, class T>
void check_table(const figure<T> (&table)[Rows], std::set<std::string>& seen) {
  std::string last;
  std::set<std::string_view> labels, fields;
  for (const auto& row : table) {
    CATCH_INFO(row.metric << " " << row.field << " " << row.column);
    if (row.metric != last) { // Figures of one metric stand together.
      CATCH_CHECK(
        (row.metric.empty() || seen.insert(std::string{row.metric}).second));
      labels.clear();
      last = row.metric;
    }
    CATCH_CHECK((row.metric.empty() || labels.insert(row.label).second));
    CATCH_CHECK((row.field.empty() || fields.insert(row.field).second));
    // A curve is one of the history's.
    CATCH_CHECK((row.title.empty() || !row.field.empty()));
    CATCH_CHECK((row.get != nullptr || !row.field.empty()));
    CATCH_CHECK(row.help.ends_with("."));
    const auto has = [&row](const char* word) {
      return row.metric.find(word) != std::string_view::npos;
    };
    if (!row.metric.empty())
      CATCH_CHECK((row.unit == figure_unit::bytes
                   || row.unit == figure_unit::bytes_per_second)
                  == has("bytes"));
    CATCH_CHECK((row.unit == figure_unit::ratio) == has("_ratio"));
  }
}

struct thing {
  int count = 2;
  std::vector<int> list{1, 2, 3};
  double known = -1;
  int limit = 0;
  std::map<std::string, double> further{{"told", 5}};
};

} // namespace

CATCH_TEST_CASE("rows of the tables fit each other", "[figures]") {
  std::set<std::string> seen;
  check_table(figures::cluster, seen);
  check_table(figures::daemon, seen);
  check_table(figures::load, seen);
  check_table(figures::run, seen);
  check_table(figures::progress, seen);
  check_table(figures::actor, seen);
  check_table(figures::share, seen);
  check_table(figures::peer, seen);
  check_table(figures::process, seen);
  check_table(figures::traffic, seen);
  CATCH_CHECK(seen.size() > 50);
}

CATCH_TEST_CASE("figures have values, or none", "[figures]") {
  const thing of;
  CATCH_CHECK(figures::in<&thing::count>(of) == 2.0);
  CATCH_CHECK(figures::in<&thing::list>(of) == 3.0);
  CATCH_CHECK_FALSE(figures::if_known<&thing::known>(of));
  CATCH_CHECK_FALSE((figures::if_any<&thing::limit, &thing::count>(of)));
  CATCH_CHECK((figures::if_any<&thing::count, &thing::limit>(of)) == 0.0);
  const figure<thing> told{"", figure_unit::count, "", nullptr, "told"};
  const figure<thing> untold{"", figure_unit::count, "", nullptr, "untold"};
  CATCH_CHECK(told.value(of) == 5.0);
  CATCH_CHECK_FALSE(untold.value(of));
}
