#pragma once

#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

/// Columns that edges have by their ages:
///
///   x              = scale * ages[e]
///   columns[e, k]  = cos(frequencies[k] * x + phases[k])
///
/// or, without frequencies, one column log(1 + x). An angle may count millions
/// of turns, so it has double precision. Cosines are polynomials of our own,
/// which are the same on every machine. Borrows the ages.
class age_columns {
public:
  /// A column of logarithms.
  age_columns(const float* ages, double scale) : ages_(ages), scale_(scale) {}

  /// @param log_frequencies, phases [columns]
  age_columns(const float* ages, double scale, const_matrix log_frequencies,
              const_matrix phases);

  /// Writes the columns of edges [begin, end).
  /// @param first The first of these columns in `out`, which are its last ones.
  void run(std::int64_t begin, std::int64_t end, std::int64_t first,
           matrix out) const;

  /// Adds the part of edges [begin, end) in the gradients of the logarithms of
  /// the frequencies and, behind these, of the phases.
  /// @param gradient [edges, columns] Of the columns.
  /// @param sums [2, `lanes()`]
  void backward(const_matrix gradient, std::int64_t begin, std::int64_t end,
                double* sums) const;

  /// Columns, rounded up to whole registers.
  std::int64_t lanes() const { return std::ssize(frequencies_); }

private:
  const float* ages_;
  double scale_;
  std::int64_t width_ = 1;
  std::vector<double> frequencies_{}; ///< [lanes] Zeros behind the columns.
  std::vector<double> phases_{};      ///< Likewise.
};

} // namespace graphmill
