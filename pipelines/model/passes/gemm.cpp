#include "pipelines/model/passes/gemm.hpp"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace graphmill {

namespace {

/// Sizes of BLAS have 32 bits.
int size_of(std::int64_t length) {
  if (length > std::numeric_limits<int>::max())
    throw std::length_error{"a matrix of more than 2^31 - 1 rows or columns"};
  return static_cast<int>(length);
}

/// A factor as BLAS reads it.
struct factor {
  const_matrix of;
  CBLAS_TRANSPOSE how;

  std::int64_t columns() const {
    return how == CblasNoTrans ? of.columns : of.rows;
  }
};

/// c = a b + beta c; beta is 0 or 1. Empty products are not left to libraries.
/// With a beta of 0 nothing of c is read, for it may be fresh memory with NaNs
/// in it.
void multiply_factors(factor a, factor b, float beta, matrix c) {
  if (c.size() == 0)
    return;
  if (a.columns() == 0) {
    if (beta == 0)
      std::fill(c.data, c.data + c.size(), 0.0f);
    return;
  }
  const auto flipped = [](factor f) {
    return f.how == CblasNoTrans ? CblasTrans : CblasNoTrans;
  };
  // A single column lies in memory as rows and as columns do. Taken as columns,
  // which needs both factors the other way, it is summed as libtorch does it.
  const bool column = c.columns == 1;
  cblas_sgemm(
    column ? CblasColMajor : CblasRowMajor, column ? flipped(a) : a.how,
    column ? flipped(b) : b.how, size_of(c.rows), size_of(c.columns),
    size_of(a.columns()), 1, a.of.data, size_of(a.of.columns), b.of.data,
    size_of(b.of.columns), beta, c.data, size_of(column ? c.rows : c.columns));
}

} // namespace

void multiply(const_matrix a, const_matrix b, float beta, matrix c) {
  multiply_factors({a, CblasNoTrans}, {b, CblasNoTrans}, beta, c);
}

void multiply_tn(const_matrix a, const_matrix b, float beta, matrix c) {
  multiply_factors({a, CblasTrans}, {b, CblasNoTrans}, beta, c);
}

void multiply_nt(const_matrix a, const_matrix b, float beta, matrix c) {
  multiply_factors({a, CblasNoTrans}, {b, CblasTrans}, beta, c);
}

void multiply(thread_team& team, const_matrix a, const_matrix b, matrix c) {
  team.for_pieces(a.rows, chunk_rows,
                  [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                    multiply(a.slice(begin, end), b, 0, c.slice(begin, end));
                  });
}

void multiply_nt(thread_team& team, const_matrix a, const_matrix b, matrix c,
                 float beta) {
  team.for_pieces(a.rows, chunk_rows,
                  [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                    multiply_nt(a.slice(begin, end), b, beta,
                                c.slice(begin, end));
                  });
}

void add_product_tn(thread_team& team, const_matrix a, const_matrix b, matrix c,
                    const std::shared_ptr<buffer_pool>& pool) {
  // Pieces depend on the rows alone and never on the threads, so that they are
  // always added up in the same order. Each takes memory for a whole product.
  constexpr std::int64_t most_pieces = 16;
  const auto grain = std::max((a.rows + most_pieces - 1) / most_pieces,
                              std::int64_t{2} * chunk_rows);
  const auto pieces = (a.rows + grain - 1) / grain;
  if (pieces <= 1)
    return multiply_tn(a, b, 1, c);
  owned_matrix products{pieces * c.rows, c.columns, pool};
  const auto whole = products.view();
  team.for_pieces(
    a.rows, grain,
    [&](std::int64_t piece, std::int64_t begin, std::int64_t end) {
      multiply_tn(a.slice(begin, end), b.slice(begin, end), 0,
                  whole.slice(piece * c.rows, (piece + 1) * c.rows));
    });
  for (std::int64_t p = 0; p < pieces; ++p)
    for (std::int64_t i = 0; i < c.size(); ++i)
      c.data[i] += whole.data[p * c.size() + i];
}

double inner_product(const_matrix a, const_matrix b, std::int64_t rows) {
  double sum = 0;
  for (std::int64_t i = 0; i < rows * a.columns; ++i)
    sum += double(a.data[i]) * b.data[i];
  return sum;
}

} // namespace graphmill
