#include "actors/commands/text/sweep_table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

using texts = std::vector<std::string>;

sweep_run finished_run_of(std::optional<double> validation,
                          std::optional<double> test) {
  return {"r", 1, run_state::finished, validation, test};
}

sweep_run failed_run() {
  return {"f", 2, run_state::failed, {}, {}};
}

/// Two repeats each of two widths: 0.6 on average, and 0.9 once.
std::vector<sweep_row> two_rows() {
  return {{{"model.hidden=64"},
           {finished_run_of(0.5, 0.4), finished_run_of(0.7, 0.4)}},
          {{"model.hidden=8"}, {finished_run_of(0.9, {}), failed_run()}}};
}

} // namespace

CATCH_TEST_CASE("the table of a sweep, best first", "[sweep]") {
  auto rows = two_rows();
  sort_sweep(rows);
  CATCH_CHECK(
    sweep_text(rows)
    == "settings         validation accuracy  test accuracy        "
       "finished\n"
       "model.hidden=8   0.9000               -                         "
       "1/2\n"
       "model.hidden=64  0.6000 +- 0.1414     0.4000 +- 0.0000          "
       "2/2\n"
       "best: run r\n");
  const auto json = sweep_json(rows);
  CATCH_CHECK(json[0]["settings"] == nlohmann::json{{"model.hidden", "8"}});
  CATCH_CHECK(json[0]["validation_accuracy"]["deviation"].is_null());
  CATCH_CHECK(json[0]["test_accuracy"].is_null());
  CATCH_CHECK(json[0]["runs"][1]["state"] == "failed");
  CATCH_CHECK(json[1]["test_accuracy"]["mean"] == 0.4);
}

CATCH_TEST_CASE("the table of a sweep that was not waited for", "[sweep]") {
  const std::vector<sweep_row> rows{{{}, {{"q", 3, {}, {}, {}}}}};
  CATCH_CHECK(sweep_text(rows)
              == "settings          validation accuracy  test accuracy      "
                 "  finished\n"
                 "as the file says  -                    -                  "
                 "       0/1\n");
  const auto json = sweep_json(rows);
  CATCH_CHECK(json[0]["runs"][0]["run"] == "q");
  CATCH_CHECK(json[0]["runs"][0]["state"].is_null());
}

CATCH_TEST_CASE("a sweep without validation is sorted by the test", "[sweep]") {
  std::vector<sweep_row> rows{{{"a=1"}, {failed_run()}},
                              {{"a=2"}, {finished_run_of({}, 0.3)}},
                              {{"a=3"}, {finished_run_of({}, 0.5)}}};
  sort_sweep(rows);
  CATCH_CHECK(rows[0].settings == texts{"a=3"});
  CATCH_CHECK(rows[1].settings == texts{"a=2"});
  CATCH_CHECK(rows[2].settings == texts{"a=1"});
}

CATCH_TEST_CASE("what a run of a sweep has come to", "[sweep]") {
  run_record record;
  record.id = "r-1";
  record.state = run_state::finished;
  record.summary = R"({"validation_accuracy": 0.75, "test_accuracy": null})";
  const auto run = read_sweep_run(record, 7);
  CATCH_CHECK(run.seed == 7);
  CATCH_CHECK(run.validation == 0.75);
  CATCH_CHECK(!run.test);
  record.state = run_state::cancelled;
  CATCH_CHECK(!read_sweep_run(record, 7).validation);
  record.state = run_state::finished;
  record.summary = "no JSON";
  CATCH_CHECK(!read_sweep_run(record, 7).validation);
}

