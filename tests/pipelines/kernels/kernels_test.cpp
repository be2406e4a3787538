#include "messages/base/random.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/cross_entropy.hpp"
#include "pipelines/kernels/gather_max.hpp"
#include "pipelines/kernels/gather_sum.hpp"
#include "pipelines/kernels/layer_norm.hpp"
#include "pipelines/kernels/thread_team.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

struct random_csr {
  std::vector<std::int64_t> indptr{0};
  std::vector<local_id> columns;

  random_csr(std::mt19937_64& random, int rows, int sources) {
    for (int i = 0; i < rows; ++i) {
      // Empty rows, short ones, and a hub.
      const auto count = i == 3 ? 500 : random() % 5;
      for (std::size_t k = 0; k < count; ++k)
        columns.push_back(static_cast<local_id>(random() % sources));
      indptr.push_back(static_cast<std::int64_t>(columns.size()));
    }
  }
};

std::vector<float> random_values(std::mt19937_64& random, std::size_t count) {
  std::uniform_real_distribution<float> value{-1, 1};
  std::vector<float> out(count);
  for (auto& x : out)
    x = value(random);
  return out;
}

} // namespace

CATCH_TEST_CASE("a gather sum is the sum of the rows that it names",
                "[kernels]") {
  // Four nodes with the features 1, 2, 4 and 8; node 0 hears 1 and 2, node 1
  // nobody, node 2 hears itself and 3 twice.
  const std::vector<std::int64_t> indptr{0, 2, 2, 5};
  const std::vector<local_id> columns{1, 2, 2, 3, 3};
  const std::vector<float> x{1, 2, 4, 8};
  const std::vector<float> half{0.5f, 0.5f, 0.5f};
  const std::vector<float> twice_last{1, 1, 1, 2};
  std::vector<float> out{100, 100, 100};
  const matrix into{out.data(), 3, 1};
  gather_sum task{
    .indptr = indptr.data(), .columns = columns.data(), .x = {x.data(), 4, 1}};
  run(task, 0, 3, 0, into);
  CATCH_CHECK(out == std::vector<float>{6, 0, 20});
  run(task, 0, 3, 1, into); // Only row 0 is added to.
  CATCH_CHECK(out == std::vector<float>{12, 0, 20});
  task.row_scale = half.data();
  task.column_scale = twice_last.data();
  run(task, 0, 3, 0, into);
  CATCH_CHECK(out == std::vector<float>{3, 0, 18});
  add_rows({x.data(), 3, 1}, into);
  CATCH_CHECK(out == std::vector<float>{4, 2, 22});
  const std::vector<float> weights{2, 3, 1, 0, 5};
  task.values = weights.data();
  run(task, 0, 3, 0, into); // 2 * 2 + 3 * 4; 4 + 5 * 2 * 8.
  CATCH_CHECK(out == std::vector<float>{8, 0, 42});
  task.column_scale = task.row_scale = nullptr;
  run(task, 0, 3, 0, into);
  CATCH_CHECK(out == std::vector<float>{16, 0, 44});
}

CATCH_TEST_CASE("gather sums with weights of 1 have the bits of those without",
                "[kernels][weights]") {
  const auto width = GENERATE(1, 3, 16, 31, 100, 256, 301);
  const auto scaled = GENERATE(false, true);
  CATCH_INFO("width " << width << ", scaled " << scaled << ", seed 6");
  std::mt19937_64 random{6};
  const int rows = 700;
  const int sources = 90;
  const random_csr edges{random, rows, sources};
  const auto x = random_values(random, sources * width);
  const auto row_scale = random_values(random, rows);
  const auto column_scale = random_values(random, sources);
  const auto before = random_values(random, rows * width);
  gather_sum task{.indptr = edges.indptr.data(),
                  .columns = edges.columns.data(),
                  .x = {x.data(), sources, width},
                  .row_scale = row_scale.data(),
                  .column_scale = scaled ? column_scale.data() : nullptr};
  auto without = before;
  run(task, 0, rows, 200, {without.data(), rows, width});
  const std::vector<float> ones(edges.columns.size(), 1.0f);
  task.values = ones.data();
  auto with = before;
  run(task, 0, rows, 200, {with.data(), rows, width});
  CATCH_CHECK(with == without);
  const auto weights = random_values(random, edges.columns.size());
  task.values = weights.data();
  run(task, 0, rows, 0, {with.data(), rows, width});
  double worst = 0;
  for (int i = 0; i < rows; ++i)
    for (int c = 0; c < width; ++c) {
      double sum = 0;
      for (auto e = edges.indptr[i]; e < edges.indptr[i + 1]; ++e) {
        const auto j = edges.columns[e];
        sum += double(weights[e]) * (scaled ? column_scale[j] : 1.0f)
               * x[j * width + c];
      }
      worst =
        std::max(worst, std::abs(row_scale[i] * sum - with[i * width + c]));
    }
  CATCH_CHECK(worst < 1e-4);
}

