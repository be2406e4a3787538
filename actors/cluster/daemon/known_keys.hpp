#pragma once

#include "actors/transport/sockets/connections/key_table.hpp"
#include "messages/wire/run.hpp"

#include <map>
#include <string>
#include <vector>

namespace graphmill {

/// Where keys have roles: whom a daemon that is not the coordinator lets in
/// beside that, and whose key it expects at which address. Part of the AGENT's
/// state. Pure.
class known_keys {
public:
  /// The coordinator has told of all daemons of the cluster.
  void hear(std::vector<key_holder> daemons) { daemons_ = std::move(daemons); }

  /// Whom a run brings together know each other's keys from its begin on.
  /// Runs that are not beside it are forgotten.
  /// @param admitted Who is let in anyhow.
  void begin(const deployment& assignment, const key_table& admitted);

  /// @param admitted Who is let in anyhow.
  key_table with(key_table admitted) const;

private:
  std::vector<key_holder> daemons_; ///< Of the cluster.
  /// Keys of daemons of runs: by run, then by address.
  std::map<std::string, std::map<std::string, std::string>> servers_;
};

} // namespace graphmill
