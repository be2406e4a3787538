#include "partition/importers/columns/feature_columns.hpp"
#include "tests/support/result.hpp"
#include "tests/support/text.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using option_map = std::map<std::string, std::vector<std::string>>;
using table_rows = std::vector<std::vector<double>>;

result<feature_columns> made(const std::string& kind, option_map options,
                             bool scaled_later = false) {
  return feature_columns::make(
    {{.where = {}, .column = "c", .kind = kind, .options = std::move(options)}},
    scaled_later);
}

std::vector<double> row_of(feature_columns& columns, std::string_view field) {
  std::vector<double> row(static_cast<std::size_t>(columns.width()));
  value_of(columns.write(std::span{&field, 1}, row));
  return row;
}

std::string write_error(feature_columns& columns, std::string_view field) {
  std::vector<double> row(static_cast<std::size_t>(columns.width()));
  return error_of(columns.write(std::span{&field, 1}, row)).message;
}

/// Fits on `learnt`, and gives the features of `fields`; those of the restored
/// state are the same.
table_rows features_of(const std::string& kind, const option_map& options,
                       const std::vector<std::string_view>& learnt,
                       const std::vector<std::string_view>& fields) {
  auto columns = value_of(made(kind, options));
  if (columns.needs_fit()) {
    for (const auto& field : learnt)
      value_of(columns.learn(std::span{&field, 1}));
    value_of(columns.finish());
  }
  const auto text = columns.state().dump();
  auto again =
    value_of(feature_columns::restore(nlohmann::json::parse(text), false));
  CATCH_CHECK(again.names() == columns.names());
  CATCH_CHECK(again.state() == columns.state());
  table_rows out;
  for (const auto& field : fields) {
    out.push_back(row_of(columns, field));
    CATCH_CHECK(row_of(again, field) == out.back());
  }
  return out;
}

std::vector<std::string> names_of(const std::string& kind,
                                  const option_map& options,
                                  const std::vector<std::string_view>& learnt) {
  auto columns = value_of(made(kind, options));
  for (const auto& field : learnt)
    value_of(columns.learn(std::span{&field, 1}));
  if (columns.needs_fit())
    value_of(columns.finish());
  return columns.names();
}

} // namespace

CATCH_TEST_CASE("numbers with gaps", "[import][columns]") {
  CATCH_CHECK(features_of("number", {{"fill", {"mean"}}}, {"1", "", "4", "4"},
                          {"7", "NULL"})
              == table_rows{{7}, {3}});
  CATCH_CHECK(
    features_of("number", {{"fill", {"median"}}}, {"1", "5", "9", ""}, {"n/a"})
    == table_rows{{5}});
  CATCH_CHECK(
    features_of("number", {{"fill", {"most_frequent"}}}, {"1", "5", "5"}, {""})
    == table_rows{{5}});
  CATCH_CHECK(features_of("number", {{"fill", {"-1"}}, {"missing", {"true"}}},
                          {}, {"7", ""})
              == table_rows{{7, 0}, {-1, 1}});
  CATCH_CHECK(features_of("number", {{"none", {"-999"}}, {"fill", {"zero"}}},
                          {}, {"-999", "-998"})
              == table_rows{{0}, {-998}});
  CATCH_CHECK(names_of("number", {{"missing", {"true"}}}, {})
              == std::vector<std::string>{"c", "c(missing)"});

  auto plain = value_of(made("number", {}));
  CATCH_CHECK(has(write_error(plain, ""), "column \"c\": a number is missing"));
  CATCH_CHECK(has(write_error(plain, "x1"), "\"x1\" is no finite number"));
  const std::vector<std::pair<const char*, const char*>> advice{
    {"1,5", "\"1,5\" is no finite number; if a comma stands before the "
            "fraction, say --decimal comma"},
    {"1,500", "say --decimal comma; if it separates thousands, take it out"},
    {"1,234.50", "; take the commas between thousands out"},
    {"1,234,567", "; take the commas between thousands out"},
    {"1_000", "; take out what separates thousands"},
    {"1 000.5", "; take out what separates thousands"},
    {"+5", "; take the plus sign out"},
    {"\xe2\x82\xac 50.00", "; take the currency or unit out"},
    {"50.00 EUR", "; take the currency or unit out"},
    {"7%", "; take the currency or unit out"},
    {"ABC123", "; a columns file makes features"},
    {"red", "; a columns file makes features"}};
  for (const auto& [text, says] : advice) {
    CATCH_INFO(text);
    CATCH_CHECK(has(write_error(plain, text), says));
  }
  auto of_file = value_of(feature_columns::make(
    {{.where = "c.yaml:3:5", .column = "c", .kind = "number", .options = {}}},
    false));
  CATCH_CHECK(has(write_error(of_file, "1,5"), "say `decimal: comma`"));
  CATCH_CHECK(has(write_error(of_file, "red"),
                  "`as: category`, `as: date` or `as: text`"));
  auto none = value_of(made("number", {{"fill", {"mean"}}}));
  CATCH_CHECK(has(error_of(none.finish()).message, "there is no number"));
}

