#include "actors/run/class_report.hpp"
#include "actors/run/run_summary.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <malloc.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;

namespace {

run_result full_run() {
  run_result out;
  out.seconds = 10;
  auto& work = out.work;
  work.stages = {{"trainer", 2, 30, 4'000'000, 15, 12.5, 1, 0.25, 1}};
  work.disk = disk_use{
    {"row reader", 1, 50, 8192, 5, 1, 0, 0, 0}, 200, 100, 40, {25, 8192}};
  work.wire =
    wire_use{{1, 2}, {3, 4}, {60, 6}, 7, {0, 0}, {10, 11}, {12, 13}, {14, 15}};
  work.cache = cache_use{{16, 17}, {18, 19}, {20, 21}};
  work.cpu_seconds = 1.5;
  return out;
}

std::string cells(const stage_report& row) {
  return fmt::format("{}: {} {}", row.stage, row.items, row.bytes);
}

nlohmann::json summary_of(const run_result& run) {
  return summarise(run, run_reporter{nullptr, {}, nullptr}, "folder");
}

} // namespace

CATCH_TEST_CASE("what was counted has its rows behind the stages",
                "[actors][summary]") {
  std::vector<std::string> found;
  for (const auto& row : table_of(full_run().work))
    found.push_back(cells(row));
  CATCH_CHECK(found
              == std::vector<std::string>{
                "trainer: 30 4000000", "row reader: 50 8192",
                "disk: rows wanted: 200 0", "disk: rows found: 100 0",
                "disk: rows shared: 40 0", "disk: reads: 25 8192",
                "wire: ids asked: 1 2", "wire: sampled neighbours: 3 4",
                "wire: feature rows: 60 6", "wire: other values: 0 7",
                "wire: sampled batches: 0 0", "wire: sampling sent: 10 11",
                "wire: features sent: 12 13", "wire: control sent: 14 15",
                "wire: cache filling: 16 17", "cache: rows kept: 18 19",
                "cache: rows found: 20 21"});
  auto alone = full_run();
  alone.work.disk.reset();
  alone.work.wire.reset();
  alone.work.cache.reset();
  CATCH_CHECK(table_of(alone.work).size() == 1);
}

CATCH_TEST_CASE("the table of stages is what it was", "[actors][summary]") {
  auto run = full_run();
  run.work.disk.reset();
  run.work.cache.reset();
  const auto rows = table_of(run.work);
  // The last one has counted nothing, and is left out but for its width.
  const auto text = render_table({rows[0], rows[3], rows[5]}, run.seconds);
  CATCH_CHECK(
    text
    == "stage                 replicas    items         MB   busy    cpu s   "
       "input s  credit s  reply s restarts\n"
       "trainer                      2       30        4.0   75 %    12.50     "
       " "
       "1.00      0.25     0.00        1\n"
       "wire: feature rows                   60        0.0\n");
  CATCH_CHECK(
    table_json({rows[0]}).dump()
    == R"([{"busy_seconds":15.0,"bytes":4000000,"cpu_seconds":12.5,)"
       R"("credit_wait_seconds":0.25,"input_wait_seconds":1.0,"items":30,)"
       R"("replicas":2,"reply_wait_seconds":0.0,"restarts":1,)"
       R"("stage":"trainer"}])");
}

CATCH_TEST_CASE("the best epoch is the first of equal ones",
                "[actors][summary]") {
  run_reporter reporter{nullptr, {}, nullptr};
  const auto told = reporter.observer();
  const auto best = [&reporter] {
    return summarise(full_run(), reporter, "folder")["best_epoch"];
  };
  CATCH_CHECK(best().is_null());
  // A validation of nothing right is the best one until there is another.
  for (const auto& [correct, expected] : std::vector<std::pair<int, int>>{
         {0, 1}, {5, 2}, {4, 2}, {5, 2}, {6, 5}}) {
    phase_result done;
    done.phase = phase::validation;
    done.epoch = reporter.epochs();
    done.metrics = {1.0, correct, 10};
    phase_result training = done;
    training.phase = phase::train;
    training.metrics = {1.0, 10, 10};
    test::value_of(told.on_phase(training));
    test::value_of(told.on_phase(done));
    CATCH_CHECK(best() == expected);
  }
  // What another process has told counts as well.
  run_reporter later{nullptr, {}, nullptr};
  const nlohmann::json line{
    {"phase", "validation"}, {"epoch", 3}, {"seeds", 10}, {"accuracy", 0.5}};
  later.go_on_after(nlohmann::json::array({line}));
  CATCH_CHECK(later.best_epoch() == 3);
}

