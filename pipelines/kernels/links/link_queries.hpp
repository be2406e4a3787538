#pragma once

#include "messages/base/ids.hpp"
#include "messages/definition/definition_words.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <span>

namespace graphmill {

// What decoders make of one end of an edge and the vector of its edge type:
//
//   decoder       | of the source h | of the destination t | compared by
//   dot, cosine   | h               | t                    | product
//   distmult      | h r             | t r                  | product
//   complex       | h r             | t conj(r)            | product
//   transe        | h + r           | t - r                | distance
//   rotate        | h r             | t conj(r)            | modulus
//
// Both queries of an edge give the same score with its other end. Complex
// vectors have all real parts first, then all imaginary ones. The vector of
// rotate has length 1 in each element: `turn_angles` makes it. cosine takes
// rows of length 1: `normalise_rows` makes them.

/// Which end of an edge a query is made of.
enum class query_side : std::uint8_t { source, destination };

/// Queries of rows. Borrows all arrays.
struct link_queries {
  decoder_kind kind = decoder_kind::dot;
  query_side side = query_side::source;
  const_matrix nodes;
  std::span<const local_id> ends; ///< [queries] Rows of `nodes`.
  /// [edge types, width]; not for dot and cosine.
  const_matrix relations{};
  std::span<const std::int32_t> relation_of{}; ///< [queries]
};

/// Makes queries [begin, end). @param out [queries, width]
void make_queries(const link_queries& task, std::int64_t begin,
                  std::int64_t end, matrix out);

/// Adds the gradients of vectors of edge types by all queries, in their order.
/// Ahead of `end_gradients`. @param gradient [queries, width] Of the queries.
/// @param out [edge types, width]
void add_relation_gradients(const link_queries& task, const_matrix gradient,
                            matrix out);

/// Turns gradients of queries [begin, end) into those of the nodes that they
/// are made of, in place. @param gradient [queries, width]
void end_gradients(const link_queries& task, std::int64_t begin,
                   std::int64_t end, matrix gradient);

/// out = (cos, sin) of angles. @param angles [rows, half]
/// @param out [rows, 2 half]
void turn_angles(const_matrix angles, matrix out);

/// Adds the gradient of the angles. @param turned What `turn_angles` has made.
/// @param gradient Of that. @param out [rows, half]
void add_angle_gradients(const_matrix turned, const_matrix gradient,
                         matrix out);

/// out[i] = x[i] over its length, or zeros if it has none, for rows
/// [begin, end). @param inverse [rows] Receives one over the length, or 0.
void normalise_rows(const_matrix x, std::int64_t begin, std::int64_t end,
                    matrix out, float* inverse);

/// Turns gradients of `normalised` rows [begin, end) into those of the rows
/// before, in place.
void normalised_gradients(const_matrix normalised, const float* inverse,
                          std::int64_t begin, std::int64_t end,
                          matrix gradient);

} // namespace graphmill
