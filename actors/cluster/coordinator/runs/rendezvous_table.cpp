#include "actors/cluster/coordinator/runs/rendezvous_table.hpp"

#include <utility>

namespace graphmill {

namespace {

/// What the map takes for an entry beside its texts, about.
constexpr std::size_t entry_bytes = 128;

} // namespace

result<void> rendezvous_table::set(const std::string& key, std::string value) {
  if (key.size() > longest_key || value.size() > largest_value)
    return fail(ec::invalid_argument,
                "a rendezvous takes keys of {} and values of {} bytes at most, "
                "not {} and {}",
                longest_key, largest_value, key.size(), value.size());
  const auto old = values_.find(key);
  const auto without =
    old == values_.end() ? bytes_ : bytes_ - old->second.size();
  const auto with = without + value.size()
                    + (old == values_.end() ? key.size() + entry_bytes : 0);
  if (with > most_bytes)
    return fail(ec::invalid_argument,
                "the rendezvous of this run holds {} bytes already; with {} "
                "more they would exceed {}",
                bytes_, with - bytes_, most_bytes);
  bytes_ = with;
  values_[key] = std::move(value);
  return ok();
}

const std::string* rendezvous_table::find(const std::string& key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? nullptr : &it->second;
}

} // namespace graphmill
