#pragma once

#include "actors/cluster/coordinator/runs/rendezvous_table.hpp"
#include "actors/transport/sessions/responder.hpp"
#include "messages/wire/run.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace graphmill {

/// Where the ranks of an attempt find each other: they leave values under keys,
/// and ask for those of others, for which they may wait.
class rendezvous_desk {
public:
  using clock = std::chrono::steady_clock;

  /// @param run For errors.
  void take(const std::string& run, const rendezvous_request& request,
            const responder& reply, clock::time_point now);

  /// Answers questions that have waited for long enough, or whose value has
  /// come.
  void look(clock::time_point now);

  /// Answers all questions and forgets all keys.
  void end();

private:
  struct question {
    std::string key;
    responder reply;
    clock::time_point until;
  };

  rendezvous_table table_;
  std::vector<question> questions_;
};

} // namespace graphmill