namespace {

/// A validation or test of two classes.
phase_result evaluation(phase which, std::int32_t epoch,
                        std::vector<std::int64_t> confusion, double loss) {
  phase_result out;
  out.phase = which;
  out.epoch = epoch;
  class_metrics of;
  of.confusion = std::move(confusion);
  of.classes.resize(2);
  for (std::size_t label = 0; label < 2; ++label)
    for (std::size_t predicted = 0; predicted < 2; ++predicted) {
      const auto count = of.confusion[2 * label + predicted];
      of.seeds += count;
      of.classes[label].seeds += count;
      of.classes[predicted].predicted += count;
      if (label == predicted)
        of.classes[label].correct = count;
    }
  out.metrics = {loss * double(of.seeds),
                 of.classes[0].correct + of.classes[1].correct, of.seeds};
  out.classes = of;
  return out;
}

} // namespace

CATCH_TEST_CASE("the best epoch is the best by the metric of the run",
                "[actors][summary]") {
  // The second has more seeds right, the first a better mean over classes:
  // (2 * 3 / 8 + 2 * 3 / 8) / 2 against (14 / 15 + 0 / 1) / 2.
  const std::vector<std::vector<std::int64_t>> confusions{{3, 1, 1, 3},
                                                          {7, 0, 1, 0}};
  for (const auto& [metric, expected] :
       std::vector<std::pair<evaluation_metric, int>>{
         {evaluation_metric::accuracy, 2},
         {evaluation_metric::f1_macro, 1},
         {evaluation_metric::loss, 1},
         {evaluation_metric::roc_auc, 0}}) {
    run_reporter reporter{nullptr, {}, nullptr};
    const auto told = reporter.observer();
    auto lines = nlohmann::json::array();
    for (std::int32_t epoch = 0; epoch < 2; ++epoch) {
      auto done = evaluation(phase::validation, epoch,
                             confusions[std::size_t(epoch)], 1.5 + epoch);
      done.metric = metric;
      test::value_of(told.on_phase(done));
      lines.push_back(metrics_json(done));
    }
    CATCH_CHECK(reporter.best_epoch().value_or(0) == expected);
    // Goes on from the lines as well.
    run_reporter later{nullptr, {}, nullptr};
    later.go_on_after(lines);
    CATCH_CHECK(later.best_epoch().value_or(0) == expected);
    const auto summary = summarise(full_run(), later, "folder");
    CATCH_CHECK(summary["metric"]
                == (expected == 0 ? nlohmann::json()
                                  : nlohmann::json(to_string(metric))));
    CATCH_CHECK(summary["threshold"].is_null());
    if (metric == evaluation_metric::f1_macro) {
      CATCH_CHECK(summary["validation_accuracy"] == 0.75);
      CATCH_CHECK(summary["validation"]["f1_macro"] == 0.75);
      CATCH_CHECK(lines[0]["metric"] == "f1_macro");
    }
    if (metric == evaluation_metric::accuracy)
      CATCH_CHECK_FALSE(lines[0].contains("metric"));
  }
}

