#include "pipelines/model/passes/sparse_input.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <random>
#include <vector>

namespace graphmill::test {

namespace {

/// Rows of 0 to 9 values in 300 columns, of which dropout decides 128 by one
/// group of blocks; packed, and with all their zeros.
struct sparse_example {
  static constexpr std::int64_t rows = 2500; // Of more than one chunk.
  static constexpr std::int64_t columns = 300;
  row_form form{columns, 9};
  std::vector<float> packed;
  std::vector<float> dense = std::vector<float>(rows * columns);

  explicit sparse_example(std::mt19937& random) : packed(rows * form.floats()) {
    std::uniform_real_distribution<float> value{-1, 1};
    for (std::int64_t i = 0; i < rows; ++i) {
      std::vector<std::int32_t> at;
      std::vector<float> values;
      const auto first = static_cast<std::int32_t>(random() % 60);
      for (auto c = first; c < columns && at.size() < random() % 10; c += 31) {
        at.push_back(c);
        values.push_back(value(random));
        dense[static_cast<std::size_t>(i * columns + c)] = values.back();
      }
      pack({at, values}, form,
           packed.data() + static_cast<std::size_t>(i) * form.floats());
    }
  }
};

std::vector<float> random_floats(std::mt19937& random, std::int64_t count) {
  std::uniform_real_distribution<float> value{-1, 1};
  std::vector<float> out(static_cast<std::size_t>(count));
  for (auto& x : out)
    x = value(random);
  return out;
}

/// Whether what is in each row and column is close to `want` of the two.
template <class Want>
bool close(const std::vector<float>& got, std::int64_t width, Want want) {
  for (std::int64_t i = 0; i < std::ssize(got); ++i) {
    const double exact = want(i / width, i % width);
    if (!(std::abs(got[i] - exact) <= 1e-5 * (1 + std::abs(exact))))
      return false;
  }
  return true;
}

/// What `compute` makes of `begun` by one thread; by three it makes the same.
template <class Compute>
std::vector<float> by_any_team(const std::vector<float>& begun,
                               Compute compute) {
  auto by_one = begun;
  auto by_three = begun;
  thread_team one{1};
  thread_team three{3};
  compute(one, by_one.data());
  compute(three, by_three.data());
  CATCH_CHECK(by_one == by_three);
  return by_one;
}

} // namespace

CATCH_TEST_CASE("sparse rows times a matrix are the dense ones times it",
                "[compute][sparse]") {
  std::mt19937 random{41};
  const sparse_example x{random};
  constexpr auto rows = sparse_example::rows;
  constexpr auto columns = sparse_example::columns;
  constexpr std::int64_t width = 21; // A register's worth, and a rest.
  const auto weight = random_floats(random, columns * width);
  const const_matrix w{weight.data(), columns, width};
  const sparse_input input{x.packed.data(), rows, x.form, {}};
  const auto got = by_any_team(std::vector<float>(rows * width, 9),
                               [&input, &w](thread_team& team, float* to) {
                                 input.multiply(team, w, {to, rows, width});
                               });
  CATCH_CHECK(close(got, width, [&x, &weight](std::int64_t i, std::int64_t c) {
    double want = 0;
    for (std::int64_t k = 0; k < columns; ++k)
      want += double(x.dense[i * columns + k]) * weight[k * width + c];
    return want;
  }));
  // A few rows, added to what is there.
  std::vector<float> some(3 * width, 2);
  input.multiply(1200, 1203, w, 1, {some.data(), 3, width});
  for (std::int64_t i = 0; i < 3 * width; ++i)
    CATCH_CHECK(some[i] == 2 + got[1200 * width + i]);
}

CATCH_TEST_CASE("the gradient of a weight sums over the first sparse rows",
                "[compute][sparse]") {
  std::mt19937 random{42};
  const sparse_example x{random};
  constexpr auto columns = sparse_example::columns;
  constexpr std::int64_t width = 21;
  constexpr std::int64_t first = 2100;
  const auto gradient = random_floats(random, first * width);
  const const_matrix g{gradient.data(), first, width};
  const sparse_input input{x.packed.data(), sparse_example::rows, x.form, {}};
  const auto got =
    by_any_team(std::vector<float>(columns * width, 1),
                [&input, &g](thread_team& team, float* to) {
                  input.add_product_tn(team, g, {to, columns, width});
                });
  CATCH_CHECK(
    close(got, width, [&x, &gradient](std::int64_t k, std::int64_t c) {
      double want = 1;
      for (std::int64_t i = 0; i < first; ++i)
        want += double(x.dense[i * columns + k]) * gradient[i * width + c];
      return want;
    }));
}

CATCH_TEST_CASE("dropout of sparse rows drops what it drops of dense ones",
                "[compute][sparse]") {
  std::mt19937 random{43};
  const sparse_example x{random};
  constexpr auto rows = sparse_example::rows;
  constexpr auto columns = sparse_example::columns;
  const dropout drop{.key = 77,
                     .stream = stream_of(0, 1, 2),
                     .threshold = dropout_threshold(0.4)};
  auto want = x.dense;
  activate({x.dense.data(), rows, columns}, nullptr, activation::none, drop, 0,
           rows, {want.data(), rows, columns});
  // Times the identity they are what they are.
  std::vector<float> identity(columns * columns);
  for (std::int64_t k = 0; k < columns; ++k)
    identity[k * columns + k] = 1;
  std::vector<float> got(rows * columns, 9);
  const sparse_input input{x.packed.data(), rows, x.form, drop};
  thread_team team{2};
  input.multiply(team, {identity.data(), columns, columns},
                 {got.data(), rows, columns});
  CATCH_CHECK(got == want);
}

} // namespace graphmill::test
