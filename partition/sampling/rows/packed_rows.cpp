#include "partition/sampling/rows/packed_rows.hpp"

#include "partition/files/half.hpp"
#include "partition/sampling/rows/gather.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace graphmill {

namespace {

/// The words of a packed row ahead of its values.
std::uint32_t word_at(const float* row, std::size_t i) {
  return std::bit_cast<std::uint32_t>(row[i]);
}

} // namespace

row_form row_form::of(const node_type_info& type) {
  row_form out{static_cast<std::size_t>(type.feature_width), 0};
  if (!type.sparse_features)
    return out;
  const row_form packed{
    out.width,
    static_cast<std::size_t>(std::max<std::int64_t>(type.most_row_entries, 1))};
  return packed.floats() < out.width ? packed : out;
}

bool is_sound(const float* row, const row_form& form) {
  const std::size_t count = word_at(row, 0);
  if (count > form.slots)
    return false;
  std::size_t least = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t column = word_at(row, 1 + i);
    if (column < least || column >= form.width)
      return false;
    least = column + 1;
  }
  return true;
}

void unpack(const float* row, const row_form& form, float* out) {
  std::fill_n(out, form.width, 0.0f);
  const std::size_t count = word_at(row, 0);
  for (std::size_t i = 0; i < count; ++i)
    out[word_at(row, 1 + i)] = row[1 + form.slots + i];
}

void pack(const sparse_row& row, const row_form& form, float* out) {
  const auto count = row.columns.size();
  std::fill_n(out, form.floats(), 0.0f);
  out[0] = std::bit_cast<float>(static_cast<std::uint32_t>(count));
  if (count == 0) // Spans of nothing may be null.
    return;
  std::memcpy(out + 1, row.columns.data(), row.columns.size_bytes());
  std::memcpy(out + 1 + form.slots, row.values.data(), row.values.size_bytes());
}

sparse_row_reader::sparse_row_reader(const shard& part, node_type_id type,
                                     bool rounded)
  : nodes_(part.nodes(type)), type_(part.info().node_types[type]),
    rounded_(rounded) {}

error sparse_row_reader::broken(node_id id, std::string_view what) const {
  return fail(ec::invalid_data,
              "the sparse features of node {} of type {} {}; `graphmill "
              "inspect` says more",
              nodes_.original(id), type_.name, what);
}

result<sparse_row> sparse_row_reader::read(node_id id) {
  const auto& sparse = nodes_.sparse;
  const auto from = sparse.indptr[static_cast<std::size_t>(id - nodes_.begin)];
  const auto to =
    sparse.indptr[static_cast<std::size_t>(id - nodes_.begin) + 1];
  if (from < 0 || to < from || to > std::ssize(sparse.columns))
    return broken(id, "lie outside of their arrays");
  if (to - from > type_.most_row_entries)
    return broken(id, "are more than dataset.json says");
  const auto first = static_cast<std::size_t>(from);
  const auto count = static_cast<std::size_t>(to - from);
  // What is checked is what is given: whoever wrote the file may write again.
  const auto stored = sparse.columns.subspan(first, count);
  columns_.assign(stored.begin(), stored.end());
  std::int64_t least = 0;
  for (const auto column : columns_) {
    if (column < least || column >= type_.feature_width)
      return broken(id, "do not ascend within its columns");
    least = std::int64_t{column} + 1;
  }
  values_.resize(count);
  if (type_.feature_type == dtype::float16) {
    const auto* halves =
      reinterpret_cast<const std::uint16_t*>(sparse.values) + first;
    std::transform(halves, halves + count, values_.begin(), from_half);
  } else {
    const auto* floats = reinterpret_cast<const float*>(sparse.values) + first;
    std::copy_n(floats, count, values_.begin());
  }
  const auto limit = rounded_ ? half_overflow : INFINITY;
  if (!std::ranges::all_of(values_,
                           [limit](float x) { return std::abs(x) < limit; }))
    return bad_features(type_, nodes_.original(id), values_);
  if (rounded_)
    std::ranges::transform(values_, values_.begin(), round_to_half);
  return sparse_row{columns_, values_};
}

} // namespace graphmill
