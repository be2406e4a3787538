#pragma once

#include "actors/remote/rank_links.hpp"
#include "pipelines/gradients/roll_call.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace graphmill::test {

/// Daemons of this process on loopback, with the ranks of gradient groups and
/// nothing else.
class rank_daemons {
public:
  /// May change how a daemon is started.
  using tuning = std::function<void(std::size_t daemon, transport_options&)>;

  /// @param unreachable After that a daemon is lost.
  explicit rank_daemons(
    std::size_t count, const tuning& tune = {},
    std::chrono::milliseconds unreachable = std::chrono::minutes{3});

  /// The way of a rank to the others.
  /// @param daemon_of_rank None: each rank has a daemon of its own.
  std::shared_ptr<rank_link>
  link(const group_options& of,
       const std::vector<std::size_t>& daemon_of_rank = {});

  transport& net(std::size_t daemon) { return *daemons_[daemon].net; }
  const rank_inboxes& inboxes(std::size_t daemon) const {
    return *daemons_[daemon].inboxes;
  }
  /// What it exchanges with others; counts none until it is told whose.
  peer_flows& flows(std::size_t daemon) { return *daemons_[daemon].flows; }
  daemon_address address(std::size_t daemon) const;
  /// Ends a daemon, as if its process had been killed: nobody is told.
  void kill(std::size_t daemon) { daemons_[daemon].net.reset(); }

private:
  struct place {
    std::shared_ptr<rank_inboxes> inboxes;
    std::shared_ptr<peer_flows> flows;
    std::shared_ptr<transport> net;
    daemon_address address;
  };
  const std::chrono::milliseconds unreachable_;
  std::vector<place> daemons_;
};

} // namespace graphmill::test
