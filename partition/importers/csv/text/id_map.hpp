#pragma once

#include "messages/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// Numbers the ids of one node type in the order in which they come: a hash
/// table with linear probing, beside chunks of memory with the text of the ids.
/// It takes that text and 28 to 40 bytes for each id. Nothing is ever removed.
/// Move-only; not thread-safe.
class id_map {
public:
  id_map() = default;
  id_map(id_map&&) = default;
  id_map& operator=(id_map&&) = default;
  ~id_map() = default;

  /// @returns the number of an id, and whether it is new.
  std::pair<node_id, bool> insert(std::string_view id);

  /// The number of an id, if it has come.
  std::optional<node_id> find(std::string_view id) const;

  /// How many ids have come.
  node_id size() const { return static_cast<node_id>(names_.size()); }

  /// The id with a number below `size`; valid as long as the map.
  std::string_view name(node_id number) const {
    return names_[static_cast<std::size_t>(number)];
  }

  /// How many bytes of memory it takes.
  std::uint64_t bytes() const;

private:
  static constexpr node_id free_slot = -1;

  std::size_t slot_of(std::string_view id) const;
  std::string_view keep(std::string_view id);
  void grow();

  std::vector<std::unique_ptr<char[]>> chunks_; ///< The text of the ids.
  char* free_ = nullptr; ///< Where the last chunk is not used yet.
  std::size_t free_bytes_ = 0;
  std::uint64_t text_bytes_ = 0;       ///< The sizes of all chunks.
  std::deque<std::string_view> names_; ///< By number.
  /// Numbers, at or after the place that an id's hash says; a power of two.
  std::vector<node_id> slots_;
};

} // namespace graphmill
