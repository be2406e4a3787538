#include "pipelines/flow/class_metrics.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

using namespace graphmill;

namespace {

/// Outcomes of counted pairs alone.
seed_outcomes pairs_of(std::int32_t classes,
                       std::vector<confusion_count> pairs) {
  seed_outcomes out;
  out.classes = classes;
  out.confusion = std::move(pairs);
  return out;
}

/// Seeds with as many different scores as `steps`, so that many are equal.
struct scored_seeds {
  std::int32_t classes = 0;
  std::vector<std::int32_t> labels;
  std::vector<float> scores; ///< [labels, classes]

  static scored_seeds random(std::mt19937& engine, std::size_t count,
                             std::int32_t classes, int steps) {
    scored_seeds out;
    out.classes = classes;
    for (std::size_t i = 0; i < count; ++i)
      out.labels.push_back(
        std::uniform_int_distribution{0, classes - 1}(engine));
    for (std::size_t i = 0; i < count * static_cast<std::size_t>(classes); ++i)
      out.scores.push_back(
        float(std::uniform_int_distribution{-steps, steps}(engine)) / 8);
    return out;
  }

  std::vector<float> column(std::int32_t of) const {
    std::vector<float> out;
    for (std::size_t i = 0; i < labels.size(); ++i)
      out.push_back(scores[i * static_cast<std::size_t>(classes)
                           + static_cast<std::size_t>(of)]);
    return out;
  }

  /// The outcomes of some of the seeds.
  seed_outcomes told(const std::vector<std::size_t>& which) const {
    const auto width = static_cast<std::size_t>(classes);
    seed_outcomes out;
    out.classes = classes;
    for (const auto i : which) {
      const auto* row = scores.data() + i * width;
      const auto best =
        static_cast<std::int32_t>(std::max_element(row, row + width) - row);
      out.confusion.push_back({labels[i], best, 1});
      out.labels.push_back(labels[i]);
      out.scores.insert(out.scores.end(), row, row + width);
    }
    return out;
  }
};

/// By the definition: each pair of a seed of the class and another one.
std::optional<double> slow_roc_auc(const std::vector<float>& scores,
                                   const std::vector<std::int32_t>& labels,
                                   std::int32_t of) {
  double sum = 0;
  std::int64_t pairs = 0;
  for (std::size_t i = 0; i < scores.size(); ++i)
    for (std::size_t j = 0; j < scores.size(); ++j)
      if (labels[i] == of && labels[j] != of) {
        ++pairs;
        sum += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      }
  if (pairs == 0)
    return std::nullopt;
  return sum / double(pairs);
}

/// By the definition: for each seed of the class, the precision of all that
/// score at least as much, averaged.
std::optional<double>
slow_average_precision(const std::vector<float>& scores,
                       const std::vector<std::int32_t>& labels,
                       std::int32_t of) {
  double sum = 0;
  std::int64_t own = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (labels[i] != of)
      continue;
    ++own;
    std::int64_t found = 0, right = 0;
    for (std::size_t j = 0; j < scores.size(); ++j)
      if (scores[j] >= scores[i]) {
        ++found;
        right += labels[j] == of;
      }
    sum += double(right) / double(found);
  }
  if (own == 0)
    return std::nullopt;
  return sum / double(own);
}

void check_same(const std::optional<double>& got,
                const std::optional<double>& want) {
  CATCH_REQUIRE(got.has_value() == want.has_value());
  if (got)
    CATCH_CHECK(*got == Approx(*want).epsilon(1e-12));
}

} // namespace

CATCH_TEST_CASE("rankings are what they are on paper",
                "[pipelines][class_metrics]") {
  const std::vector<float> scores{.9f, .8f, .7f, .7f, .6f, .5f};
  const std::vector<std::int32_t> labels{1, 0, 1, 0, 1, 0};
  const auto got = ranking_of(scores, labels, 1);
  // Of nine pairs five are in order, and one is a tie.
  CATCH_CHECK(*got.roc_auc == 5.5 / 9);
  CATCH_CHECK(*got.average_precision == Approx((1 + 2. / 4 + 3. / 5) / 3));
  CATCH_CHECK(*ranking_of(scores, labels, 0).roc_auc == 3.5 / 9);
  // All the same: nothing is told apart.
  const std::vector<float> same(6, 2.f);
  CATCH_CHECK(*ranking_of(same, labels, 1).roc_auc == 0.5);
  CATCH_CHECK(*ranking_of(same, labels, 1).average_precision == 0.5);
}

CATCH_TEST_CASE("a ranking takes seeds of the class, and others",
                "[pipelines][class_metrics]") {
  const std::vector<float> scores{3, 1, 2};
  CATCH_CHECK_FALSE(ranking_of(scores, std::vector{0, 0, 0}, 1).roc_auc);
  CATCH_CHECK_FALSE(
    ranking_of(scores, std::vector{0, 0, 0}, 1).average_precision);
  CATCH_CHECK_FALSE(ranking_of(scores, std::vector{1, 1, 1}, 1).roc_auc);
  CATCH_CHECK(*ranking_of(scores, std::vector{1, 1, 1}, 1).average_precision
              == 1);
  const auto infinite = std::numeric_limits<float>::infinity();
  CATCH_CHECK(
    *ranking_of(std::vector{-infinite, infinite}, std::vector{0, 1}, 1).roc_auc
    == 1);
  const std::vector<float> damaged{3, std::nanf(""), 2};
  const auto none = ranking_of(damaged, std::vector{0, 1, 0}, 0);
  CATCH_CHECK_FALSE((none.roc_auc || none.average_precision));
}