CATCH_TEST_CASE("numbers written and limited in other ways",
                "[import][columns]") {
  CATCH_CHECK(
    features_of("number", {{"decimal", {"comma"}}}, {}, {"1,5", "-2", "7,25e1"})
    == table_rows{{1.5}, {-2}, {72.5}});
  auto comma = value_of(made("number", {{"decimal", {"comma"}}}));
  CATCH_CHECK(has(write_error(comma, "1.234,5"), "has a point"));
  CATCH_CHECK(has(write_error(comma, "1.234,5"),
                  "take the points between thousands out"));
  CATCH_CHECK(features_of("number", {{"lowest", {"0"}}, {"highest", {"10"}}},
                          {}, {"-3", "4", "1e30"})
              == table_rows{{0}, {4}, {10}});
  CATCH_CHECK(
    features_of("number",
                {{"separator", {"|"}}, {"width", {"2"}}, {"fill", {"mean"}}},
                {"1|10", "3|", "5|30"}, {"7| 8 |9", "|1", ""})
    == table_rows{{7, 8}, {3, 1}, {3, 20}});
  CATCH_CHECK(
    features_of("number",
                {{"separator", {"|"}}, {"width", {"2"}}, {"fill", {"-1"}}}, {},
                {"NULL", "\\N"})
    == table_rows{{-1, -1}, {-1, -1}});
  auto list =
    value_of(made("number", {{"separator", {"|"}}, {"width", {"3"}}}));
  CATCH_CHECK(has(write_error(list, "1|2"), "has 2 numbers; 3 expected"));
}

CATCH_TEST_CASE("integers that float32 would round", "[import][columns]") {
  auto plain = value_of(made("number", {}));
  CATCH_CHECK(row_of(plain, "16777216") == std::vector<double>{16777216});
  CATCH_CHECK(row_of(plain, "33554432") == std::vector<double>{33554432});
  CATCH_CHECK(row_of(plain, "16777217.0") == std::vector<double>{16777216});
  CATCH_CHECK(has(write_error(plain, "16777217"),
                  "16777217, which float32 would round to 16777216"));
  CATCH_CHECK(has(write_error(plain, "-99999999999999999999"), "would round"));
  CATCH_CHECK(has(write_error(plain, "1e39"), "beyond what float32 holds"));
  auto later = value_of(made("number", {}, true));
  CATCH_CHECK(row_of(later, "16777217") == std::vector<double>{16777217});
  CATCH_CHECK(has(write_error(later, "1e300"), "beyond what float32 holds"));
}

