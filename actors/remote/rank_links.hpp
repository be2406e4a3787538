#pragma once

#include "actors/transport/transport.hpp"
#include "messages/wire/run.hpp"
#include "pipelines/gradients/messages/rank_link.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

// How the ranks of gradient groups reach each other over the transport. Without
// actors: what ranks send goes from the transport's thread to its place.

namespace graphmill {

/// The daemon of each rank of a gradient group.
struct rank_places {
  std::string run;
  std::uint64_t generation = 0;
  std::vector<daemon_address> daemons; ///< By rank.
};

/// The ranks that live in this process: who takes what others send them.
/// Thread-safe; one for all groups.
class rank_inboxes {
public:
  /// From now on, messages to `rank` go to `inbox`, while that lives. The
  /// latest one of a rank counts.
  void open(const rank_places& group, rank_id rank,
            std::weak_ptr<rank_inbox> inbox);
  void close(const rank_places& group, rank_id rank,
             const std::weak_ptr<rank_inbox>& inbox);

  /// Hands on a message of a rank that lives here, too.
  void deliver(const gradient_message& head, frame bytes,
               message_answer done) const;

  /// Hands on what came from another daemon, or refuses it: what does not
  /// decode, is for a rank that is not here, or comes from another daemon than
  /// that of the rank that it names.
  /// @returns false if it is no message between ranks.
  bool serve(const incoming_request& request) const;

private:
  struct place {
    std::string run;
    std::uint64_t generation = 0;
    rank_id rank = 0;
    auto operator<=>(const place&) const = default;
  };
  struct resident {
    std::weak_ptr<rank_inbox> inbox;
    std::vector<daemon_address> daemons;
  };

  result<resident> find(const gradient_message& head) const;

  mutable std::mutex mutex_;
  std::map<place, resident> residents_;
};

/// For messages that a rank may let wait for `longest`, because it is not so
/// far yet. A connection may break, and be made anew, again and again
/// meanwhile.
call_options patience_of_ranks(std::chrono::milliseconds longest);

/// How `rank` of a group reaches the others: through `inboxes` those of its own
/// daemon, over `net`, which it may outlive, all others.
std::shared_ptr<rank_link> link_over(const transport& net,
                                     std::shared_ptr<rank_inboxes> inboxes,
                                     rank_places group, rank_id rank,
                                     const call_options& patience);

} // namespace graphmill
