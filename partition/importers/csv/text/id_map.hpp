#pragma once

#include "messages/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// An id and its hash, for maps in which it is looked for.
struct hashed_id {
  std::string_view text; ///< Refers to what it was made of.
  std::size_t hash;

  hashed_id(std::string_view of)
    : text(of), hash(std::hash<std::string_view>{}(of)) {}
};

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
  std::pair<node_id, bool> insert(const hashed_id& id);
  std::pair<node_id, bool> insert(std::string_view id) {
    return insert(hashed_id{id});
  }

  /// The number of an id, if it has come.
  std::optional<node_id> find(const hashed_id& id) const;
  std::optional<node_id> find(std::string_view id) const {
    return find(hashed_id{id});
  }

  /// Begins to load what looking for an id reads first, which is rarely in a
  /// cache: other work can be done until it is there.
  void prefetch(const hashed_id& id) const {
    if (!slots_.empty())
      __builtin_prefetch(&slots_[first_slot(id.hash)]);
  }

  /// How many ids have come.
  node_id size() const { return static_cast<node_id>(places_.size()); }

  /// The id with a number below `size`; valid as long as the map.
  std::string_view name(node_id number) const {
    return entry_at(places_[static_cast<std::size_t>(number)]).name;
  }

  /// How many bytes of memory it takes.
  std::uint64_t bytes() const;

private:
  /// What is kept of an id, side by side in memory.
  struct entry {
    node_id number;
    std::string_view name;
  };

  std::size_t first_slot(std::size_t hash) const {
    return hash & (slots_.size() - 1);
  }
  std::size_t slot_of(const hashed_id& id) const;
  entry entry_at(std::uint64_t place) const;
  std::uint64_t keep(std::string_view id);
  void grow();

  std::vector<std::unique_ptr<char[]>> chunks_; ///< The entries.
  std::size_t used_bytes_ = 0;                  ///< Of the last chunk.
  std::size_t last_bytes_ = 0;                  ///< Its size.
  std::uint64_t entry_bytes_ = 0;               ///< The sizes of all chunks.
  std::deque<std::uint64_t> places_;            ///< Of entries, by number.
  /// The place of an entry beside some bits of its hash, at or after the slot
  /// that the others say; 0: free. As many as a power of two.
  std::vector<std::uint64_t> slots_;
};

} // namespace graphmill
