#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/shard.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace graphmill {

/// Copies feature rows of owned nodes into `out`. It widens float16, and adds
/// the zeros of sparse features. A row with a value that is not finite fails
/// with `invalid_data`: the value would spread to all weights, or vanish in a
/// ReLU unnoticed. Rows before it are written by then. From 4 MiB on, rows of
/// float32 are written past the caches where possible. Thread-safe.
/// @param ids Global ids that the shard owns, of a type with features.
/// @param rows Where each id's row goes in `out`: row `rows[i]`; empty = i.
/// @param out [any rows, feature width] float32.
/// @param rounded Round every value to float16; fails at one beyond its range.
result<void> gather_features(const shard& graph, node_type_id type,
                             std::span<const node_id> ids,
                             std::span<const local_id> rows, float* out,
                             bool rounded = false);

/// The same in the form of batches (`row_form`).
/// @param out [any rows, floats of a row]
result<void> gather_rows(const shard& graph, node_type_id type,
                         std::span<const node_id> ids,
                         std::span<const local_id> rows, float* out,
                         bool rounded = false);

/// Copies feature rows of edges into `out`, as `gather_features` does those of
/// nodes: widened, checked, perhaps rounded.
/// @param places Positions among the edges of the type in the shard.
/// @param rows Where each row goes in `out`; empty = in order.
/// @param out [any rows, feature width]
result<void> gather_edge_features(const shard& graph, edge_type_id type,
                                  std::span<const edge_id> places,
                                  std::span<const local_id> rows, float* out,
                                  bool rounded = false);

/// The positions in the shard of edges that are known by their ids in the
/// original graph. Fails with `invalid_argument` if one is none of its
/// destination's in-edges.
/// @param destinations Global ids that the shard owns.
/// @param edges [destinations] Original ids.
/// @param out [destinations]
result<void> find_places(const shard& graph, edge_type_id type,
                         std::span<const node_id> destinations,
                         std::span<const edge_id> edges, edge_id* out);

/// Copies single feature rows from a buffer, with the bits and checks of
/// `gather_features`. Value type.
class feature_row_copy {
public:
  /// @param type With features. @param rounded As in `gather_features`.
  feature_row_copy(const node_type_info& type, bool rounded);

  std::size_t row_bytes() const { return row_bytes_; } ///< As in the file.
  std::size_t width() const { return width_; }         ///< Floats written.

  /// @returns whether the row is usable; otherwise `bad_feature_row` has the
  /// reason.
  bool operator()(const std::byte* from, float* out) const {
    return copy_(out, from, width_);
  }

private:
  bool (*copy_)(float*, const std::byte*, std::size_t);
  std::size_t width_;
  std::size_t row_bytes_;
};

/// The error of a row with values that are not finite, or beyond float16.
error bad_features(const node_type_info& type, node_id original,
                   std::span<const float> values);

/// The error of an unusable row.
error bad_feature_row(const node_type_info& type, node_id original,
                      const std::byte* row);

/// The sum of the weights of a node's in-edges over the full graph, of all edge
/// types together. Edges of types without weights count 1. It is added in
/// double in the order of the dataset's types and rounded once, so it does not
/// depend on parts. Fails with `invalid_data` if the stored value is no such
/// sum.
/// @param id Global, owned by the shard.
/// @param excluded Per edge type: in-edges that do not count, original ids that
/// ascend; empty: all count. Lists with such edges are added up in their order,
/// as when the graph was prepared. Fails with `invalid_argument` if an edge is
/// none of the node's, or beyond `level`.
/// @param level Edges of higher levels do not count, either. @pre it is one
result<float> in_weight(const shard& graph, node_type_id type, node_id id,
                        std::span<const std::span<const edge_id>> excluded = {},
                        edge_level level = all_levels);

/// Copies one int32 or int64 value per node, like `gather_features`.
template <class T>
void gather_values(std::span<const T> values, node_id begin,
                   std::span<const node_id> ids, std::span<const local_id> rows,
                   T* out) {
  for (std::size_t i = 0; i < ids.size(); ++i)
    out[rows.empty() ? static_cast<local_id>(i) : rows[i]] =
      values[static_cast<std::size_t>(ids[i] - begin)];
}

/// The same with rows of bytes. @param width Bytes of a row.
inline void gather_label_rows(std::span<const std::uint8_t> values,
                              std::size_t width, node_id begin,
                              std::span<const node_id> ids,
                              std::span<const local_id> rows,
                              std::uint8_t* out) {
  for (std::size_t i = 0; i < ids.size(); ++i)
    std::copy_n(
      values.data() + static_cast<std::size_t>(ids[i] - begin) * width, width,
      out + (rows.empty() ? i : static_cast<std::size_t>(rows[i])) * width);
}

} // namespace graphmill
