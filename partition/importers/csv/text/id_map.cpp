#include "partition/importers/csv/text/id_map.hpp"

#include <algorithm>
#include <functional>

namespace graphmill {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
constexpr std::size_t least_slots = 16;

} // namespace

std::pair<node_id, bool> id_map::insert(std::string_view id) {
  // Three quarters full at most, or looking for an id would take long.
  if (4 * (names_.size() + 1) > 3 * slots_.size())
    grow();
  auto& slot = slots_[slot_of(id)];
  if (slot != free_slot)
    return {slot, false};
  const auto number = size();
  names_.push_back(keep(id));
  slot = number;
  return {number, true};
}

std::optional<node_id> id_map::find(std::string_view id) const {
  if (slots_.empty())
    return std::nullopt;
  const auto number = slots_[slot_of(id)];
  return number == free_slot ? std::nullopt : std::optional{number};
}

std::uint64_t id_map::bytes() const {
  return text_bytes_ + names_.size() * sizeof(std::string_view)
         + slots_.size() * sizeof(node_id);
}

/// Where an id is, or else the free slot where it belongs.
std::size_t id_map::slot_of(std::string_view id) const {
  const auto mask = slots_.size() - 1;
  auto at = std::hash<std::string_view>{}(id)&mask;
  while (slots_[at] != free_slot && name(slots_[at]) != id)
    at = (at + 1) & mask;
  return at;
}

std::string_view id_map::keep(std::string_view id) {
  if (id.size() > free_bytes_) {
    free_bytes_ = std::max(chunk_bytes, id.size());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(free_bytes_));
    free_ = chunks_.back().get();
    text_bytes_ += free_bytes_;
  }
  const std::string_view kept{free_, id.size()};
  free_ = std::ranges::copy(id, free_).out;
  free_bytes_ -= id.size();
  return kept;
}

void id_map::grow() {
  const auto wanted = std::max(least_slots, 2 * slots_.size());
  // Freed first, which `{}` alone would not do: the ids say where they belong.
  slots_ = decltype(slots_){};
  slots_.resize(wanted, free_slot);
  for (node_id number = 0; number < size(); ++number)
    slots_[slot_of(name(number))] = number;
}

} // namespace graphmill