CATCH_TEST_CASE("gather sums of any width equal plain loops", "[kernels]") {
  const auto width = GENERATE(1, 3, 15, 16, 17, 31, 47, 64, 100, 128, 256, 301);
  CATCH_INFO("width " << width << ", seed 5");
  std::mt19937_64 random{5};
  const int rows = 700;
  const int sources = 90;
  const random_csr edges{random, rows, sources};
  const auto x = random_values(random, sources * width);
  const auto row_scale = random_values(random, rows);
  const auto column_scale = random_values(random, sources);
  const auto before = random_values(random, rows * width);
  const gather_sum task{.indptr = edges.indptr.data(),
                        .columns = edges.columns.data(),
                        .x = {x.data(), sources, width},
                        .row_scale = row_scale.data(),
                        .column_scale = column_scale.data()};
  auto one = before;
  run(task, 0, rows, 200, {one.data(), rows, width});
  auto three = before;
  thread_team team{3};
  team.for_pieces(rows, 32,
                  [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                    run(task, begin, end, 200, {three.data(), rows, width});
                  });
  CATCH_CHECK(one == three);
  double worst = 0;
  for (int i = 0; i < rows; ++i)
    for (int c = 0; c < width; ++c) {
      double sum = 0;
      for (auto e = edges.indptr[i]; e < edges.indptr[i + 1]; ++e)
        sum += double(column_scale[edges.columns[e]])
               * x[edges.columns[e] * width + c];
      const auto want =
        sum * row_scale[i] + (i < 200 ? before[i * width + c] : 0);
      worst = std::max(worst, std::abs(one[i * width + c] - want));
    }
  CATCH_CHECK(worst < 1e-4);
}

CATCH_TEST_CASE("of equal values the first edge's is the largest",
                "[kernels]") {
  // Three sources. Node 0 hears 2, 0 and 2; node 1 nobody; node 2 hears 1, 0.
  const std::vector<std::int64_t> indptr{0, 3, 3, 5};
  const std::vector<local_id> columns{2, 0, 2, 1, 0};
  const std::vector<float> x{1, -5, /**/ 1, -7, /**/ 1, -6};
  std::vector<float> out(6, 100);
  std::vector<local_id> winners(6, 100);
  run(
    {.indptr = indptr.data(), .columns = columns.data(), .x = {x.data(), 3, 2}},
    0, 3, {out.data(), 3, 2}, winners.data());
  CATCH_CHECK(out == std::vector<float>{1, -5, 0, 0, 1, -5});
  CATCH_CHECK(winners == std::vector<local_id>{2, 0, -1, -1, 1, 0});
  // By source: 0 is heard by 0 and 2, 1 by 2, 2 by 0 twice.
  const std::vector<std::int64_t> back{0, 2, 3, 5};
  const std::vector<local_id> destinations{0, 2, 2, 0, 0};
  const std::vector<float> gradient{3, 5, /**/ 7, 11, /**/ 13, 17};
  std::vector<float> below(6, 100);
  run({.indptr = back.data(),
       .columns = destinations.data(),
       .winners = winners.data(),
       .gradient = {gradient.data(), 3, 2}},
      0, 3, 1, {below.data(), 3, 2});
  CATCH_CHECK(below == std::vector<float>{100, 122, 13, 0, 3, 0});
}

