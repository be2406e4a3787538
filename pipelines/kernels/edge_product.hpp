#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <memory>

namespace graphmill {

// Products of the features of edges with a weight matrix. These are so narrow
// that a BLAS library spends most of its time on packing them. They are made
// for as many edges at a time as stay in a core's cache, right where they are
// used. All sums are made in a fixed order, so that the bits are the same on
// all CPUs.

/// The columns of a matrix that holds products: whole registers.
/// @param columns Of the weight matrix.
std::int64_t product_columns(std::int64_t columns);

/// How many edges to multiply at a time: their products fit into the L1 cache.
/// @param columns `product_columns`
std::int64_t product_edges(std::int64_t columns);

/// The weight matrix, and zeros in further columns and rows.
/// @param rows At least those of `weight`.
owned_matrix product_weight(const_matrix weight, std::int64_t rows,
                            const std::shared_ptr<buffer_pool>& pool);

/// out[e - begin] += features[e] weight, for edges [begin, end).
/// @param weight [columns of features or more, `product_columns`] What
/// `product_weight` gives; further rows are not read.
/// @param out [any, `product_columns`]
void add_products(const_matrix features, const_matrix weight,
                  std::int64_t begin, std::int64_t end, matrix out);

/// sums += transpose(features) changes, for edges [begin, end).
/// @param changes [any, `product_columns`] The first row is of edge `begin`.
/// @param sums [columns of features or more, `product_columns`]
void add_product_gradient(const_matrix features, const_matrix changes,
                          std::int64_t begin, std::int64_t end, matrix sums);

} // namespace graphmill
