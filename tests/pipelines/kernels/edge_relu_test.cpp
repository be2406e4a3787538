#include "pipelines/kernels/edge_relu.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <random>
#include <vector>

namespace graphmill::test {

namespace {

constexpr std::int64_t relu_rows = 150;
constexpr std::int64_t relu_sources = 200;

/// A task with random numbers, what it needs, and what it should give.
struct relu_case {
  relu_case(std::int64_t width, std::int64_t features, bool weighed)
    : width(width), features(features), x(numbers(relu_sources * width)),
      weight(numbers(features * width)), bias(numbers(width)) {
    for (std::int64_t i = 0; i < relu_rows; ++i) {
      for (auto degree = random() % 6; degree > 0; --degree)
        columns.push_back(static_cast<local_id>(random() % relu_sources));
      indptr.push_back(std::ssize(columns));
    }
    edge_features = numbers(std::ssize(columns) * features);
    if (weighed)
      values = numbers(std::ssize(columns));
    padded = edge_relu_weight({weight.data(), features, width}, bias.data(),
                              buffer_pool::make(0));
    signs.resize(columns.size()
                 * static_cast<std::size_t>(edge_relu_bytes(width)));
    gradient = numbers(relu_rows * width);
  }

  /// Sixteenths from -1 to 1, of which all sums here are exact.
  std::vector<float> numbers(std::int64_t count) {
    std::vector<float> out(static_cast<std::size_t>(count));
    for (auto& one : out)
      one = (static_cast<float>(random() % 33) - 16) / 16;
    return out;
  }

  edge_relu task() {
    return {.indptr = indptr.data(),
            .columns = columns.data(),
            .x = {x.data(), relu_sources, width},
            .features = {edge_features.data(), std::ssize(columns), features},
            .weight = padded.view(),
            .values = values.empty() ? nullptr : values.data(),
            .self = 1.25f,
            .signs = signs.data()};
  }

  /// Calls f(i, j, e, c, sum), the sum as it is ahead of the cut.
  template <class F>
  void for_sums(const F& f) const {
    for (std::int64_t i = 0; i < relu_rows; ++i)
      for (auto e = indptr[i]; e < indptr[i + 1]; ++e)
        for (std::int64_t c = 0; c < width; ++c) {
          auto sum = double(x[columns[e] * width + c]) + bias[c];
          for (std::int64_t k = 0; k < features; ++k)
            sum +=
              double(edge_features[e * features + k]) * weight[k * width + c];
          f(i, columns[e], e, c, sum);
        }
  }
  double value(std::int64_t e) const {
    return values.empty() ? 1.0 : values[e];
  }

  std::mt19937_64 random{71};
  std::int64_t width, features;
  std::vector<std::int64_t> indptr{0};
  std::vector<local_id> columns;
  std::vector<float> x, weight, bias, edge_features, values, gradient;
  std::vector<std::uint8_t> signs;
  owned_matrix padded;
};

void check_equal(const std::vector<float>& got,
                 const std::vector<double>& expected) {
  CATCH_CHECK(
    std::equal(got.begin(), got.end(), expected.begin(), expected.end()));
}

/// The edges by source.
struct relu_sources_of {
  explicit relu_sources_of(const relu_case& of) {
    for (std::int64_t j = 0; j < relu_sources; ++j) {
      for (std::int64_t i = 0; i < relu_rows; ++i)
        for (auto e = of.indptr[i]; e < of.indptr[i + 1]; ++e)
          if (of.columns[e] == j) {
            columns.push_back(static_cast<local_id>(i));
            positions.push_back(e);
          }
      indptr.push_back(std::ssize(columns));
    }
  }
  transposed_edges view() const {
    return {indptr.data(), columns.data(), positions.data()};
  }

  std::vector<std::int64_t> indptr{0};
  std::vector<local_id> columns;
  std::vector<std::int64_t> positions;
};

} // namespace

CATCH_TEST_CASE("rows of edges are added, cut off and summed as written down",
                "[compute][edge_features]") {
  // Widths and features below, at and between what fills registers.
  const auto width = GENERATE(5, 16, 100, 128, 248, 300);
  const auto features = GENERATE(1, 8, 19);
  const auto weighed = GENERATE(false, true);
  CATCH_INFO("width " << width << ", features " << features << ", weighed "
                      << weighed << ", seed 71");
  relu_case of{width, features, weighed};
  std::vector<double> out(static_cast<std::size_t>(relu_rows * width));
  std::vector<double> sums(static_cast<std::size_t>(features * width + width));
  std::vector<double> into_x(static_cast<std::size_t>(relu_sources * width));
  for (std::int64_t k = 0; k < std::ssize(out); ++k)
    out[k] = 1.25 * of.x[k];
  of.for_sums([&](std::int64_t i, std::int64_t j, std::int64_t e,
                  std::int64_t c, double sum) {
    if (sum <= 0)
      return;
    const auto change = of.value(e) * of.gradient[i * width + c];
    out[i * width + c] += of.value(e) * sum;
    into_x[j * width + c] += change;
    sums[features * width + c] += change;
    for (std::int64_t k = 0; k < features; ++k)
      sums[k * width + c] += change * of.edge_features[e * features + k];
  });

  std::vector<float> got(out.size());
  run(of.task(), 0, 40, {got.data(), relu_rows, width});
  run(of.task(), 40, relu_rows, {got.data(), relu_rows, width});
  check_equal(got, out);
  auto without_signs = of.task();
  without_signs.signs = nullptr;
  std::vector<float> again(out.size());
  run(without_signs, 0, relu_rows, {again.data(), relu_rows, width});
  CATCH_CHECK(again == got);

  const const_matrix gradient{of.gradient.data(), relu_rows, width};
  auto shape = of.padded.view();
  std::vector<float> padded(static_cast<std::size_t>(shape.size()));
  edge_relu_backward(of.task(), gradient, 0, 90,
                     {padded.data(), shape.rows, shape.columns});
  edge_relu_backward(of.task(), gradient, 90, relu_rows,
                     {padded.data(), shape.rows, shape.columns});
  std::vector<float> got_sums;
  for (std::int64_t k = 0; k < shape.rows; ++k)
    got_sums.insert(got_sums.end(), padded.begin() + k * shape.columns,
                    padded.begin() + k * shape.columns + width);
  check_equal(got_sums, sums);

  const relu_sources_of back{of};
  std::vector<float> got_x(into_x.size(), 0.5f);
  for (std::int64_t k = 0; k < 90 * width; ++k) // It is added to these.
    into_x[k] += 0.5;
  edge_relu_sources_backward(of.task(), back.view(), gradient, 0, 70, 90,
                             {got_x.data(), 70, width});
  edge_relu_sources_backward(
    of.task(), back.view(), gradient, 70, relu_sources, 90,
    {got_x.data() + 70 * width, relu_sources - 70, width});
  check_equal(got_x, into_x);
}

} // namespace graphmill::test