CATCH_TEST_CASE("a value that is no number is larger than all numbers",
                "[kernels]") {
  const std::vector<std::int64_t> indptr{0, 3};
  const std::vector<local_id> columns{0, 1, 2};
  const std::vector<float> x{1, std::nanf(""), 2};
  float out = 0;
  local_id winner = no_winner;
  run(
    {.indptr = indptr.data(), .columns = columns.data(), .x = {x.data(), 3, 1}},
    0, 1, {&out, 1, 1}, &winner);
  CATCH_CHECK(std::isnan(out));
  CATCH_CHECK(winner == 1);
}

CATCH_TEST_CASE("a team does each piece once and passes failures on",
                "[kernels]") {
  thread_team team{4};
  for (int round = 0; round < 200; ++round) {
    std::vector<int> done(round);
    team.for_pieces(round, 3,
                    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                      for (auto i = begin; i < end; ++i)
                        ++done[i];
                    });
    CATCH_REQUIRE(done == std::vector<int>(round, 1));
  }
  CATCH_CHECK_THROWS_AS(
    team.for_pieces(100, 1,
                    [](std::int64_t piece, std::int64_t, std::int64_t) {
                      if (piece == 37)
                        throw std::runtime_error("37");
                    }),
    std::runtime_error);
  std::atomic<int> after = 0;
  team.for_pieces(10, 1, [&after](auto...) { ++after; });
  CATCH_CHECK(after == 10);
}

CATCH_TEST_CASE("dropout takes its bits from the counter that it documents",
                "[kernels]") {
  const auto width = GENERATE(1, 47, 128, 300);
  const dropout drop{.key = 42,
                     .stream = stream_of(3, 2, 1),
                     .threshold = dropout_threshold(0.25)};
  const int rows = 40;
  std::vector<float> values(rows * width, 3.0f);
  const matrix view{values.data(), rows, width};
  activate(view, nullptr, activation::none, drop, 0, rows, view);
  for (int i = 0; i < rows; ++i)
    for (int c = 0; c < width; ++c) {
      const auto words =
        philox4x32({std::uint32_t(i), 0, 3u << 24 | 2u << 16 | 1u,
                    std::uint32_t(c / 128 * 16 + c % 16)},
                   42);
      const auto half = c % 128 / 16;
      const auto bits = words[half / 2] >> (16 * (half % 2)) & 0xffff;
      const auto want = bits < 16384 ? 0.0f : 3.0f * 65536 / (65536 - 16384);
      CATCH_REQUIRE(values[i * width + c] == want);
    }
}

CATCH_TEST_CASE("dropout keeps the share that it is asked for", "[kernels]") {
  const auto probability = GENERATE(0.0, 0.1, 0.5, 0.9, 1.0);
  const dropout drop{
    .key = 7, .stream = 1, .threshold = dropout_threshold(probability)};
  const int rows = 500;
  const int width = 200;
  std::vector<float> values(rows * width, 1.0f);
  const matrix view{values.data(), rows, width};
  activate(view, nullptr, activation::relu, drop, 0, rows, view);
  double sum = 0;
  double kept = 0;
  for (auto x : values) {
    CATCH_REQUIRE(std::isfinite(x));
    sum += x;
    kept += x != 0;
  }
  if (probability == 1.0) // Not even then is there a division by zero.
    return;
  const double count = rows * width;
  CATCH_CHECK(std::abs(kept / count - (1 - probability)) < 0.01);
  const auto deviation = std::sqrt(probability / (1 - probability) / count);
  CATCH_CHECK(std::abs(sum / count - 1) <= 5 * deviation);
}

CATCH_TEST_CASE("activations and their slopes", "[kernels]") {
  const std::vector<float> x{-2, -0.0f, 0, 1, 3};
  const std::vector<float> bias{1, 0, 0, 0, -1};
  const auto apply = [&](activation kind) {
    std::vector<float> y(5);
    activate({x.data(), 1, 5}, bias.data(), kind, {}, 0, 1, {y.data(), 1, 5});
    std::vector<float> slope(5, 1.0f);
    activate_backward({y.data(), 1, 5}, kind, 1, 0, 1, {slope.data(), 1, 5});
    return std::pair{y, slope};
  };
  const auto [relu, relu_slope] = apply(activation::relu);
  CATCH_CHECK(relu == std::vector<float>{0, 0, 0, 1, 2});
  CATCH_CHECK(relu_slope == std::vector<float>{0, 0, 0, 1, 1});
  const auto [same, same_slope] = apply(activation::none);
  CATCH_CHECK(same == std::vector<float>{-1, 0, 0, 1, 2});
  CATCH_CHECK(same_slope == std::vector<float>{1, 1, 1, 1, 1});
  const auto [elu, elu_slope] = apply(activation::elu);
  CATCH_CHECK(elu == std::vector<float>{std::expm1(-1.0f), 0, 0, 1, 2});
  CATCH_CHECK(std::abs(elu_slope[0] - std::exp(-1.0f)) < 1e-6f);
  CATCH_CHECK(elu_slope[1] == 1); // Zero is a value, not a dropped one.
}

