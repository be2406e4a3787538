#pragma once

#include "actors/transport/transport.hpp"
#include "messages/wire/run.hpp"
#include "pipelines/gradients/messages/rank_link.hpp"
#include "pipelines/health/peer_flows.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

// How the ranks of gradient groups reach each other over the transport. No
// actor takes part: the transport's thread itself puts what ranks send where it
// belongs.

namespace graphmill {

/// Which daemon has each rank of a gradient group. A value type.
struct rank_places {
  std::string run;
  std::uint64_t generation = 0;
  std::vector<daemon_address> daemons; ///< By rank.
};

/// The ranks that live in this process, and who takes what others send them.
/// One object serves all gradient groups of a daemon. Thread-safe: ranks open
/// and close on their threads while messages come on the transport's. It holds
/// its lock to find an inbox and never while that works; it owns no inbox, so a
/// rank may go at any time.
class rank_inboxes {
public:
  /// @param flows Count what goes between here and other daemons; null: nobody
  /// does.
  explicit rank_inboxes(std::shared_ptr<const peer_flows> flows = nullptr)
    : flows_(std::move(flows)) {}

  /// From now on, messages to `rank` go to `inbox`, while that lives. If a rank
  /// of a generation opens more than once, the latest inbox counts.
  void open(const rank_places& group, rank_id rank,
            std::weak_ptr<rank_inbox> inbox);
  /// From now on, messages to `rank` are refused as `unavailable`, unless
  /// another inbox than this one has been opened for it.
  void close(const rank_places& group, rank_id rank,
             const std::weak_ptr<rank_inbox>& inbox);

  /// Hands a message to the rank that it is for, or answers `unavailable` if
  /// that is not here. Who has sent it is not checked: it is a rank of this
  /// process.
  void deliver(const gradient_message& head, frame bytes,
               message_answer done) const;

  /// Hands on what came from another daemon; called on the transport's thread.
  /// Refuses what does not decode, what is for a rank that is not here, and
  /// what comes from another daemon than that of the rank that it names as its
  /// sender. The request is answered when the rank answers.
  /// @returns false, and leaves the request alone, if it is no message between
  /// ranks.
  bool serve(const incoming_request& request) const;

  /// Where what goes to a daemon, or comes from it, is counted; null: nowhere.
  std::shared_ptr<peer_flow> flow_to(const std::string& daemon) const {
    return flows_ ? flows_->to(daemon) : nullptr;
  }

private:
  struct place {
    std::string run;
    std::uint64_t generation = 0;
    rank_id rank = 0;
    auto operator<=>(const place&) const = default;
  };
  struct resident {
    std::weak_ptr<rank_inbox> inbox;
    std::shared_ptr<const std::vector<daemon_address>> daemons; ///< By rank.
  };

  result<resident> find(const gradient_message& head) const;

  const std::shared_ptr<const peer_flows> flows_;
  mutable std::mutex mutex_;
  std::map<place, resident> residents_;
};

/// How a message is sent that a rank may let wait for `longest`, because it is
/// not so far yet: it is sent again however often the connection breaks and is
/// made anew meanwhile, and fails after `longest` at the latest.
call_options patience_of_ranks(std::chrono::milliseconds longest);

/// Makes the link by which `rank` of a group reaches the others: those of its
/// own daemon through `inboxes`, all others over `net`. It may outlive `net`;
/// what it sends then fails as cancelled.
std::shared_ptr<rank_link> link_over(const transport& net,
                                     std::shared_ptr<rank_inboxes> inboxes,
                                     rank_places group, rank_id rank,
                                     const call_options& patience);

} // namespace graphmill
