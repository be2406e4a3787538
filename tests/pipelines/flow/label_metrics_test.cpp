#include "pipelines/flow/class_metrics.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using namespace graphmill;

namespace {

/// Seeds with several labels and the logits that a model gives them.
struct labelled_seeds {
  std::int64_t labels = 0;
  std::vector<std::uint8_t> rows; ///< [seeds, labels]
  std::vector<float> logits;      ///< [seeds, labels]

  std::int64_t count() const { return std::ssize(rows) / labels; }

  /// The outcomes of seeds [begin, end), each label of each seed by itself.
  seed_outcomes told(std::int64_t begin, std::int64_t end, bool scores) const {
    seed_outcomes out;
    out.classes = static_cast<std::int32_t>(labels);
    out.form = outcome_form::labels;
    for (auto seed = begin; seed < end; ++seed) {
      std::vector<std::uint32_t> words(out.label_words());
      for (std::int64_t label = 0; label < labels; ++label) {
        const auto at = static_cast<std::size_t>(seed * labels + label);
        const auto has = rows[at] == 1;
        const auto predicted = logits[at] > 0;
        out.confusion.push_back(
          {static_cast<std::int32_t>(label),
           has ? (predicted ? seed_outcomes::right : seed_outcomes::missed)
               : (predicted ? seed_outcomes::wrong : seed_outcomes::absent),
           1});
        if (has)
          words[static_cast<std::size_t>(label) / 32] |= 1U << (label % 32);
        if (scores)
          out.scores.push_back(logits[at]);
      }
      for (const auto word : words)
        if (scores)
          out.labels.push_back(static_cast<std::int32_t>(word));
    }
    return out;
  }
};

class_metrics metrics_of(const labelled_seeds& seeds, bool scores) {
  class_tally tally;
  tally.add(seeds.told(0, seeds.count(), scores));
  const auto out = tally.metrics(seeds.count());
  CATCH_REQUIRE(out);
  return *out;
}

/// The share of pairs of a seed with the label and one without that are in
/// order, by looking at each pair.
double pairs_in_order_of(const labelled_seeds& seeds, std::int64_t label) {
  double sum = 0;
  double pairs = 0;
  const auto at = [&](std::int64_t seed) {
    return static_cast<std::size_t>(seed * seeds.labels + label);
  };
  for (std::int64_t i = 0; i < seeds.count(); ++i)
    for (std::int64_t j = 0; j < seeds.count(); ++j)
      if (seeds.rows[at(i)] == 1 && seeds.rows[at(j)] == 0) {
        const auto a = seeds.logits[at(i)];
        const auto b = seeds.logits[at(j)];
        sum += a > b ? 1 : a == b ? 0.5 : 0;
        ++pairs;
      }
  return sum / pairs;
}

} // namespace

CATCH_TEST_CASE("metrics of several labels on paper", "[flow][labels]") {
  const labelled_seeds seeds{
    .labels = 2, .rows = {1, 0, 1, 1, 0, 1}, .logits = {2, 1, -1, 3, 1, 2}};
  const auto got = metrics_of(seeds, true);
  CATCH_CHECK(got.seeds == 3);
  CATCH_CHECK(got.confusion.empty());
  CATCH_REQUIRE(got.classes.size() == 2);
  // One found, one missed, one wrong.
  CATCH_CHECK(got.classes[0].seeds == 2);
  CATCH_CHECK(got.classes[0].predicted == 2);
  CATCH_CHECK(got.classes[0].correct == 1);
  CATCH_CHECK(*got.classes[0].f1() == 0.5);
  // Both found, one wrong.
  CATCH_CHECK(got.classes[1].seeds == 2);
  CATCH_CHECK(got.classes[1].predicted == 3);
  CATCH_CHECK(got.classes[1].correct == 2);
  CATCH_CHECK(*got.classes[1].f1() == 0.8);
  CATCH_CHECK(*got.f1_macro() == Approx(0.65));
  CATCH_CHECK(*got.f1_micro() == Approx(6.0 / 9));
  CATCH_CHECK(*got.classes[0].ranking.roc_auc == 0.5);
  CATCH_CHECK(*got.classes[0].ranking.average_precision == Approx(5.0 / 6));
  CATCH_CHECK(*got.classes[1].ranking.roc_auc == 1);
  CATCH_CHECK(*got.classes[1].ranking.average_precision == 1);
  CATCH_CHECK(*got.roc_auc == 0.75);
  CATCH_CHECK(*got.average_precision == Approx(11.0 / 12));
  CATCH_CHECK(value_of(evaluation_metric::f1_micro, {}, &got)
              == got.f1_micro());
  CATCH_CHECK_FALSE(value_of(evaluation_metric::f1_micro, {}, nullptr));
}

CATCH_TEST_CASE("metrics of several labels do not depend on batches",
                "[flow][labels]") {
  std::mt19937 engine{11};
  labelled_seeds seeds{.labels = 37, .rows = {}, .logits = {}};
  for (int i = 0; i < 60 * 37; ++i) {
    seeds.rows.push_back(static_cast<std::uint8_t>(engine() % 3 == 0));
    seeds.logits.push_back(float(int(engine() % 21) - 10) / 4);
  }
  const auto want = metrics_of(seeds, true);
  for (std::int64_t label = 0; label < seeds.labels; ++label)
    CATCH_CHECK(*want.classes[static_cast<std::size_t>(label)].ranking.roc_auc
                == Approx(pairs_in_order_of(seeds, label)).epsilon(1e-12));
  for (int round = 0; round < 5; ++round) {
    std::vector<std::int64_t> cuts{0, 60};
    for (int i = 0; i < 6; ++i)
      cuts.push_back(static_cast<std::int64_t>(engine() % 61));
    std::sort(cuts.begin(), cuts.end());
    std::vector<std::size_t> order(cuts.size() - 1);
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::shuffle(order.begin(), order.end(), engine);
    class_tally tally;
    for (const auto i : order)
      tally.add(seeds.told(cuts[i], cuts[i + 1], true));
    const auto got = tally.metrics(60);
    CATCH_REQUIRE(got);
    CATCH_CHECK(got->f1_macro() == want.f1_macro());
    CATCH_CHECK(got->f1_micro() == want.f1_micro());
    CATCH_CHECK(got->roc_auc == want.roc_auc);
    CATCH_CHECK(got->average_precision == want.average_precision);
  }
}

CATCH_TEST_CASE("more labels than classes are counted", "[flow][labels]") {
  const auto many = std::int64_t{seed_outcomes::most_counted_classes} + 1;
  labelled_seeds seeds{.labels = many, .rows = {}, .logits = {}};
  seeds.rows.assign(static_cast<std::size_t>(2 * many), 1);
  seeds.logits.assign(static_cast<std::size_t>(2 * many), 1);
  const auto got = metrics_of(seeds, false);
  CATCH_CHECK(std::ssize(got.classes) == many);
  CATCH_CHECK(*got.f1_micro() == 1);
  CATCH_CHECK_FALSE(got.scored);
}

CATCH_TEST_CASE("labels and classes do not mix", "[flow][labels]") {
  const labelled_seeds seeds{.labels = 2, .rows = {1, 0}, .logits = {2, 1}};
  class_tally tally;
  tally.add(seeds.told(0, 1, false));
  seed_outcomes other;
  other.classes = 2;
  other.confusion = {{0, 0, 1}};
  tally.add(other);
  CATCH_CHECK_FALSE(tally.metrics(2));
  class_tally missing;
  missing.add(seeds.told(0, 1, false));
  CATCH_CHECK_FALSE(missing.metrics(2)); // Of one seed nothing was told.
}
