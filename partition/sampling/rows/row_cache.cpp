#include "partition/sampling/rows/row_cache.hpp"

#include "messages/base/random.hpp"
#include "partition/files/half.hpp"
#include "partition/sampling/rows/packed_rows.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace graphmill {

namespace {

/// Where to look for an id first, in a table of a power of two of slots.
std::size_t first_slot(node_id id, std::size_t slots) {
  return static_cast<std::size_t>(mix64(static_cast<std::uint64_t>(id)))
         & (slots - 1);
}

/// A table of which half the slots are free, at least one of them: searches for
/// ids that are not there end at it.
std::vector<std::uint32_t> index_of(std::span<const node_id> ids) {
  std::vector<std::uint32_t> slots(std::bit_ceil(2 * ids.size() + 1));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto at = first_slot(ids[i], slots.size());
    while (slots[at] != 0)
      at = (at + 1) & (slots.size() - 1);
    slots[at] = static_cast<std::uint32_t>(i + 1);
  }
  return slots;
}

} // namespace

result<void> row_cache::hold(const dataset_info& info, hot_nodes nodes) {
  try {
    types_.resize(nodes.ids.size());
    for (std::size_t t = 0; t < types_.size(); ++t) {
      auto& type = types_[t];
      type.ids = std::move(nodes.ids[t]);
      type.width = row_form::of(info.node_types[t]).floats();
      type.half = kept_as_half(info.node_types[t], nodes.half);
      const auto values = type.ids.size() * type.width;
      if (type.half)
        type.halves.resize(values);
      else
        type.rows.resize(values);
      type.slots = index_of(type.ids);
    }
    return ok();
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory,
                "no memory for {} bytes of rows of other daemons' nodes: lower "
                "fetch.cache",
                nodes.bytes);
  }
}

void row_cache::put(node_type_id type, std::size_t first,
                    std::span<const float> rows) {
  auto& of = types_[static_cast<std::size_t>(type)];
  const auto at = static_cast<std::ptrdiff_t>(first * of.width);
  if (of.half)
    std::transform(rows.begin(), rows.end(), of.halves.begin() + at, to_half);
  else
    std::copy(rows.begin(), rows.end(), of.rows.begin() + at);
}

bool row_cache::find(node_type_id type, node_id id, float* out) const {
  const auto& of = types_[static_cast<std::size_t>(type)];
  for (auto at = first_slot(id, of.slots.size());;
       at = (at + 1) & (of.slots.size() - 1)) {
    const auto found = of.slots[at];
    if (found == 0)
      return false;
    if (of.ids[found - 1] != id)
      continue;
    const auto from = (found - 1) * of.width;
    if (of.half)
      std::transform(of.halves.data() + from,
                     of.halves.data() + from + of.width, out, from_half);
    else
      std::copy_n(of.rows.data() + from, of.width, out);
    return true;
  }
}

std::uint64_t row_cache::byte_size() const {
  std::uint64_t sum = 0;
  for (const auto& type : types_)
    sum += type.rows.size() * sizeof(float)
           + type.halves.size() * sizeof(std::uint16_t)
           + type.ids.size() * sizeof(node_id)
           + type.slots.size() * sizeof(std::uint32_t);
  return sum;
}

} // namespace graphmill
