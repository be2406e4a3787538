#pragma once

#include "actors/transport/sockets/connections/keys.hpp"
#include "messages/wire/role.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// Whose keys let in, and which keys those have whom we ask. A value: what the
/// transport has is replaced as a whole.
struct key_table {
  std::map<std::string, key_holder> holders; ///< By public key.
  /// Public keys of daemons, by address; ours and the coordinator's need not be
  /// there.
  std::map<std::string, std::string> servers;

  /// What the holder of `keys` knows without asking anybody: for a daemon, the
  /// coordinator.
  static key_table of(const curve_keys& keys) {
    key_table out;
    if (keys.role == key_role::daemon)
      out.add({key_role::coordinator, {}, keys.coordinator_key});
    else
      out.add({keys.role, keys.name, keys.public_key});
    return out;
  }

  void add(key_holder holder) {
    auto key = holder.key;
    holders.insert_or_assign(std::move(key), std::move(holder));
  }

  void add(const std::vector<key_holder>& all) {
    for (const auto& holder : all)
      add(holder);
  }

  /// @returns null if the key lets nobody in.
  const key_holder* find(const std::string& key) const {
    const auto at = holders.find(key);
    return at == holders.end() ? nullptr : &at->second;
  }
};

} // namespace graphmill
