#pragma once

#include "messages/ids.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace graphmill {

/// Numbers the ids of one node type in the order in which they come.
class id_map {
public:
  /// @returns the number of an id, and whether it is new.
  std::pair<node_id, bool> insert(std::string_view id) {
    if (const auto there = find(id))
      return {*there, false};
    const auto number = static_cast<node_id>(names_.size());
    const auto at = numbers_.emplace(std::string{id}, number).first;
    names_.push_back(&at->first);
    return {number, true};
  }

  std::optional<node_id> find(std::string_view id) const {
    const auto at = numbers_.find(id);
    return at == numbers_.end() ? std::nullopt : std::optional{at->second};
  }

  node_id size() const { return static_cast<node_id>(names_.size()); }

  const std::string& name(node_id number) const {
    return *names_[static_cast<std::size_t>(number)];
  }

private:
  struct hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, node_id, hash, std::equal_to<>> numbers_;
  std::vector<const std::string*> names_; ///< Keys keep their place.
};

} // namespace graphmill
