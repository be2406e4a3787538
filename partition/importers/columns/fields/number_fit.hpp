#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace graphmill {

/// Statistics of a stream of finite numbers, in double precision and bounded
/// memory. Mean, deviation, least and greatest are those of all numbers.
/// Quantiles and the mode are exact up to `most_sampled` numbers; beyond that
/// they come from a random sample of as many, drawn by reservoir sampling
/// (Vitter 1985, algorithm R) with a fixed seed. Value type.
class number_fit {
public:
  static constexpr std::int64_t most_sampled = 1 << 17;

  void learn(double value);

  std::int64_t count() const { return count_; }
  double mean() const { return mean_; }
  /// The root of the variance over all numbers.
  double deviation() const;
  double least() const { return least_; }
  double greatest() const { return greatest_; }
  double median() const;
  /// The number that comes most often, of several the least.
  double mode() const;
  /// Up to `most` numbers, ascending, from the least to the greatest at equal
  /// distances of rank.
  std::vector<double> quantiles(std::int64_t most) const;

private:
  std::vector<double> sorted() const;

  std::int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0; ///< Sum of squared distances from the mean.
  double least_ = 0;
  double greatest_ = 0;
  std::vector<double> sample_;
  std::mt19937_64 random_{1};
};

} // namespace graphmill