CATCH_TEST_CASE("a test is told as of the epoch whose weights are tested",
                "[actors][summary]") {
  const test::temp_folder runs;
  for (const auto has_best : {true, false}) {
    auto folder = test::value_of(run_folder::create(
      runs.path(), "r", "dataset: d\n", {"/d", {"abc", {}, {}}}));
    run_reporter reporter{nullptr, {}, &folder};
    const auto told = reporter.observer();
    if (has_best) {
      for (const auto epoch : {0, 1})
        test::value_of(told.on_phase(
          evaluation(phase::validation, epoch, {3, epoch, epoch, 1}, 0.5)));
    }
    test::value_of(told.on_phase(evaluation(phase::test, 2, {1, 0, 0, 1}, 1)));
    const auto text = test::content_of(folder.metrics_file());
    const auto last = text.substr(text.rfind('\n', text.size() - 2) + 1);
    CATCH_CHECK(nlohmann::json::parse(last)["epoch"] == (has_best ? 1 : 3));
  }
}

CATCH_TEST_CASE("nothing is said of what limits a run of a second",
                "[actors][summary]") {
  auto run = full_run();
  run.outcome.train_steps = 5;
  auto& health = run.health.daemons.emplace_back();
  auto& trainer = health.actors.emplace_back();
  trainer.kind = actor_kind::trainer;
  trainer.items = 5;
  trainer.busy = 1;
  health.cores = 1;
  CATCH_CHECK(summary_of(run)["bottleneck"] == "trainer");
  run.seconds = 1;
  const auto summary = summary_of(run);
  CATCH_CHECK(summary["bottleneck"] == "");
  CATCH_CHECK(summary["verdict"]
              == "too little data: the run took 1.0 s, and what limits a run "
                 "shows after 2 s at the earliest");
}

CATCH_TEST_CASE("a test takes the threshold that was tuned in the best epoch",
                "[actors][summary]") {
  threshold_choice threshold;
  threshold.of = 1;
  threshold.class_name = "fraud";
  threshold.name = "f1:fraud";
  threshold.by = *metric_called("f1:fraud");
  metric_choice metric = *metric_called("average_precision:fraud");
  // Seeds of class 1 come first in both; in between lies 1.5, then -0.5.
  const std::vector<std::vector<float>> scores{{3, 2, 1, 0}, {1, 0, -1, -2}};
  const std::vector<std::int32_t> labels{1, 1, 0, 0};
  run_reporter reporter{nullptr, {}, nullptr};
  const auto told = reporter.observer();
  auto lines = nlohmann::json::array();
  const auto evaluated = [&](phase which, std::int32_t epoch, double value,
                             const std::vector<float>& by) {
    auto done = evaluation(which, epoch, {2, 0, 0, 2}, 0.5);
    done.metric = metric;
    done.threshold = threshold;
    done.classes->of_one_class = value;
    done.classes->ranked = std::make_shared<const ranked_scores>(
      *ranked_scores::make(by, labels, 1));
    test::value_of(told.on_phase(done));
    return done;
  };
  evaluated(phase::validation, 0, 0.5, scores[0]);
  evaluated(phase::validation, 1, 0.25, scores[1]);
  evaluated(phase::test, 1, 0.75, scores[1]);
  const auto summary = summarise(full_run(), reporter, "folder");
  CATCH_CHECK(summary["metric"] == "average_precision:fraud");
  CATCH_CHECK(summary["validation"]["average_precision:fraud"] == 0.5);
  CATCH_CHECK(summary["test"]["average_precision:fraud"] == 0.75);
  const auto probability = summary["validation"]["threshold"].get<double>();
  CATCH_CHECK(std::abs(probability - 1 / (1 + std::exp(-1.5))) < 1e-12);
  CATCH_CHECK(summary["threshold"] == fmt::format("{}:fraud", probability));
  CATCH_CHECK(summary["validation"]["threshold_f1"] == 1);
  // None of the test reaches it.
  CATCH_CHECK(summary["test"]["threshold"] == probability);
  CATCH_CHECK(summary["test"]["threshold_of"] == "f1:fraud");
  CATCH_CHECK(summary["test"]["threshold_predicted"] == 0);
  CATCH_CHECK(summary["test"]["threshold_recall"] == 0);
  CATCH_CHECK(summary["test"]["threshold_precision"].is_null());
}

