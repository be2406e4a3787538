#include "partition/importers/row_norm.hpp"

#include <cmath>
#include <cstddef>

namespace graphmill {

void normalise_rows(std::span<float> values, std::int64_t width,
                    row_norm norm) {
  if (norm == row_norm::none || width == 0)
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

} // namespace graphmill
