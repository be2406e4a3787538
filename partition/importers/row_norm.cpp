#include "partition/importers/row_norm.hpp"

#include <cmath>
#include <cstddef>

namespace graphmill {

void normalise_rows(std::span<float> values, std::int64_t width,
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
      value = static_cast<float>(value * scale);
  }
}

void column_scale::learn(std::span<const float> rows) {
  for (; !rows.empty(); rows = rows.subspan(mean_.size())) {
    ++rows_;
    // Welford's way: sums of large squares would lose what is to be found.
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const double value = rows[i];
      const auto before = value - mean_[i];
      mean_[i] += before / rows_;
      squares_[i] += before * (value - mean_[i]);
    }
  }
}

void column_scale::apply(std::span<float> rows) const {
  for (; !rows.empty(); rows = rows.subspan(mean_.size()))
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const auto deviation = std::sqrt(squares_[i] / rows_);
      rows[i] = deviation == 0
                  ? 0.0f
                  : static_cast<float>((rows[i] - mean_[i]) / deviation);
    }
}

} // namespace graphmill