CATCH_TEST_CASE("numbers that are scaled", "[import][columns]") {
  const auto scaled = [](std::vector<std::string> how,
                         const std::vector<std::string_view>& learnt,
                         std::string_view field) {
    return features_of("number", {{"scale", std::move(how)}}, learnt, {field})
      .front()
      .front();
  };
  CATCH_CHECK(scaled({"min-max"}, {"2", "4", "6"}, "5") == 0.75);
  CATCH_CHECK(scaled({"standard"}, {"1700000000", "1700000010", "1700000020"},
                     "1700000010")
              == 0);
  CATCH_CHECK(
    std::abs(scaled({"standard"}, {"1700000000", "1700000020"}, "1700000020")
             - 1)
    < 1e-9);
  CATCH_CHECK(scaled({"standard"}, {"5", "5"}, "5") == 0);
  CATCH_CHECK(scaled({"log"}, {}, "-1.718281828459045") == -1);
  CATCH_CHECK(scaled({"log", "min-max"}, {"0", "1e3"}, "1000") == 1);
  CATCH_CHECK(scaled({"rank"}, {"1", "10", "100"}, "10") == 0.5);
  CATCH_CHECK(scaled({"rank"}, {"1", "10", "100"}, "55") == 0.75);
  CATCH_CHECK(scaled({"rank"}, {"1", "10", "100"}, "1e9") == 1);
  CATCH_CHECK(scaled({"rank"}, {"0", "0", "0", "7"}, "0") == 1.0 / 3);
  CATCH_CHECK(scaled({"gauss"}, {"1", "10", "100"}, "10") == 0);
  // A sixth of the normal distribution lies below.
  CATCH_CHECK(std::abs(scaled({"gauss"}, {"1", "10", "100"}, "1") + 0.967422)
              < 1e-6);
  // What is missing is scaled as what it is filled by.
  CATCH_CHECK(features_of("number",
                          {{"fill", {"mean"}}, {"scale", {"standard"}}},
                          {"1", "", "3"}, {""})
              == table_rows{{0}});
}

CATCH_TEST_CASE("ranges of numbers", "[import][columns]") {
  const option_map options{{"range", {"10", "30"}}, {"count", {"2"}}};
  CATCH_CHECK(features_of("buckets", options, {}, {"1", "11", "20", "31"})
              == table_rows{{1, 0}, {1, 0}, {0, 1}, {0, 1}});
  auto wide = options;
  wide["window"] = {"4"};
  wide["missing"] = {"true"};
  CATCH_CHECK(features_of("buckets", wide, {}, {"19", "15", ""})
              == table_rows{{1, 1, 0}, {1, 0, 0}, {0, 0, 1}});
  CATCH_CHECK(has(error_of(made("buckets", {})).message, "two numbers"));
  // What is filled has a range, whether or not an indicator stands beside it.
  auto filled = options;
  filled["fill"] = {"25"};
  CATCH_CHECK(features_of("buckets", filled, {}, {""}) == table_rows{{0, 1}});
  filled["missing"] = {"true"};
  CATCH_CHECK(features_of("buckets", filled, {}, {"", "11"})
              == table_rows{{0, 1, 1}, {1, 0, 0}});
}

CATCH_TEST_CASE("categories", "[import][columns]") {
  const std::vector<std::string_view> learnt{"b", "a", "b", "c", "", "b", "a"};
  CATCH_CHECK(names_of("category", {{"most", {"2"}}}, learnt)
              == std::vector<std::string>{"c=a", "c=b", "c=(other)"});
  CATCH_CHECK(
    features_of("category", {{"most", {"2"}}}, learnt,
                {"a", "b", "c", "new", ""})
    == table_rows{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 1}, {0, 0, 0}});
  CATCH_CHECK(features_of("category", {{"least", {"3"}}, {"missing", {"true"}}},
                          learnt, {"b", "NA"})
              == table_rows{{1, 0, 0}, {0, 0, 1}});
  CATCH_CHECK(features_of("category",
                          {{"values", {"x", "y"}}, {"separator", {";"}}}, {},
                          {"y; x", "x;z"})
              == table_rows{{1, 1, 0}, {1, 0, 1}});

  // A word for what is missing is a value where the user says so.
  CATCH_CHECK(features_of("category",
                          {{"values", {"DE", "NA"}}, {"missing", {"true"}}}, {},
                          {"NA", "null"})
              == table_rows{{0, 1, 0, 0}, {0, 0, 0, 1}});
  auto told = value_of(made("category", {{"values", {"DE"}}}));
  for (const auto* field : {"NA", "DE", "", "NA"})
    row_of(told, field);
  CATCH_CHECK(has(told.notes().at(0), "2 times, a word such as \"NA\""));

  auto few = value_of(made("category", {{"values", {"x"}}}));
  row_of(few, "x");
  row_of(few, "z");
  CATCH_CHECK(has(few.notes().at(0), "1 of 2 rows have a value"));
  CATCH_CHECK(
    has(error_of(made("category", {{"values", {"x", "x"}}})).message, "twice"));
}