CATCH_TEST_CASE("a sweep goes by the metric of its definition", "[sweep]") {
  run_record record;
  record.state = run_state::finished;
  const auto of = [&record](const char* metric, double accuracy, double value) {
    record.id = fmt::format("r-{}", value);
    record.summary =
      fmt::format(R"({{"validation_accuracy": {0}, "test_accuracy": {0},
                       "metric": "{1}", "validation": {{"{1}": {2}}},
                       "test": {{"{1}": {2}}}}})",
                  accuracy, metric, value);
    return read_sweep_run(record, 7);
  };
  std::vector<sweep_row> rows{{{"a=1"}, {of("f1_micro", 0.9, 0.25)}},
                              {{"a=2"}, {of("f1_micro", 0.1, 0.5)}}};
  sort_sweep(rows);
  CATCH_CHECK(sweep_text(rows)
              == "settings  validation f1_micro  test f1_micro        finished"
                 "\n"
                 "a=2       0.5000               0.5000                    1/1"
                 "\n"
                 "a=1       0.2500               0.2500                    1/1"
                 "\n"
                 "best: run r-0.5\n");
  const auto json = sweep_json(rows);
  CATCH_CHECK(json[0]["metric"] == "f1_micro");
  CATCH_CHECK(json[0]["validation_f1_micro"]["mean"] == 0.5);
  CATCH_CHECK(json[0]["validation_accuracy"]["mean"] == 0.1);
  CATCH_CHECK(json[0]["runs"][0]["test_accuracy"] == 0.1);
  rows = {{{"a=1"}, {of("loss", 0.9, 0.5)}},
          {{"a=2"}, {of("loss", 0.9, 0.25)}}};
  sort_sweep(rows);
  CATCH_CHECK(rows[0].settings == texts{"a=2"});
  // Nobody is the best of two that are equal.
  rows = {{{"a=1"}, {of("accuracy", 0.5, 1)}},
          {{"a=2"}, {of("accuracy", 0.5, 2)}},
          {{"a=3"}, {of("accuracy", 0.25, 3)}}};
  sort_sweep(rows);
  CATCH_CHECK_THAT(sweep_text(rows),
                   contains("the first 2 rows are equally good\n"));
}

CATCH_TEST_CASE("a sweep over labels that are numbers", "[sweep]") {
  run_record record;
  record.state = run_state::finished;
  const auto of = [&record](const char* id, const char* validation) {
    record.id = id;
    record.summary =
      fmt::format(R"({{"validation_accuracy": null, "test_accuracy": null,
                       "validation": {{"mse": {}, "mae": 1}},
                       "test": {{"mse": 20.25, "mae": 2}}}})",
                  validation);
    return read_sweep_run(record, 7);
  };
  std::vector<sweep_row> rows{{{"a=1"}, {of("one", "300.5")}},
                              {{"a=2"}, {failed_run()}},
                              {{"a=3"}, {of("two", "12.5"), failed_run()}}};
  CATCH_CHECK(rows[0].runs[0].errors());
  CATCH_CHECK(rows[0].runs[0].validation == 300.5);
  CATCH_CHECK(rows[0].runs[0].test == 20.25);
  sort_sweep(rows);
  CATCH_CHECK(sweep_text(rows)
              == "settings  validation mse    test mse          finished\n"
                 "a=3       12.5              20.25                  1/2\n"
                 "a=1       300.5             20.25                  1/1\n"
                 "a=2       -                 -                      0/1\n"
                 "best: run two\n");
  const auto json = sweep_json(rows);
  CATCH_CHECK(json[0]["validation_mse"]["mean"] == 12.5);
  CATCH_CHECK(json[0]["validation_accuracy"].is_null());
  CATCH_CHECK(json[1]["runs"][0]["test_mse"] == 20.25);
  CATCH_CHECK_FALSE(json[2].contains("test_mse"));
  // Where no validation has come to a number.
  CATCH_CHECK_FALSE(of("three", "null").validation);
}

CATCH_TEST_CASE("a sweep over links", "[sweep]") {
  run_record record;
  record.state = run_state::finished;
  const auto of = [&record](const char* metric, double mrr, double mean_rank) {
    record.summary = fmt::format(R"({{"metric": {}, "test_accuracy": null,
                       "test": {{"mrr": {}, "mean_rank": {}}}}})",
                                 metric, mrr, mean_rank);
    return read_sweep_run(record, 7);
  };
  // Without validations there is no word of the metric.
  CATCH_CHECK(of("null", 0.5, 3).metric == "mrr");
  CATCH_CHECK(of("null", 0.5, 3).test == 0.5);
  std::vector<sweep_row> rows{{{"a=1"}, {of("\"mean_rank\"", 0.5, 7)}},
                              {{"a=2"}, {of("\"mean_rank\"", 0.5, 3)}}};
  sort_sweep(rows);
  CATCH_CHECK(rows[0].settings == texts{"a=2"});
}

} // namespace graphmill::test
