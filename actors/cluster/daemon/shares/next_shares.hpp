#pragma once

#include "actors/transport/sessions/responder.hpp"
#include "messages/wire/run.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// Deployments that wait until the share of an earlier attempt at the same run
/// has ended here. The coordinator's request is answered once the share is
/// prepared, or dropped. Used in the AGENT's handlers alone.
class next_shares {
public:
  struct entry {
    deployment assignment;
    responder reply;
  };

  /// Takes the place of one that waits for the same run.
  void put(entry next);

  /// Whether a request is about one that waits: of its attempt, or of none.
  bool is_about(const member_request& wanted) const;

  /// @returns what waits for the end of the run's share; nothing: none does.
  std::optional<entry> take(const std::string& run);

  /// Refuses that of a run, if there is one.
  void drop(const std::string& run, const error& reason);
  /// Refuses those of all runs but these.
  void drop_all(const error& reason, const std::vector<std::string>& but = {});

private:
  std::map<std::string, entry> waiting_; ///< By run.
};

} // namespace graphmill
