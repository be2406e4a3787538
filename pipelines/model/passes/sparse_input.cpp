#include "pipelines/model/passes/sparse_input.hpp"

#include "pipelines/kernels/gather_sum.hpp"
#include "pipelines/model/passes/gemm.hpp"

#include <bit>
#include <cstddef>

namespace graphmill {

namespace {

/// Rows of a gradient, one for each feature, that are summed together.
constexpr std::int64_t columns_at_once = 256;

} // namespace

sparse_input::sparse_input(const float* packed, std::int64_t rows,
                           const row_form& form, const dropout& drop)
  : rows_(rows) {
  indptr_.reserve(static_cast<std::size_t>(rows) + 1);
  indptr_.push_back(0);
  // Vectors that grew by themselves would take up to twice what is planned for.
  std::size_t entries = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    entries += std::bit_cast<std::uint32_t>(
      packed[static_cast<std::size_t>(i) * form.floats()]);
  columns_.reserve(entries);
  values_.reserve(entries);
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto* row = packed + static_cast<std::size_t>(i) * form.floats();
    const auto count = std::bit_cast<std::uint32_t>(row[0]);
    for (std::uint32_t k = 0; k < count; ++k) {
      const auto column = std::bit_cast<std::uint32_t>(row[1 + k]);
      columns_.push_back(static_cast<local_id>(column));
      values_.push_back(dropped_out(drop, static_cast<std::uint64_t>(i), column,
                                    row[1 + form.slots + k]));
    }
    indptr_.push_back(static_cast<std::int64_t>(columns_.size()));
  }
}

void sparse_input::multiply(std::int64_t begin, std::int64_t end,
                            const_matrix weight, float beta, matrix y) const {
  // The kernel numbers rows from the first one, so it gets a matrix that would
  // begin there; only these rows are touched.
  const matrix whole{y.data - begin * y.columns, rows_, y.columns};
  run({.indptr = indptr_.data(),
       .columns = columns_.data(),
       .x = weight,
       .values = values_.data()},
      begin, end, beta != 0 ? end : begin, whole);
}

void sparse_input::multiply(thread_team& team, const_matrix weight,
                            matrix y) const {
  team.for_pieces(rows_, chunk_rows,
                  [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                    multiply(begin, end, weight, 0, y.slice(begin, end));
                  });
}

void sparse_input::add_product_tn(thread_team& team, const_matrix gradient,
                                  matrix c) const {
  // By column, with the rows of each in ascending order: a counting sort.
  const auto entries = indptr_[static_cast<std::size_t>(gradient.rows)];
  std::vector<std::int64_t> begins(static_cast<std::size_t>(c.rows) + 1);
  for (std::int64_t e = 0; e < entries; ++e)
    ++begins[static_cast<std::size_t>(columns_[e]) + 1];
  for (std::size_t column = 1; column < begins.size(); ++column)
    begins[column] += begins[column - 1];
  auto next = begins;
  std::vector<local_id> rows(static_cast<std::size_t>(entries));
  std::vector<float> values(static_cast<std::size_t>(entries));
  for (std::int64_t i = 0; i < gradient.rows; ++i)
    for (auto e = indptr_[i]; e < indptr_[i + 1]; ++e) {
      const auto at =
        static_cast<std::size_t>(next[static_cast<std::size_t>(columns_[e])]++);
      rows[at] = static_cast<local_id>(i);
      values[at] = values_[e];
    }
  const gather_sum task{.indptr = begins.data(),
                        .columns = rows.data(),
                        .x = gradient,
                        .values = values.data()};
  team.for_pieces(c.rows, columns_at_once,
                  [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                    run(task, begin, end, end, c);
                  });
}

} // namespace graphmill
