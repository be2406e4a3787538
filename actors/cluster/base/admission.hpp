#pragma once

#include "actors/transport/sockets/connections/key_table.hpp"
#include "actors/transport/sockets/connections/keys.hpp"
#include "actors/transport/sockets/connections/members.hpp"
#include "messages/base/error.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// What the key of a daemon says about it: its name, and whom it lets in.
struct admission {
  std::string name; ///< As its user or its key says; empty: neither does.
  /// Only where keys have roles.
  std::optional<key_table> table;
  /// Of a coordinator whose keys have roles.
  std::vector<key_holder> members;
  std::shared_ptr<members_watch> watch;

  /// A sentence for the log. @param address Where the daemon listens.
  std::string described(const std::optional<curve_keys>& keys,
                        const std::string& address) const;
};

/// Fails with a sentence if the key is not one of such a daemon.
/// @param name As the user has it; empty: that of the key.
/// @param joins Whether it joins another daemon, which is the coordinator.
/// @param members The members file; empty: none is named.
result<admission> admission_of(const std::optional<curve_keys>& keys,
                               const std::string& name, bool joins,
                               const std::filesystem::path& members);

} // namespace graphmill
