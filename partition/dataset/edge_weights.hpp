#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/shard.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace graphmill {

/// A number as the weight of an edge; none if it is negative, no finite number,
/// or beyond float32, which must not make 0 of what is more.
std::optional<float> edge_weight_from(double value);

/// Says why a number is no weight.
/// @param where The file and the place in it, or the edge.
error no_edge_weight(double value, std::string_view where);

/// A sum of weights as it is stored. Fails if float32 cannot hold it.
/// @param where What the sum is of, for the error.
result<float> stored_weight(double sum, std::string_view where);

/// Sums of the weights of edges, as they are stored: added up in double and
/// rounded once.
struct weight_sums {
  std::vector<float> in;  ///< [destinations]
  std::vector<float> out; ///< [sources]
};

/// Adds up the weights of all edges in the order in which they lie, so that
/// the sums of a graph are the same bits wherever they are made. Takes 12 bytes
/// for each source and 4 for each destination.
/// @param indptr [destinations + 1] Sound, and ends where the lists do.
/// @param indices Sources, all of them below `sources`.
/// @param weights In the order of `indices`.
/// @param where The edge type, for errors.
result<weight_sums> sum_weights(std::span<const std::int64_t> indptr,
                                const id_span& indices,
                                std::span<const float> weights,
                                std::int64_t sources, std::string_view where);

} // namespace graphmill