CATCH_TEST_CASE("a summary has what the test says of each class",
                "[actors][summary]") {
  run_reporter reporter{nullptr, {}, nullptr};
  auto done = evaluation(phase::test, 0, {3, 1, 0, 0}, 0.5);
  test::value_of(reporter.observer().on_phase(done));
  const auto plain = summarise(full_run(), reporter, "folder")["test"];
  CATCH_CHECK(plain.dump()
              == R"({"accuracy":0.75,"classes":[{"class":0,"correct":3,)"
                 R"("f1":0.8571428571428571,"precision":1.0,"predicted":3,)"
                 R"("recall":0.75,"seeds":4},{"class":1,"correct":0,"f1":0.0,)"
                 R"("precision":0.0,"predicted":1,"recall":null,"seeds":0}],)"
                 R"("confusion":[[3,1],[0,0]],"f1_macro":0.42857142857142855,)"
                 R"("f1_micro":0.75,"loss":0.5,"seeds":4})");
  done.classes->scored = true;
  done.classes->roc_auc = 0.625;
  done.classes->classes[1].ranking.average_precision = 0.25;
  test::value_of(reporter.observer().on_phase(done));
  const auto scored = summarise(full_run(), reporter, "folder")["test"];
  CATCH_CHECK(scored["roc_auc"] == 0.625);
  CATCH_CHECK(scored["average_precision"].is_null());
  CATCH_CHECK(scored["classes"][0]["roc_auc"].is_null());
  CATCH_CHECK(scored["classes"][1]["average_precision"] == 0.25);
  // Too many to be listed.
  done.classes->classes.resize(65);
  done.classes->confusion.resize(65 * 65);
  test::value_of(reporter.observer().on_phase(done));
  const auto many = summarise(full_run(), reporter, "folder")["test"];
  CATCH_CHECK_FALSE((many.contains("classes") || many.contains("confusion")));
  CATCH_CHECK(many["f1_micro"] == 0.75);
}

CATCH_TEST_CASE("a run that has gone back has only what it kept",
                "[actors][summary]") {
  run_reporter it{nullptr, {}, nullptr};
  auto lines = nlohmann::json::array();
  for (const auto epoch : {1, 2, 3}) {
    lines.push_back({{"phase", "train"}, {"epoch", epoch}});
    lines.push_back({{"phase", "validation"},
                     {"epoch", epoch},
                     {"seeds", 4},
                     {"accuracy", 0.25 * epoch}});
  }
  it.go_on_after(lines);
  CATCH_CHECK(it.epochs() == 3);
  CATCH_CHECK(it.best_epoch() == 3);
  lines.erase(4);
  lines.erase(4);
  it.go_on_after(lines);
  CATCH_CHECK(it.epochs() == 2);
  CATCH_CHECK(it.best_epoch() == 2);
  CATCH_CHECK(it.last(phase::validation)->correct == 2);
  it.go_on_after(nlohmann::json::array());
  CATCH_CHECK(it.epochs() == 0);
  CATCH_CHECK_FALSE(it.best_epoch());
  CATCH_CHECK_FALSE(it.last(phase::validation));
}

CATCH_TEST_CASE("memory does not grow with the epochs of a run",
                "[actors][summary]") {
  const test::temp_folder runs;
  auto folder = test::value_of(run_folder::create(
    runs.path(), "r", "dataset: d\n", {"/d", {"abc", {}, {}}}));
  test::value_of(folder.keep_events());
  run_reporter reporter{nullptr, {}, &folder};
  const auto told = reporter.observer();
  const auto tell_epochs = [&](std::int32_t first, std::int32_t last) {
    for (auto epoch = first; epoch < last; ++epoch) {
      for (const auto which : {phase::train, phase::validation})
        test::value_of(
          told.on_phase(evaluation(which, epoch, {3, 1, 1, 3}, 0.5)));
      CATCH_CHECK(test::value_of(folder.metrics_until(epoch + 1)).bytes > 0);
    }
  };
  // Of all threads; nothing under the address sanitizer.
  const auto in_use = [] { return std::int64_t(::mallinfo2().uordblks); };
  tell_epochs(0, 100);
  const auto before = in_use();
  tell_epochs(100, 600);
  CATCH_CHECK(in_use() - before < 500 * 64);
}