CATCH_TEST_CASE("rankings are those of their definitions",
                "[pipelines][class_metrics]") {
  std::mt19937 engine{11};
  for (int round = 0; round < 60; ++round) {
    CATCH_CAPTURE(round);
    const auto seeds = scored_seeds::random(engine, 1 + round % 40,
                                            1 + round % 5, 1 + round % 17);
    for (std::int32_t c = 0; c < seeds.classes; ++c) {
      const auto scores = seeds.column(c);
      const auto got = ranking_of(scores, seeds.labels, c);
      check_same(got.roc_auc, slow_roc_auc(scores, seeds.labels, c));
      check_same(got.average_precision,
                 slow_average_precision(scores, seeds.labels, c));
    }
  }
}

CATCH_TEST_CASE("precision, recall and F1 of classes are what they are on "
                "paper",
                "[pipelines][class_metrics]") {
  class_tally tally;
  tally.add(pairs_of(4, {{0, 0, 2}, {0, 1, 1}, {2, 0, 2}}));
  tally.add(pairs_of(4, {{0, 0, 1}, {1, 1, 2}}));
  const auto got = tally.metrics(8);
  CATCH_REQUIRE(got);
  CATCH_REQUIRE(got->classes.size() == 4);
  const auto& first = got->classes[0];
  CATCH_CHECK(first.seeds == 4);
  CATCH_CHECK(first.predicted == 5);
  CATCH_CHECK(first.correct == 3);
  CATCH_CHECK(*first.precision() == 3. / 5);
  CATCH_CHECK(*first.recall() == 3. / 4);
  CATCH_CHECK(*first.f1() == 6. / 9);
  CATCH_CHECK(*got->classes[1].f1() == 4. / 5);
  // Never predicted.
  CATCH_CHECK_FALSE(got->classes[2].precision());
  CATCH_CHECK(*got->classes[2].f1() == 0);
  // Of nobody, and predicted for nobody: no part of the mean.
  CATCH_CHECK_FALSE(got->classes[3].f1());
  CATCH_CHECK(*got->f1_macro() == Approx((6. / 9 + 4. / 5 + 0) / 3));
  CATCH_CHECK(*got->f1_micro() == 5. / 8);
  CATCH_CHECK(got->confusion
              == std::vector<std::int64_t>{3, 1, 0, 0, 0, 2, 0, 0, //
                                           2, 0, 0, 0, 0, 0, 0, 0});
  CATCH_CHECK_FALSE(got->scored);
}

CATCH_TEST_CASE("metrics do not depend on how seeds are dealt out, nor on "
                "their order",
                "[pipelines][class_metrics]") {
  std::mt19937 engine{12};
  const auto seeds = scored_seeds::random(engine, 200, 5, 30);
  std::vector<std::size_t> order(200);
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  class_tally whole;
  whole.add(seeds.told(order));
  const auto want = whole.metrics(200);
  CATCH_REQUIRE(want);
  CATCH_REQUIRE(want->scored);
  CATCH_CHECK(*want->f1_micro() < 1);
  for (const std::size_t size : {1, 7, 64, 199}) {
    CATCH_CAPTURE(size);
    std::shuffle(order.begin(), order.end(), engine);
    class_tally parts;
    for (std::size_t at = 0; at < order.size(); at += size)
      parts.add(seeds.told({order.begin() + std::ptrdiff_t(at),
                            order.begin()
                              + std::ptrdiff_t(std::min(at + size, //
                                                        order.size()))}));
    const auto got = parts.metrics(200);
    CATCH_REQUIRE(got);
    // To the bit.
    CATCH_CHECK(*got->roc_auc == *want->roc_auc);
    CATCH_CHECK(*got->average_precision == *want->average_precision);
    CATCH_CHECK(*got->f1_macro() == *want->f1_macro());
    CATCH_CHECK(got->confusion == want->confusion);
    for (std::size_t c = 0; c < 5; ++c)
      CATCH_CHECK(*got->classes[c].ranking.roc_auc
                  == *want->classes[c].ranking.roc_auc);
  }
}

CATCH_TEST_CASE("metrics are of all seeds, or there are none",
                "[pipelines][class_metrics]") {
  class_tally tally;
  CATCH_CHECK_FALSE(tally.metrics(0));
  CATCH_CHECK_FALSE(tally.metrics(3));
  tally.add(pairs_of(2, {{0, 1, 2}}));
  CATCH_CHECK(tally.metrics(2));
  CATCH_CHECK_FALSE(tally.metrics(3));
  auto scored = pairs_of(2, {{1, 1, 1}});
  scored.labels = {1};
  scored.scores = {-1, 1};
  tally.add(scored);
  CATCH_REQUIRE(tally.metrics(3));
  CATCH_CHECK_FALSE(tally.metrics(3)->scored); // Two have told none.
  tally.add(pairs_of(3, {{1, 1, 1}}));         // Of another model.
  CATCH_CHECK_FALSE(tally.metrics(4));
}

