#pragma once

#include "actors/transport/sessions/peer.hpp"
#include "actors/transport/sessions/responder.hpp"
#include "messages/base/error.hpp"
#include "messages/wire/cluster.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace graphmill {

/// A line of the audit log: who did what to which thing, and how that ended.
struct audit_entry {
  unix_time time{0};
  std::string who;   ///< As it named itself; empty if it did not. Or a file.
  std::string key{}; ///< Of which role and name its key is, if keys have roles.
  std::string host{};   ///< Whence it connected, as the system told.
  std::string what;     ///< The method.
  std::string object{}; ///< A run, or a daemon.
  bool done = true;
  std::string why{};       ///< Why not, if it was refused.
  std::string code{};      ///< The same as the code of the error.
  std::uint64_t times = 1; ///< As often as that since the last such line.
};

/// What is noted of a request that was answered: of all that change something,
/// and of what was refused for lack of permission. Nothing of others. Holds
/// nothing of a request but whom or what it is about.
std::optional<audit_entry> audit_of(const incoming_request& request,
                                    const result<payload>& answer);

/// What is noted of who met a limit of clients, or has another key.
audit_entry audit_of(const access_refusal& refusal);

/// The line, without its end. Control characters and what is no UTF-8 are
/// escaped or replaced; long texts are cut.
std::string json_line(const audit_entry& entry);

} // namespace graphmill