CATCH_TEST_CASE("the summary says what disk and cache brought",
                "[actors][summary]") {
  const auto whole = summary_of(full_run());
  CATCH_CHECK(whole["cache"].dump()
              == R"({"bytes_saved":21,"filling_bytes":17,"hit_rate":0.25,)"
                 R"("memory_bytes":19,"rows_found":20,"rows_kept":18,)"
                 R"("rows_wanted":80})");
  CATCH_CHECK(whole["disk"].dump()
              == R"({"bytes_read":8192,"hit_rate":0.5,"reading_seconds":5.0,)"
                 R"("reads":25,"reads_per_second":5.0,"rows_found":100,)"
                 R"("rows_read":50,"rows_read_per_second":10.0,)"
                 R"("rows_shared":40,"rows_wanted":200})");
  CATCH_CHECK(whole["stages"].size() == 17);
  CATCH_CHECK(whole["bottleneck"] == "trainer");
  CATCH_CHECK(whole["verdict"].is_null());
  CATCH_CHECK(whole["cpu_seconds"] == 1.5);
  auto plain = full_run();
  plain.work.disk.reset();
  plain.work.cache.reset();
  const auto less = summary_of(plain);
  CATCH_CHECK(less["cache"].is_null());
  CATCH_CHECK(less["disk"].is_null());
}

CATCH_TEST_CASE("labels that are numbers have errors instead of an accuracy",
                "[actors][summary]") {
  // The first has the smaller MAE, the second the smaller MSE.
  const std::vector<std::vector<value_result>> found{
    {{5, 1, 0.5}, {3, 1, std::nullopt}}, {{1, 2, 0.75}, {1, 1, -1}}};
  for (const auto& [metric, expected] :
       std::vector<std::pair<evaluation_metric, int>>{
         {evaluation_metric::mae, 1}, {evaluation_metric::mse, 2}}) {
    run_reporter reporter{nullptr, {}, nullptr};
    auto lines = nlohmann::json::array();
    phase_result done;
    done.metric = metric;
    for (std::int32_t epoch = 0; epoch < 2; ++epoch) {
      done.phase = phase::validation;
      done.epoch = epoch;
      done.metrics = {8, 0, 4};
      done.classes.emplace().values = found[std::size_t(epoch)];
      test::value_of(reporter.observer().on_phase(done));
      lines.push_back(metrics_json(done));
      CATCH_CHECK_FALSE(lines.back().contains("accuracy"));
      CATCH_CHECK(lines.back()["metric"] == to_string(metric));
    }
    done.phase = phase::test;
    test::value_of(reporter.observer().on_phase(done));
    CATCH_CHECK(reporter.best_epoch() == expected);
    const auto summary = summarise(full_run(), reporter, "folder");
    CATCH_CHECK(summary["metric"] == to_string(metric));
    CATCH_CHECK(summary["test_accuracy"].is_null());
    CATCH_CHECK(summary["validation_accuracy"].is_null());
    CATCH_CHECK(summary["validation"]["mse"] == (expected == 1 ? 4 : 1));
    CATCH_CHECK(summary["test"].dump()
                == R"({"loss":2.0,"mae":1.5,"mse":1.0,"r2":-0.125,"rmse":1.0,)"
                   R"("seeds":4,"values":[{"mae":2.0,"mse":1.0,"r2":0.75,)"
                   R"("rmse":1.0,"value":0},{"mae":1.0,"mse":1.0,"r2":-1.0,)"
                   R"("rmse":1.0,"value":1}]})");
    // Goes on from the lines as well.
    run_reporter later{nullptr, {}, nullptr};
    later.go_on_after(lines);
    CATCH_CHECK(later.best_epoch() == expected);
    CATCH_CHECK(
      summarise(full_run(), later, "folder")["validation_accuracy"].is_null());
  }
}