CATCH_TEST_CASE("column sums in pieces", "[kernels]") {
  std::mt19937_64 random{3};
  const int rows = 1000;
  const int width = 600;
  const auto x = random_values(random, rows * width);
  std::vector<float> sums(width, 1.0f);
  add_column_sums({x.data(), rows, width}, 10, rows, sums.data());
  for (int c = 0; c < width; c += 37) {
    double want = 1;
    for (int i = 10; i < rows; ++i)
      want += x[i * width + c];
    CATCH_CHECK(std::abs(sums[c] - want) < 1e-4);
  }
}

CATCH_TEST_CASE("cross-entropy of two classes, by hand", "[kernels]") {
  // Row 0: both classes equally likely. Row 1: no label. Row 2: odds 3 to 1.
  const auto log3 = std::log(3.0f);
  const std::vector<float> logits{5, 5, 1, 2, log3 + 100, 100};
  const std::vector<std::int64_t> labels{1, -1, 0};
  std::vector<float> gradient(6, 9.0f);
  const auto sums =
    cross_entropy({logits.data(), 3, 2}, labels, 0.5, {gradient.data(), 3, 2});
  CATCH_CHECK(sums.seeds == 2);
  CATCH_CHECK(sums.correct == 1); // Of equals, the first: class 0 in row 0.
  CATCH_CHECK(std::abs(sums.loss_sum - std::log(2.0) - std::log(4.0 / 3))
              < 1e-5);
  const std::vector<float> want{0.25f, -0.25f, 0, 0, -0.125f, 0.125f};
  for (std::size_t i = 0; i < want.size(); ++i)
    CATCH_CHECK(std::abs(gradient[i] - want[i]) < 1e-5f);
}

CATCH_TEST_CASE("probabilities of two classes, by hand", "[kernels]") {
  // Equal; odds 3 to 1, far beyond what exp can represent; certain.
  const auto log3 = std::log(3.0f);
  std::vector<float> rows{5, 5, log3 + 1000, 1000, -1000, 1000};
  const matrix values{rows.data(), 3, 2};
  softmax(values, values);
  const std::vector<float> want{0.5f, 0.5f, 0.75f, 0.25f, 0, 1};
  for (std::size_t i = 0; i < want.size(); ++i)
    CATCH_CHECK(std::abs(rows[i] - want[i]) < 1e-4f);
}

CATCH_TEST_CASE("the gradient of a weighted and smoothed loss is its slope",
                "[kernels]") {
  const auto smoothing = GENERATE(0.0, 0.3);
  const auto weights =
    GENERATE(std::vector<double>{}, std::vector<double>{2, 0.5, 1});
  const loss_shape shape{smoothing, weights};
  const std::vector<std::int64_t> labels{2, -1, 0};
  std::vector<float> logits{0.5f, -1, 0.25f, 1, 2, 3, -0.5f, 0.75f, 0};
  const auto loss = [&](const std::vector<double>& z) {
    double sum = 0;
    for (const std::size_t i : {0, 2}) {
      double total = 0;
      for (std::size_t c = 0; c < 3; ++c)
        total += std::exp(z[3 * i + c]);
      for (std::size_t c = 0; c < 3; ++c) {
        const auto hit = std::cmp_equal(labels[i], c) ? 1 - smoothing : 0;
        sum += (hit + smoothing / 3) * (weights.empty() ? 1 : weights[c])
               * (std::log(total) - z[3 * i + c]);
      }
    }
    return sum;
  };
  std::vector<float> gradient(9, 9.0f);
  const auto sums = cross_entropy({logits.data(), 3, 3}, labels, 0.25,
                                  {gradient.data(), 3, 3}, shape);
  const std::vector<double> at(logits.begin(), logits.end());
  for (std::size_t k = 0; k < at.size(); ++k) {
    auto above = at;
    auto below = at;
    above[k] += 1e-5;
    below[k] -= 1e-5;
    const auto slope = (loss(above) - loss(below)) / 2e-5;
    CATCH_CHECK(std::abs(gradient[k] - 0.25 * slope) < 1e-6);
  }
  // What is told stays the plain cross-entropy.
  const auto plain = cross_entropy({logits.data(), 3, 3}, labels, 1, matrix{});
  CATCH_CHECK(sums.loss_sum == plain.loss_sum);
  CATCH_CHECK(sums.seeds == 2);
  CATCH_CHECK(weight_of(labels, weights) == (weights.empty() ? 2 : 3));
}