CATCH_TEST_CASE("values that are hashed", "[import][columns]") {
  const auto rows = features_of(
    "hash", {{"buckets", {"8"}}, {"separator", {","}}, {"missing", {"true"}}},
    {}, {"a", "a,a", ""});
  CATCH_REQUIRE(rows[0].size() == 9);
  for (std::size_t i = 0; i < 8; ++i)
    CATCH_CHECK(rows[1][i] == 2 * rows[0][i]);
  CATCH_CHECK(rows[2] == std::vector<double>{0, 0, 0, 0, 0, 0, 0, 0, 1});
}

CATCH_TEST_CASE("truth values", "[import][columns]") {
  CATCH_CHECK(
    features_of("boolean",
                {{"yes", {"ja"}}, {"no", {"nein"}}, {"missing", {"true"}}}, {},
                {"True", "0", "ja", "nein", ""})
    == table_rows{{1, 0}, {0, 0}, {1, 0}, {0, 0}, {0, 1}});
  // What the user says comes before usual words.
  CATCH_CHECK(features_of("boolean", {{"none", {"N"}}, {"missing", {"true"}}},
                          {}, {"Y", "N", "n"})
              == table_rows{{1, 0}, {0, 1}, {0, 0}});
  auto plain = value_of(made("boolean", {}));
  CATCH_CHECK(has(write_error(plain, "ja"), "neither true nor false"));
  CATCH_CHECK(has(write_error(plain, ""), "missing"));
}

CATCH_TEST_CASE("dates as numbers and on circles", "[import][columns]") {
  CATCH_CHECK(features_of("date", {{"scale", {"none"}}}, {}, {"1970-01-03"})
              == table_rows{{2}});
  CATCH_CHECK(features_of("date", {}, {"2024-01-01", "2024-01-03"},
                          {"2024-01-02", "2024-01-04"})
              == table_rows{{0}, {2}});
  const auto rows = features_of(
    "date", {{"parts", {"year", "weekday", "hour"}}, {"missing", {"true"}}}, {},
    {"2024-01-01T06:00", ""});
  CATCH_REQUIRE(rows[0].size() == 6);
  CATCH_CHECK(rows[0][0] == 2024);
  CATCH_CHECK(rows[0][1] == 0); // Monday.
  CATCH_CHECK(rows[0][2] == 1);
  CATCH_CHECK(std::abs(rows[0][3] - 1) < 1e-12); // A quarter of a day.
  CATCH_CHECK(rows[1] == std::vector<double>{0, 0, 0, 0, 0, 1});
  // A day that the user fills with is scaled like others.
  CATCH_CHECK(features_of("date", {{"fill", {"19725"}}},
                          {"2024-01-01", "2024-01-03"}, {""})
              == table_rows{{1}});
  CATCH_CHECK(features_of("date", {{"missing", {"true"}}},
                          {"2024-01-01", "2024-01-03"}, {""})
              == table_rows{{0, 1}});
  // A moment before midnight that a double rounds to midnight.
  CATCH_CHECK(
    features_of("date", {{"format", {"epoch"}}, {"parts", {"minute"}}}, {},
                {"-1e-12", "3540"})
      .front()
    == features_of("date", {{"format", {"epoch"}}, {"parts", {"minute"}}}, {},
                   {"3540"})
         .front());
  // Seconds that are read as milliseconds.
  auto unit =
    value_of(made("date", {{"format", {"epoch-ms"}}, {"scale", {"none"}}}));
  row_of(unit, "1700000000");
  CATCH_CHECK(
    has(unit.notes().at(0), "in another unit than `format: epoch-ms`"));
  row_of(unit, "1700000000000");
  CATCH_CHECK(unit.notes().empty());
  CATCH_CHECK(
    names_of("date", {{"parts", {"days", "month"}}}, {"2024-01-01"})
    == std::vector<std::string>{"c.days", "c.month.sin", "c.month.cos"});
  auto plain = value_of(made("date", {{"parts", {"year"}}}));
  CATCH_CHECK(has(write_error(plain, "01/02/2024"), "no date of ISO 8601"));
  CATCH_CHECK(has(write_error(plain, ""), "the date is missing"));
}