namespace {

/// A phase of three links with ranks 1, 1.5 and 4.
phase_result links_ranked(phase which, std::int32_t epoch, const char* metric) {
  phase_result out;
  out.phase = which;
  out.epoch = epoch;
  out.metrics = {1.5, 0, 3};
  out.metric = *metric_called(metric);
  out.metric.form = outcome_form::ranks;
  if (which == phase::train)
    return out;
  class_metrics of;
  of.seeds = 3;
  of.links.emplace();
  of.links->destinations.add(
    std::vector<rank_count>{{2, 1}, {3, 1}, {8, 1 + epoch}});
  of.links->tied = 1;
  out.classes = of;
  return out;
}

std::string read_file(std::FILE* from) {
  std::string out;
  std::rewind(from);
  for (int c = std::fgetc(from); c != EOF; c = std::fgetc(from))
    out += static_cast<char>(c);
  return out;
}

} // namespace

CATCH_TEST_CASE("links are told by their ranks", "[actors][summary]") {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> table{std::tmpfile(),
                                                              &std::fclose};
  CATCH_REQUIRE(table);
  run_reporter reporter{table.get(), {}, nullptr};
  const auto told = reporter.observer();
  auto lines = nlohmann::json::array();
  for (const std::int32_t epoch : {0, 1})
    for (const auto which : {phase::train, phase::validation}) {
      const auto done = links_ranked(which, epoch, "hits@2");
      lines.push_back(metrics_json(done));
      test::value_of(told.on_phase(done));
    }
  test::value_of(told.on_phase(links_ranked(phase::test, 0, "hits@2")));
  CATCH_CHECK_FALSE(lines[0].contains("accuracy"));
  CATCH_CHECK_FALSE(lines[0].contains("mrr"));
  CATCH_CHECK(lines[0]["metric"] == "hits@2");
  CATCH_CHECK_FALSE(lines[1].contains("accuracy"));
  CATCH_CHECK_FALSE(lines[1].contains("f1_macro"));
  CATCH_CHECK(lines[1]["hits@2"] == 2. / 3);
  CATCH_CHECK(lines[1]["hits@3"] == 2. / 3);
  CATCH_CHECK(lines[1]["mean_rank"] == 6.5 / 3);
  CATCH_CHECK(lines[1]["tied"] == 1. / 3);
  CATCH_CHECK(read_file(table.get())
              == "\nepoch        loss    hits@2     hits@10  learning rate     "
                 "    s\n"
                 "    1      0.5000    0.6667      1.0000              0      "
                 "0.00\n"
                 "    2      0.5000    0.5000      1.0000              0      "
                 "0.00\n");
  const auto summary = summarise(full_run(), reporter, "folder");
  CATCH_CHECK(summary["test_accuracy"].is_null());
  CATCH_CHECK(summary["validation_accuracy"].is_null());
  CATCH_CHECK(summary["metric"] == "hits@2");
  CATCH_CHECK(summary["best_epoch"] == 1);
  CATCH_CHECK(summary["validation"]["hits@2"] == 2. / 3);
  CATCH_CHECK(summary["validation"]["mrr"] == (1 + 2. / 3 + 0.25) / 3);
  CATCH_CHECK(summary["test"]["hits@1"] == 1. / 3);
  CATCH_CHECK_FALSE(summary["test"].contains("destination"));
  // A process that goes on knows the best epoch from the lines.
  run_reporter later{nullptr, {}, nullptr};
  later.go_on_after(lines);
  CATCH_CHECK(later.best_epoch() == 1);
  const auto after = summarise(full_run(), later, "folder");
  CATCH_CHECK(after["validation"] == summary["validation"]);
  CATCH_CHECK(after["validation_accuracy"].is_null());
}

