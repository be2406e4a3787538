#include "partition/sampling/id_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace graphmill {

namespace {

constexpr local_id unused = -1;
constexpr std::size_t block = 1024;    ///< Ids between checks for room.
constexpr std::size_t slot_ahead = 24; ///< Elements between prefetch and use.
constexpr std::size_t id_ahead = 8;

/// Where an id's search begins in a table of `slots` slots. A number of 32
/// mixed bits is scaled to the table by a multiplication and a shift (Lemire,
/// "Fast random integer generation in an interval", 2019), so that tables may
/// have any size, and need not take twice the memory to grow a little.
inline std::uint32_t home_of(node_id id, std::uint64_t slots) {
  auto mixed = static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15ull;
  mixed ^= mixed >> 32;
  const auto high = (mixed * 0xbf58476d1ce4e5b9ull) >> 32;
  return static_cast<std::uint32_t>((high * slots) >> 32);
}

inline std::size_t next_slot(std::size_t slot, std::size_t slots) {
  return slot + 1 == slots ? 0 : slot + 1;
}

// Whether an id is new or known cannot be predicted: a branch on it would be
// mispredicted again and again. So the functions below compute with the slot's
// value instead.

/// -1 if the slot is free, else 0: the sign bit, copied to all bits.
inline local_id is_new(local_id found) {
  return found >> 31;
}

inline local_id number_of(local_id found, local_id next) {
  return (next & is_new(found)) | (found & ~is_new(found));
}

/// Whether the search for `id` ends at a slot that holds `found`: it is free,
/// or its id is the right one. For a free slot element 0 of the list is read,
/// and does not matter.
inline bool ends_search(local_id found, const node_id* list, node_id id) {
  const node_id used = ~is_new(found);
  return ((list[found & used] ^ id) & used) == 0;
}

/// Makes room for `more` ids, and one in addition: every id is written to the
/// end of the list, and stays there only if it turns out to be new.
void make_room(pod_vector<node_id>& ids, std::size_t more) {
  const auto wanted = ids.size() + more + 1;
  if (ids.capacity() < wanted)
    ids.reserve(std::max(ids.size() + ids.size() / 4, wanted));
}

} // namespace

void id_table::reserve(const pod_vector<node_id>& ids, std::int64_t total) {
  total = std::min(total, universe_);
  // At most three slots of four in use keeps searches short.
  const auto wanted = std::max<std::int64_t>(64, total + total / 3 + 1);
  const auto have = static_cast<std::int64_t>(slots_.size());
  if (direct() || have >= wanted)
    return;
  auto size = std::max(wanted, have + have / 2);
  if (universe_ <= 2 * size)
    size = universe_;
  // The old table goes back to the pool first, so that the two of them never
  // take memory at the same time: the list has all that the new one is built
  // from.
  slots_ = pod_vector<local_id>{slots_.pool()};
  slots_.resize(static_cast<std::size_t>(size));
  std::memset(slots_.data(), 0xff, slots_.span().size_bytes());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto slot = static_cast<std::size_t>(ids[i]);
    if (!direct())
      for (slot = home_of(ids[i], slots_.size()); slots_[slot] != unused;)
        slot = next_slot(slot, slots_.size());
    slots_[slot] = static_cast<local_id>(i);
  }
}

template <class Id>
void id_table::number_direct(std::span<const Id> globals, local_id* locals,
                             pod_vector<node_id>& ids) {
  auto* slots = slots_.data();
  auto* list = ids.data();
  auto known = static_cast<local_id>(ids.size());
  const auto size = globals.size();
  for (std::size_t i = 0; i < size; ++i) {
    if (i + slot_ahead < size)
      __builtin_prefetch(slots + globals[i + slot_ahead], 1);
    const auto id = globals[i];
    const auto found = slots[id];
    const auto local = number_of(found, known);
    slots[id] = local;
    list[known] = id; // Stays there only if the id is new.
    known -= is_new(found);
    locals[i] = local;
  }
  ids.resize(static_cast<std::size_t>(known));
}

template <class Id>
void id_table::number_hashed(std::span<const Id> globals, local_id* locals,
                             pod_vector<node_id>& ids) {
  auto* slots = slots_.data();
  auto* list = ids.data();
  auto known = static_cast<local_id>(ids.size());
  const auto slot_count = slots_.size();
  const auto size = globals.size();
  std::array<std::uint32_t, block + slot_ahead> homes;
  for (std::size_t i = 0; i < size; ++i)
    homes[i] = home_of(globals[i], slot_count);
  std::fill_n(homes.begin() + size, slot_ahead, 0);
  for (std::size_t i = 0; i < size; ++i) {
    __builtin_prefetch(slots + homes[i + slot_ahead], 1);
    __builtin_prefetch(list + std::max(slots[homes[i + id_ahead]], 0));
    const auto id = static_cast<node_id>(globals[i]);
    std::size_t slot = homes[i];
    auto found = slots[slot];
    while (!ends_search(found, list, id))
      [[unlikely]] {
        slot = next_slot(slot, slot_count);
        found = slots[slot];
      }
    const auto local = number_of(found, known);
    slots[slot] = local;
    list[known] = id;
    known -= is_new(found);
    locals[i] = local;
  }
  ids.resize(static_cast<std::size_t>(known));
}

template <class Id>
void id_table::number(std::span<const Id> globals, local_id* locals,
                      pod_vector<node_id>& ids) {
  for (std::size_t at = 0; at < globals.size(); at += block) {
    const auto some = globals.subspan(at, std::min(block, globals.size() - at));
    make_room(ids, some.size());
    reserve(ids, static_cast<std::int64_t>(ids.size() + some.size()));
    if (direct())
      number_direct(some, locals + at, ids);
    else
      number_hashed(some, locals + at, ids);
  }
}

local_id id_table::find(node_id global, const pod_vector<node_id>& ids) const {
  if (global < 0 || global >= universe_ || slots_.empty())
    return unused;
  if (direct())
    return slots_[static_cast<std::size_t>(global)];
  auto slot = std::size_t{home_of(global, slots_.size())};
  while (!ends_search(slots_[slot], ids.data(), global))
    slot = next_slot(slot, slots_.size());
  return slots_[slot];
}

template void id_table::number(std::span<const std::int32_t>, local_id*,
                               pod_vector<node_id>&);
template void id_table::number(std::span<const std::int64_t>, local_id*,
                               pod_vector<node_id>&);

} // namespace graphmill
