#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/shard.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace graphmill {

/// How batches, caches and messages hold a feature row of a node type, as so
/// many floats: as it is, or PACKED, without its zeros. All packed rows of a
/// type are as long as the fullest one needs, so that a row's place follows
/// from its number, and what a batch takes, from its number of nodes. A row is
///
///   how many values it has      1 word
///   their columns, ascending    as many words as there are slots
///   the values                  as many floats
///
/// where words are unsigned integers of 32 bits, and slots that are left over
/// are 0. Rows of sparse features are packed where that makes them shorter.
/// Follows from the dataset alone, so that all members of a run agree. Value
/// type.
struct row_form {
  std::size_t width = 0; ///< Columns; 0: the type has no features.
  std::size_t slots = 0; ///< 0: rows are as they are.

  static row_form of(const node_type_info& type);

  bool packed() const { return slots != 0; }
  /// Floats that a row takes.
  std::size_t floats() const { return packed() ? 1 + 2 * slots : width; }
};

/// Whether a packed row, of wherever it comes from, can be unpacked: its counts
/// and columns are within bounds, and its columns ascend.
/// @param row [form.floats()] Of a form that is packed.
bool is_sound(const float* row, const row_form& form);

/// Writes all columns of a packed row that is sound.
/// @param out [form.width]
void unpack(const float* row, const row_form& form, float* out);

/// A row of sparse features. Owns nothing.
struct sparse_row {
  std::span<const std::int32_t> columns; ///< Ascending.
  std::span<const float> values;
};

/// Packs a row of no more values than the form has slots.
/// @param out [form.floats()]
void pack(const sparse_row& row, const row_form& form, float* out);

/// Reads rows of a part's sparse features, as float32, and checks them, for a
/// file may have been damaged since it was written. Not thread-safe.
class sparse_row_reader {
public:
  /// @param type Of which the part has sparse features.
  /// @param rounded Round every value to float16.
  sparse_row_reader(const shard& part, node_type_id type, bool rounded);

  /// The row of a node that the part owns, until the next call. Fails with
  /// `invalid_data` if it does not lie within the arrays, if its columns do not
  /// ascend within the type's, if it has more values than dataset.json says, or
  /// one that is no finite number or that float16 cannot hold.
  result<sparse_row> read(node_id id);

private:
  error broken(node_id id, std::string_view what) const;

  const node_shard& nodes_;
  const node_type_info& type_;
  bool rounded_;
  std::vector<std::int32_t> columns_; ///< Of the row at hand, as the values.
  std::vector<float> values_;
};

} // namespace graphmill