CATCH_TEST_CASE("the smallest mean rank is the best", "[actors][summary]") {
  run_reporter reporter{nullptr, {}, nullptr};
  const auto told = reporter.observer();
  for (const std::int32_t epoch : {1, 0, 2}) {
    auto done = links_ranked(phase::validation, epoch, "mean_rank");
    test::value_of(told.on_phase(done));
  }
  CATCH_CHECK(reporter.best_epoch() == 1);
}

CATCH_TEST_CASE("edge types of links are told apart", "[actors][summary]") {
  auto done = links_ranked(phase::test, 0, "mrr");
  auto& links = *done.classes->links;
  seed_outcomes told;
  told.destination_ranks = {{2, 1, 0}, {22, 1, 0}, {4, 1, 2}};
  told.source_ranks = {{2, 2, 0}, {8, 1, 2}};
  links = {};
  links.add(told);
  CATCH_CHECK(evaluation_json(done)["edge_types"]
              == nlohmann::json::array({{{"edge_type", 0},
                                         {"seeds", 2},
                                         {"mrr", ((1 + 1. / 11) / 2 + 1) / 2},
                                         {"hits@10", 0.75}},
                                        {{"edge_type", 2},
                                         {"seeds", 1},
                                         {"mrr", (0.5 + 0.25) / 2},
                                         {"hits@10", 1.0}}}));
  told.destination_ranks.pop_back(); // Of one alone nothing is said twice.
  told.source_ranks.pop_back();
  links = {};
  links.add(told);
  CATCH_CHECK_FALSE(evaluation_json(done).contains("edge_types"));
}

CATCH_TEST_CASE("what lists of nodes find is told of links ranked among all",
                "[actors][summary]") {
  run_reporter reporter{nullptr, {}, nullptr};
  auto lines = nlohmann::json::array();
  for (const auto which : {phase::validation, phase::test}) {
    auto done = links_ranked(which, 0, "recall@2");
    done.classes->links->groups.add(
      std::vector<group_count>{{1, 1, 2}, {2, 1, 4}, {2, 1, 80}});
    lines.push_back(metrics_json(done));
    test::value_of(reporter.observer().on_phase(done));
  }
  CATCH_CHECK(lines[0]["recall@2"] == 0.75);
  CATCH_CHECK(lines[0]["recall@20"] == 0.75);
  const auto summary = summarise(full_run(), reporter, "folder");
  CATCH_CHECK(summary["validation"]["recall@2"] == 0.75);
  CATCH_CHECK(summary["test"]["recall@20"] == 0.75);
  CATCH_CHECK(summary["test"]["ndcg@20"].get<double>()
              == Approx((1 + 1 / std::log2(3) / (1 + 1 / std::log2(3))) / 2));
  run_reporter later{nullptr, {}, nullptr};
  later.go_on_after(lines);
  CATCH_CHECK(summarise(full_run(), later, "folder")["validation"]
              == summary["validation"]);
}

CATCH_TEST_CASE("both ends of links are told apart", "[actors][summary]") {
  auto done = links_ranked(phase::test, 0, "mrr");
  done.classes->links->sources.add(std::vector<rank_count>{{4, 3}});
  done.classes->scored = true;
  done.classes->roc_auc = 0.75;
  done.classes->average_precision = 0.5;
  run_reporter reporter{nullptr, {}, nullptr};
  test::value_of(reporter.observer().on_phase(done));
  const auto test = summarise(full_run(), reporter, "folder")["test"];
  CATCH_CHECK(test["source"]["mrr"] == 0.5);
  CATCH_CHECK(test["destination"]["mean_rank"] == 6.5 / 3);
  CATCH_CHECK(test["mean_rank"] == (6.5 / 3 + 2) / 2);
  CATCH_CHECK(test["tied"] == 1. / 6);
  CATCH_CHECK(test["roc_auc"] == 0.75);
  CATCH_CHECK_FALSE(test.contains("classes"));
  CATCH_CHECK_FALSE(test.contains("recall@20"));
}
