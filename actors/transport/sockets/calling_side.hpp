#pragma once

#include "actors/transport/sessions/address.hpp"
#include "actors/transport/sessions/caller_session.hpp"
#include "actors/transport/sessions/server_session.hpp"
#include "actors/transport/sockets/connections/peer_link.hpp"
#include "actors/transport/sockets/connections/port_probe.hpp"
#include "actors/transport/sockets/mailbox.hpp"
#include "actors/transport/sockets/transport_context.hpp"

#include <zmq.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// The calling side of the transport: moves messages between the peers that we
/// call and a session for each. For the transport's thread alone.
class calling_side {
public:
  /// @param serves Learns of the peers that we have reached. Both outlive this.
  calling_side(transport_context& context, server_session& serves)
    : context_(context), serves_(serves) {}

  void request(mailbox::request& request);
  void keep(const mailbox::keep& request);

  /// Takes what has come, for as long as it is each peer's turn.
  void serve();
  void tick();
  session_time next_tick() const;
  void add_polls(std::vector<zmq::pollitem_t>& polls);

  /// Sends a message that was held back.
  void send(const message_faults::target& where, message content);
  /// Ends connections to those who have another key now, or none.
  void look_at_keys();
  /// @param peer Its address; empty: all.
  void cut(const std::string& peer);
  /// Fails what is outstanding.
  void finish();

private:
  struct caller {
    caller_session session;
    endpoint where;
    std::unique_ptr<peer_link> link; ///< While the session wants one.
    /// `where` as a numeric address, which a probe needs. It is known once a
    /// first message has come over a link; until then it is `where` itself.
    endpoint seen_at;
    bool seen = false;               ///< Whether this link has set `seen_at`.
    bool here = false;               ///< This link leads to our own machine.
    caller_session::counts reported; ///< What the counters have of it already.
    /// What the board of links has of it; nothing yet.
    std::optional<link_state> told = std::nullopt;
    std::unique_ptr<port_probe> probe; ///< Finds out why the link broke.
  };

  result<caller*> caller_of(const std::string& address);
  std::optional<std::string> key_of(const std::string& address) const;
  void receive(caller& of, channel over, arrival got);
  void pump(caller& of);
  void tell_link(caller& of);
  void act(caller& of, caller_session::effect& effect);
  void open(caller& of, const caller_session::open_link& how);
  void connect(caller& of, const caller_session::open_link& how);
  bool has_room_for_link() const;
  void broke(caller& of, const link_failure& failure);

  transport_context& context_;
  server_session& serves_;
  std::map<std::string, caller> callers_; ///< By address.
  std::uint64_t next_id_ = 1;
  std::uint64_t callers_made_ = 0;
};

} // namespace graphmill
