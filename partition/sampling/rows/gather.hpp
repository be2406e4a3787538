#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/shard.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace graphmill {

/// Copies feature rows of owned nodes into `out`, widening float16, and with
/// all their zeros where they are stored without. A row with a value that is no
/// finite number ends it with `invalid_data`: the value would spread to all
/// weights, or vanish in a ReLU and never be noticed. Rows before it have been
/// written then. From 4 MiB on, rows of float32 are written past the caches
/// where that is possible. Thread-safe.
/// @param ids Global ids that the shard owns, of a type with features.
/// @param rows Where each id's row goes in `out`: row `rows[i]`; empty = i.
/// @param out [any rows, feature width] float32.
/// @param rounded Round every value to float16; fails at one beyond its range.
result<void> gather_features(const shard& graph, node_type_id type,
                             std::span<const node_id> ids,
                             std::span<const local_id> rows, float* out,
                             bool rounded = false);

/// The same in the form in which batches hold them (`row_form`).
/// @param out [any rows, floats of a row]
result<void> gather_rows(const shard& graph, node_type_id type,
                         std::span<const node_id> ids,
                         std::span<const local_id> rows, float* out,
                         bool rounded = false);

/// Copies single feature rows from wherever they have been read to, with the
/// same bits and the same checks as `gather_features`. Value type.
class feature_row_copy {
public:
  /// @param type With features. @param rounded As in `gather_features`.
  feature_row_copy(const node_type_info& type, bool rounded);

  std::size_t row_bytes() const { return row_bytes_; } ///< As in the file.
  std::size_t width() const { return width_; }         ///< Floats written.

  /// @returns whether the row may be used; else `bad_feature_row` says why.
  bool operator()(const std::byte* from, float* out) const {
    return copy_(out, from, width_);
  }

private:
  bool (*copy_)(float*, const std::byte*, std::size_t);
  std::size_t width_;
  std::size_t row_bytes_;
};

/// What is wrong with values of a row of which some are not finite, or beyond
/// what float16 can hold.
error bad_features(const node_type_info& type, node_id original,
                   std::span<const float> values);

/// What is wrong with a row that could not be used.
error bad_feature_row(const node_type_info& type, node_id original,
                      const std::byte* row);

/// The sum of the weights of a node's in-edges over the full graph, of all edge
/// types together; edges of types without weights count 1. Added up in double
/// in the order of the dataset's types, and rounded once, so that it does not
/// depend on parts. Fails with `invalid_data` if what is on record is no such
/// sum.
/// @param id Global, owned by the shard.
result<float> in_weight(const shard& graph, node_type_id type, node_id id);

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
