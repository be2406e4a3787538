#pragma once

#include <cstdint>
#include <span>

namespace graphmill {

/// How an importer scales each row of features: not at all, to a sum of
/// absolute values of 1 (l1), or to a length of 1 (l2). Rows of zeros stay.
enum class row_norm : std::uint8_t { none, l1, l2 };

/// Scales rows in place. The sum of a row is made in double precision and in
/// the order of its columns.
/// @param values [any rows, width], row after row.
void normalise_rows(std::span<float> values, std::int64_t width, row_norm norm);

} // namespace graphmill
