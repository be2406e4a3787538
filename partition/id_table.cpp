#include "partition/id_table.hpp"

#include <algorithm>
#include <cstring>

namespace graphmill {

namespace {

constexpr local_id unused = -1;
constexpr std::size_t block = 2048; ///< Ids between checks of the list's room.
constexpr std::size_t slot_ahead = 24; ///< Elements between prefetch and use.
constexpr std::size_t id_ahead = 12;

/// Room for one block more, and one, for the list's end is written blindly.
void make_room(pod_vector<node_id>& ids) {
  if (ids.capacity() < ids.size() + block + 1)
    ids.reserve(std::max(ids.size() + ids.size() / 2, ids.size() + block + 1));
}

} // namespace

std::size_t id_table::home_of(node_id id) const {
  auto mixed = static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15ull;
  mixed ^= mixed >> 32;
  const auto high = (mixed * 0xbf58476d1ce4e5b9ull) >> 32;
  return (high * slots_.size()) >> 32;
}

void id_table::reserve(const pod_vector<node_id>& ids, std::int64_t total) {
  total = std::min(total, universe_);
  // At most three slots of four in use keeps probe sequences short.
  const auto wanted = std::max<std::int64_t>(64, total + total / 3 + 1);
  const auto have = static_cast<std::int64_t>(slots_.size());
  if (direct() || have >= wanted)
    return;
  const auto size = universe_ <= 2 * wanted ? universe_ : wanted;
  slots_.clear();
  slots_.resize(static_cast<std::size_t>(size));
  std::memset(slots_.data(), 0xff, slots_.size() * sizeof(local_id));
  if (direct()) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      slots_[static_cast<std::size_t>(ids[i])] = static_cast<local_id>(i);
    return;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto slot = home_of(ids[i]);
    while (slots_[slot] != unused)
      slot = slot + 1 == slots_.size() ? 0 : slot + 1;
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
    const auto fresh = found == unused;
    const auto local = fresh ? known : found;
    slots[id] = local;
    list[known] = id; // Stays only if the id is new: no branch to mispredict.
    known += fresh ? 1 : 0;
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
  const auto size = globals.size();
  for (std::size_t i = 0; i < size; ++i) {
    if (i + slot_ahead < size)
      __builtin_prefetch(slots + home_of(globals[i + slot_ahead]), 1);
    if (i + id_ahead < size) {
      const auto guess = slots[home_of(globals[i + id_ahead])];
      __builtin_prefetch(list + std::max(guess, 0));
    }
    const auto id = static_cast<node_id>(globals[i]);
    auto slot = home_of(id);
    while (slots[slot] != unused && list[slots[slot]] != id)
      slot = slot + 1 == slots_.size() ? 0 : slot + 1;
    if (slots[slot] == unused) {
      slots[slot] = known;
      list[known++] = id;
    }
    locals[i] = slots[slot];
  }
  ids.resize(static_cast<std::size_t>(known));
}

template <class Id>
void id_table::number(std::span<const Id> globals, local_id* locals,
                      pod_vector<node_id>& ids) {
  for (std::size_t at = 0; at < globals.size(); at += block) {
    make_room(ids);
    const auto some = globals.subspan(at, std::min(block, globals.size() - at));
    if (direct())
      number_direct(some, locals + at, ids);
    else
      number_hashed(some, locals + at, ids);
  }
}

template void id_table::number(std::span<const std::int32_t>, local_id*,
                               pod_vector<node_id>&);
template void id_table::number(std::span<const std::int64_t>, local_id*,
                               pod_vector<node_id>&);

} // namespace graphmill
