#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <memory>

namespace graphmill {

// The matrices of a relation, one for each head, as one that maps all heads in
// a single product: they lie on its diagonal, with zeros elsewhere. Of heads of
// width d, they are given as blocks [heads * d, d], one below the other.

/// With blocks A and the scores prior[h] / sqrt(d) * k A q of keys and queries,
/// this maps queries so that scores are products with keys as these are: it has
/// the transposed blocks, times prior[h] / sqrt(d). [heads * d, heads * d]
owned_matrix query_map(const_matrix attention, const float* prior,
                       const std::shared_ptr<buffer_pool>& pool);

/// What maps sums of values. [heads * d, heads * d]
owned_matrix message_map(const_matrix message,
                         const std::shared_ptr<buffer_pool>& pool);

/// What maps sums of features that heads have made: its blocks are the columns
/// of each head. @param weight [features, heads * d]
/// @returns [heads * features, heads * d]
owned_matrix feature_map(const_matrix weight, std::int64_t heads,
                         const std::shared_ptr<buffer_pool>& pool);

/// Adds what blocks and priors have of the gradient of their `query_map`.
void add_query_map_gradient(const_matrix gradient, const_matrix attention,
                            const float* prior, matrix attention_into,
                            float* prior_into);

/// Adds what blocks have of the gradient of their `message_map`.
void add_message_map_gradient(const_matrix gradient, matrix into);

/// Adds what the weight has of the gradient of its `feature_map`.
void add_feature_map_gradient(const_matrix gradient, std::int64_t heads,
                              matrix into);

} // namespace graphmill