CATCH_TEST_CASE("rankings of more classes than are counted have a mean",
                "[pipelines][class_metrics]") {
  class_tally tally;
  seed_outcomes told;
  told.classes = seed_outcomes::most_counted_classes + 1;
  told.labels = {0, 1};
  told.scores.resize(2 * static_cast<std::size_t>(told.classes));
  told.scores[0] = 1; // The first seed is taken for class 0, rightly.
  tally.add(told);
  const auto got = tally.metrics(2);
  CATCH_REQUIRE(got);
  CATCH_CHECK(got->scored);
  CATCH_CHECK(got->classes.empty());
  CATCH_CHECK_FALSE((got->f1_micro() || got->f1_macro()));
  CATCH_CHECK(*got->roc_auc == 0.75); // Class 1 has a tie.
  CATCH_CHECK(*got->average_precision == 0.75);
}

CATCH_TEST_CASE("the best epoch may be chosen by any metric",
                "[pipelines][class_metrics]") {
  const batch_metrics sums{3, 1, 4};
  class_metrics classes;
  classes.classes.resize(1);
  classes.classes[0].seeds = 4;
  classes.classes[0].predicted = 1;
  classes.classes[0].correct = 1;
  classes.roc_auc = 0.625;
  const auto value = [&](const metric_choice& which) {
    return value_of(which, sums, &classes);
  };
  CATCH_CHECK(value(evaluation_metric::accuracy) == 0.25);
  CATCH_CHECK(value(evaluation_metric::loss) == 0.75);
  CATCH_CHECK(value(evaluation_metric::f1_macro) == 0.4);
  CATCH_CHECK(value(evaluation_metric::roc_auc) == 0.625);
  CATCH_CHECK_FALSE(value(evaluation_metric::average_precision));
  CATCH_CHECK_FALSE(value_of(evaluation_metric::f1_macro, sums, nullptr));
  const batch_metrics endless{std::numeric_limits<double>::infinity(), 1, 4};
  CATCH_CHECK_FALSE(value_of(evaluation_metric::loss, endless, &classes));
  classes.of_one_class = 0.125;
  CATCH_CHECK(value(*metric_called("f1:fraud")) == 0.125);
}

CATCH_TEST_CASE("metrics of one class are of its seeds alone",
                "[pipelines][class_metrics]") {
  // Three of class 0, two of class 1, by the log odds of class 1 from the
  // largest down: 1, 0, 1, 0, 0.
  seed_outcomes told;
  told.classes = 2;
  told.labels = {1, 0, 1, 0, 0};
  for (const float score : {2.0f, 1.0f, 0.5f, -1.0f, -2.0f}) {
    told.scores.push_back(-score);
    told.scores.push_back(score);
  }
  told.confusion = {{0, 0, 2}, {0, 1, 1}, {1, 1, 2}};
  class_tally tally;
  tally.add(told);
  const auto of = [&tally](const char* name, double at, std::int32_t which) {
    auto metric = *metric_called(name);
    metric.of = which;
    metric.at = at;
    const auto got = tally.metrics(5, {metric, {}});
    CATCH_REQUIRE(got);
    return got->of_one_class;
  };
  CATCH_CHECK(*of("f1:a", 0, 1) == Approx(0.8));
  CATCH_CHECK(*of("f1:a", 0, 0) == Approx(0.8));
  CATCH_CHECK(*of("precision:a", 0, 1) == Approx(2.0 / 3));
  CATCH_CHECK(*of("recall:a", 0, 0) == Approx(2.0 / 3));
  CATCH_CHECK(*of("roc_auc:a", 0, 1) == Approx(5.0 / 6));
  CATCH_CHECK(*of("average_precision:a", 0, 1) == Approx((1 + 2.0 / 3) / 2));
  CATCH_CHECK(*of("recall_at_fpr@0:a", 0, 1) == 0.5);
  CATCH_CHECK(*of("recall_at_fpr@0.5:a", 0.5, 1) == 1);
  CATCH_CHECK(*of("precision_at_k@3:a", 3, 1) == Approx(2.0 / 3));
  // There are no more classes, and none without a word.
  CATCH_CHECK_FALSE(of("f1:a", 0, 2));
  CATCH_CHECK_FALSE(tally.metrics(5)->of_one_class);
  threshold_choice threshold;
  threshold.of = 1;
  CATCH_CHECK_FALSE(tally.metrics(5)->ranked);
  const auto ranked = tally.metrics(5, {{}, threshold})->ranked;
  CATCH_REQUIRE(ranked);
  CATCH_CHECK(ranked->at(0.5).found == 2);
  CATCH_CHECK(ranked->at(0.5).wrong == 1);
}
