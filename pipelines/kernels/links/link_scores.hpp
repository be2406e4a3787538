#pragma once

#include "messages/base/ids.hpp"
#include "messages/definition/definition_words.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

// Most decoders make a *query* of one end of an edge and its edge type
// (link_queries.hpp), and compare it with the candidates for the other end.

/// How a query and a candidate give a score. All are symmetric.
enum class comparison : std::uint8_t {
  product,   ///< The sum of a b.
  absolute,  ///< -(the sum of |a - b|)
  euclidean, ///< -(the root of the sum of (a - b)^2)
  /// -(the sum of |a - b|), complex numbers, of which all real parts come
  /// first, and then all imaginary ones.
  modulus,
};

/// @param norm Of `decoder_kind::transe`.
comparison comparison_of(decoder_kind kind, std::uint32_t norm);

/// Scores of lists of rows, one list of a fixed length for each row of `a`.
/// Borrows all arrays.
struct list_scores {
  comparison how = comparison::product;
  const_matrix a; ///< [rows, width]
  const_matrix b;
  const local_id* lists = nullptr; ///< [rows, stride] Rows of b, or none.
  std::int64_t stride = 0;         ///< Elements of a list.
  std::int64_t first = 0;          ///< The elements [first, last) are scored.
  std::int64_t last = 0;
};

/// out[i][first + k] = the score of row i of `a` with element first + k of its
/// list, or `no_score`, for rows [begin, end). Different threads may compute
/// different rows at once. Sums are made in sixteen lanes, the same for any
/// instruction set. @param out [rows, at least `last`]
void score_lists(const list_scores& task, std::int64_t begin, std::int64_t end,
                 matrix out);

/// Scores of all rows of `a` with all of `b`, for comparisons but the product,
/// which is a product of matrices. @param out [rows of a, rows of b]
void compare_all(comparison how, const_matrix a, const_matrix b,
                 std::int64_t begin, std::int64_t end, matrix out);

/// Gradients of scores by one of their sides: adds to out[i], over the entries
/// e of list i,
///
///   weights[e] * the derivative of score(a[i], b[columns[e]]) by a[i]
///
/// in the order of the list. Columns of `seed_batch::none` are passed over.
/// Borrows all arrays.
struct comparison_gradients {
  comparison how = comparison::product;
  const_matrix a; ///< Not read for the product.
  const_matrix b;
  const std::int64_t* indptr = nullptr; ///< [rows + 1]; null: as `stride`.
  const local_id* columns = nullptr;
  const float* weights = nullptr;
  /// Without `indptr`: list i is [first, last) of elements of row i, which
  /// `columns` have in rows of `stride`, and weights in rows of
  /// `weight_stride`.
  std::int64_t stride = 0;
  std::int64_t weight_stride = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// For rows [begin, end). Different threads may compute different rows at once.
/// @param out [rows, width], to which is added.
void add_gradients(const comparison_gradients& task, std::int64_t begin,
                   std::int64_t end, matrix out);

/// The same for `compare_all`, by `a` and for comparisons but the product.
/// @param weights [rows of a, rows of b], the gradient of the scores; with
/// `by_column` [rows of b, rows of a].
void add_all_gradients(comparison how, const_matrix a, const_matrix b,
                       const_matrix weights, bool by_column, std::int64_t begin,
                       std::int64_t end, matrix out);

/// Where nodes are candidates: lists of nodes by row, turned into lists of rows
/// by node. Each is in the order of rows, and so are sums over it.
struct turned_lists {
  std::vector<std::int64_t> indptr; ///< [nodes + 1]
  std::vector<local_id> rows;
  std::vector<float> weights;
};

/// Turns the elements [first, last) of lists of rows of `stride`, but those of
/// `seed_batch::none`. @param weights [rows, at least `last`]
void turn_lists(std::span<const local_id> lists, std::int64_t stride,
                std::int64_t first, std::int64_t last, const_matrix weights,
                std::int64_t nodes, turned_lists& out);

} // namespace graphmill
