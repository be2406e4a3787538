#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace graphmill {

/// How an importer scales features: not at all; each row to a sum of absolute
/// values of 1 (l1) or to a length of 1 (l2), where rows of zeros stay; or each
/// column to a mean of 0 and a variance of 1 over all nodes of the type
/// (standardise), where a column of equal values becomes zeros.
enum class row_norm : std::uint8_t { none, l1, l2, standardise };

/// As `import --normalise` calls it.
constexpr std::string_view to_string(row_norm norm) {
  switch (norm) {
  case row_norm::l1:
    return "l1";
  case row_norm::l2:
    return "l2";
  case row_norm::standardise:
    return "standardise";
  case row_norm::none:
    break;
  }
  return "none";
}

/// Scales rows in place, in double precision. The sum of a row is made in the
/// order of its columns.
/// @param values [any rows, width], row after row.
/// @param norm Not `standardise`, which no row can tell alone.
void normalise_rows(std::span<double> values, std::int64_t width,
                    row_norm norm);

/// Rounds rows to float32, once, after all scaling.
/// @param out Gets as many values; its memory is reused.
std::span<const float> rounded(std::span<const double> values,
                               std::vector<float>& out);

/// What `standardise` takes: means and variances of columns, in double
/// precision and in the order of rows. First all rows are given to `learn`,
/// then again to `apply`. Value type.
class column_scale {
public:
  explicit column_scale(std::int64_t width)
    : mean_(static_cast<std::size_t>(width)),
      squares_(static_cast<std::size_t>(width)) {}

  /// @param rows [any rows, width], row after row.
  void learn(std::span<const double> rows);

  /// Scales rows in place.
  void apply(std::span<double> rows) const;

  /// [width] What `restore` takes.
  const std::vector<double>& means() const { return mean_; }
  std::vector<double> deviations() const;

  /// What was learnt elsewhere.
  static column_scale restore(std::vector<double> means,
                              std::vector<double> deviations);

private:
  double rows_ = 0;
  std::vector<double> mean_;
  std::vector<double> squares_; ///< Sums of squared distances from the mean.
};

} // namespace graphmill
