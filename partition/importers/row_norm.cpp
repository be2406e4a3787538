#include "partition/importers/row_norm.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace graphmill {

void normalise_rows(std::span<double> values, std::int64_t width,
                    row_norm norm) {
  if (norm == row_norm::none || norm == row_norm::standardise || width == 0)
    return;
  const auto columns = static_cast<std::size_t>(width);
  for (; !values.empty(); values = values.subspan(columns)) {
    const auto row = values.first(columns);
    double sum = 0;
    for (const double value : row)
      sum += norm == row_norm::l1 ? std::fabs(value) : value * value;
    if (sum == 0)
      continue;
    const auto scale = 1 / (norm == row_norm::l1 ? sum : std::sqrt(sum));
    for (auto& value : row)
      value *= scale;
  }
}

void column_scale::learn(std::span<const double> rows) {
  for (; !rows.empty(); rows = rows.subspan(mean_.size())) {
    ++rows_;
    // Welford's way: sums of large squares would lose what is to be found.
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const auto value = rows[i];
      const auto before = value - mean_[i];
      mean_[i] += before / rows_;
      squares_[i] += before * (value - mean_[i]);
    }
  }
}

void column_scale::apply(std::span<double> rows) const {
  const auto deviation = deviations();
  for (; !rows.empty(); rows = rows.subspan(mean_.size()))
    for (std::size_t i = 0; i < mean_.size(); ++i)
      rows[i] = deviation[i] == 0 ? 0.0 : (rows[i] - mean_[i]) / deviation[i];
}

std::vector<double> column_scale::deviations() const {
  std::vector<double> out;
  for (const auto squares : squares_)
    out.push_back(rows_ == 0 ? 0 : std::sqrt(squares / rows_));
  return out;
}

column_scale column_scale::restore(std::vector<double> means,
                                   std::vector<double> deviations) {
  column_scale out{0};
  out.rows_ = 1;
  out.mean_ = std::move(means);
  for (const auto deviation : deviations)
    out.squares_.push_back(deviation * deviation);
  return out;
}

std::span<const float> rounded(std::span<const double> values,
                               std::vector<float>& out) {
  out.resize(values.size());
  std::transform(values.begin(), values.end(), out.begin(),
                 [](double value) { return static_cast<float>(value); });
  return out;
}

} // namespace graphmill
