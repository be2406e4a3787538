#pragma once

#include "actors/cluster/coordinator/leading/leading_parts.hpp"
#include "actors/cluster/coordinator/runs/attempt.hpp"
#include "actors/transport/sessions/peer.hpp"
#include "messages/wire/frame.hpp"
#include "messages/wire/run.hpp"

#include <functional>
#include <string>
#include <vector>

namespace graphmill {

class run_starter;

/// What daemons are ordered to do with their shares of runs: prepare them, end
/// them, and say whether they have them. Of the COORDINATOR's state, used in
/// its handlers alone.
class run_shares {
public:
  struct hooks {
    /// What a run is to do now.
    std::function<void(const run_ptr&, attempt::task)> go_on;
    /// A daemon of a run does not have its share.
    std::function<void(const run_ptr&, const std::string& daemon, const error&)>
      lost;
  };

  run_shares(const leading_parts& with, const run_starter& starter, hooks tell);

  void deploy(const run_ptr& run);

  /// All daemons have their shares of a feed: its consumer may begin passes.
  void begin_feed(const run_ptr& run);

  /// @param how With or without a verification, or to keep what trainers have.
  void end(const run_ptr& run, member_action how);

  /// A daemon that had lost the coordinator has ended its shares, but not one
  /// that began when it was heard again and had yet to register.
  void check(const peer_identity& identity);

private:
  void deployed(const run_ptr& run, const std::string& daemon,
                const result<payload>& answer);
  void ended(const run_ptr& run, const std::string& daemon,
             const result<payload>& answer);
  void audit(const submitted_run& run, const std::string& daemon,
             const result<payload>& answer) const;
  void distrust(const submitted_run& run,
                const std::vector<std::string>& daemons, const std::string& by);

  leading_parts with_;
  const run_starter& starter_;
  hooks tell_;
};

} // namespace graphmill