CATCH_TEST_CASE("the gradient of a focal loss is its slope", "[kernels]") {
  const auto focus = GENERATE(0.5, 1.0, 2.0);
  const std::vector<double> weights{2, 0.5, 1};
  const loss_shape shape{0, weights, focus};
  const std::vector<std::int64_t> labels{2, -1, 0};
  std::vector<float> logits{0.5f, -1, 0.25f, 1, 2, 3, -0.5f, 0.75f, 0};
  const auto loss = [&](const std::vector<double>& z) {
    double sum = 0;
    for (const std::size_t i : {0, 2}) {
      const auto own = static_cast<std::size_t>(labels[i]);
      double total = 0;
      for (std::size_t c = 0; c < 3; ++c)
        total += std::exp(z[3 * i + c]);
      const auto p = std::exp(z[3 * i + own]) / total;
      sum += weights[own] * std::pow(1 - p, focus) * -std::log(p);
    }
    return sum;
  };
  std::vector<float> gradient(9, 9.0f);
  const auto sums = cross_entropy({logits.data(), 3, 3}, labels, 0.25,
                                  {gradient.data(), 3, 3}, shape);
  const std::vector<double> at(logits.begin(), logits.end());
  for (std::size_t k = 0; k < at.size(); ++k) {
    auto above = at;
    auto below = at;
    above[k] += 1e-5;
    below[k] -= 1e-5;
    const auto slope = (loss(above) - loss(below)) / 2e-5;
    CATCH_CHECK(std::abs(gradient[k] - 0.25 * slope) < 1e-6);
  }
  CATCH_CHECK(
    sums.loss_sum
    == cross_entropy({logits.data(), 3, 3}, labels, 1, matrix{}).loss_sum);
  // Of what the model is as good as sure of, nothing is left.
  CATCH_CHECK(focal_factor(0, focus) == 0);
  CATCH_CHECK(focal_factor(1, focus) == 1);
}

CATCH_TEST_CASE("balanced weights make classes count the same", "[kernels]") {
  const std::vector<std::int64_t> counts{6, 0, 2};
  // Eight seeds, two classes that have any: four for each.
  CATCH_CHECK(balanced_weights(counts) == std::vector<double>{8.0 / 12, 0, 2});
  CATCH_CHECK(balanced_weights({}).empty());
}

CATCH_TEST_CASE("layer norm of equal values is the shift", "[kernels]") {
  std::vector<float> x{4, 4, 4, 1, 2, 3};
  const std::vector<float> bias{0, 0, 0};
  const std::vector<float> gain{2, 2, 2};
  const std::vector<float> shift{7, 8, 9};
  std::vector<float> deviation(2);
  std::vector<float> out(6);
  normalise({bias.data(), gain.data(), shift.data()}, 0, 2, {x.data(), 2, 3},
            deviation.data(), {out.data(), 2, 3});
  CATCH_CHECK(std::vector<float>(out.begin(), out.begin() + 3) == shift);
  const auto spread = 2 / std::sqrt(2.0f / 3 + 1e-5f);
  CATCH_CHECK(std::abs(out[3] - (7 - spread)) < 1e-5f);
  CATCH_CHECK(std::abs(out[4] - 8) < 1e-5f);
  CATCH_CHECK(std::abs(out[5] - (9 + spread)) < 1e-5f);
}

} // namespace graphmill::test