CATCH_TEST_CASE("texts", "[import][columns]") {
  const auto sum = [](const std::vector<double>& row) {
    double out = 0;
    for (const auto value : row)
      out += value;
    return out;
  };
  const auto rows = features_of("text", {{"buckets", {"512"}}}, {},
                                {"Müller, müller!", "MÜLLER MÜLLER", "a b a"});
  CATCH_CHECK(rows[0] == rows[1]); // An umlaut has small and capital letters.
  CATCH_CHECK(sum(rows[2]) == 3);
  CATCH_CHECK(
    sum(features_of("text", {{"ngrams", {"1", "2"}}}, {}, {"a b c"}).front())
    == 5);
  CATCH_CHECK(
    sum(features_of("text", {{"of", {"characters"}}, {"ngrams", {"2"}}}, {},
                    {"aüb"})
          .front())
    == 2);
  CATCH_CHECK(
    sum(features_of("text", {{"weigh", {"binary"}}}, {}, {"a a a"}).front())
    == 1);
  const auto weighed = features_of(
    "text", {{"weigh", {"tfidf"}}, {"norm", {"none"}}, {"buckets", {"512"}}},
    {"the cat", "the dog", "the end"}, {"the", "cat", "unseen"});
  CATCH_CHECK(sum(weighed[0]) == 1); // In each text: log(1) + 1.
  CATCH_CHECK(std::abs(sum(weighed[1]) - (std::log(2.0) + 1)) < 1e-12);
  CATCH_CHECK(std::abs(sum(weighed[2]) - (std::log(4.0) + 1)) < 1e-12);
}

CATCH_TEST_CASE("mistakes in requests come all at once", "[import][columns]") {
  const auto failed = error_of(feature_columns::make(
    {{.where = "c.yaml:3:5",
      .column = "age",
      .kind = "number",
      .options = {{"fil", {"mean"}}, {"scale", {"big"}}}},
     {.where = "c.yaml:4:5", .column = "town", .kind = "town", .options = {}}},
    false));
  CATCH_CHECK(has(failed.message, "c.yaml:3:5: column \"age\""));
  CATCH_CHECK(has(failed.message, "did you mean fill?"));
  CATCH_CHECK(has(failed.message, "scale is \"big\""));
  CATCH_CHECK(has(failed.message, "c.yaml:4:5: column \"town\" is \"town\""));
}

CATCH_TEST_CASE("a stored state of another kind is refused",
                "[import][columns]") {
  for (const auto* text :
       {"1", "[1]", R"([{"column": "c", "as": "number"}])",
        R"([{"column": "c", "as": "number", "options": {"fill": ["mean"]},
             "state": [{"fill": {}, "scale": {}}]}])",
        R"([{"column": "c", "as": "number", "options": {"fill": ["mean"]},
             "state": [{"fill": {"fill": "x"}, "scale": {}}]}])",
        R"([{"column": "c", "as": "category", "options": {}, "state": 3}])",
        R"([{"column": "c", "as": "text", "options": {"weigh": ["tfidf"]},
             "state": {"inverse": [1]}}])"}) {
    CATCH_INFO(text);
    CATCH_CHECK_FALSE(
      feature_columns::restore(nlohmann::json::parse(text), false));
  }
}
