#include "partition/importers/csv/text/id_map.hpp"

#include <algorithm>
#include <cstring>

namespace graphmill {

namespace {

/// A place is the number of a chunk, from 1, above the byte in the chunk.
constexpr unsigned chunk_bits = 20;
constexpr std::size_t chunk_bytes = std::size_t{1} << chunk_bits;
/// So 16 TiB of ids can be told apart.
constexpr unsigned place_bits = 44;
constexpr std::uint64_t place_mask = (std::uint64_t{1} << place_bits) - 1;
constexpr std::size_t least_slots = 16;

/// An entry begins with its number above the size of the text; a text that is
/// too long for that has its size behind it.
constexpr unsigned size_bits = 16;
constexpr std::uint64_t long_size = (std::uint64_t{1} << size_bits) - 1;

/// The bits of a hash that are kept beside a place. Slots are chosen by the
/// lowest ones.
std::uint64_t tag_of(std::size_t hash) {
  return static_cast<std::uint64_t>(hash) & ~place_mask;
}

std::uint64_t word_at(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

} // namespace

std::pair<node_id, bool> id_map::insert(const hashed_id& id) {
  // Three quarters full at most, or looking for an id would take long.
  if (4 * (places_.size() + 1) > 3 * slots_.size())
    grow();
  auto& slot = slots_[slot_of(id)];
  if (slot != 0)
    return {entry_at(slot & place_mask).number, false};
  const auto number = size();
  const auto place = keep(id.text);
  places_.push_back(place);
  slot = tag_of(id.hash) | place;
  return {number, true};
}

std::optional<node_id> id_map::find(const hashed_id& id) const {
  if (slots_.empty())
    return std::nullopt;
  const auto slot = slots_[slot_of(id)];
  if (slot == 0)
    return std::nullopt;
  return entry_at(slot & place_mask).number;
}

std::uint64_t id_map::bytes() const {
  return entry_bytes_
         + (places_.size() + slots_.size()) * sizeof(std::uint64_t);
}

/// Where an id is, or else the free slot where it belongs. Reads the text of
/// ids alone whose hash is like that of the one that is looked for.
std::size_t id_map::slot_of(const hashed_id& id) const {
  const auto mask = slots_.size() - 1;
  const auto tag = tag_of(id.hash);
  auto at = first_slot(id.hash);
  for (; slots_[at] != 0; at = (at + 1) & mask)
    if ((slots_[at] & ~place_mask) == tag
        && entry_at(slots_[at] & place_mask).name == id.text)
      break;
  return at;
}

id_map::entry id_map::entry_at(std::uint64_t place) const {
  const auto* at =
    chunks_[(place >> chunk_bits) - 1].get() + (place & (chunk_bytes - 1));
  const auto head = word_at(at);
  auto size = head & long_size;
  at += sizeof head;
  if (size == long_size) {
    size = word_at(at);
    at += sizeof size;
  }
  return {static_cast<node_id>(head >> size_bits), {at, size}};
}

/// Writes the entry of the next id.
/// @returns its place.
std::uint64_t id_map::keep(std::string_view id) {
  const auto head = static_cast<std::uint64_t>(size()) << size_bits
                    | std::min<std::uint64_t>(id.size(), long_size);
  const auto is_long = id.size() >= long_size;
  const auto needed = id.size() + (is_long ? 2 : 1) * sizeof head;
  if (used_bytes_ + needed > last_bytes_) {
    last_bytes_ = std::max(chunk_bytes, needed);
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(last_bytes_));
    used_bytes_ = 0;
    entry_bytes_ += last_bytes_;
  }
  const auto place = chunks_.size() << chunk_bits | used_bytes_;
  auto* at = chunks_.back().get() + used_bytes_;
  std::memcpy(at, &head, sizeof head);
  at += sizeof head;
  if (is_long) {
    const std::uint64_t size = id.size();
    std::memcpy(at, &size, sizeof size);
    at += sizeof size;
  }
  std::ranges::copy(id, at);
  used_bytes_ += needed;
  return place;
}

void id_map::grow() {
  const auto wanted = std::max(least_slots, 2 * slots_.size());
  // Freed first, which `{}` alone would not do: the ids say where they belong.
  slots_ = decltype(slots_){};
  slots_.resize(wanted, 0);
  // They are all different, so that none has to be compared.
  for (const auto place : places_) {
    const hashed_id id{entry_at(place).name};
    auto at = first_slot(id.hash);
    while (slots_[at] != 0)
      at = (at + 1) & (wanted - 1);
    slots_[at] = tag_of(id.hash) | place;
  }
}

} // namespace graphmill
