#pragma once

#include "actors/transport/sessions/address.hpp"
#include "actors/transport/sessions/server_session.hpp"
#include "actors/transport/sockets/connections/authenticator.hpp"
#include "actors/transport/sockets/connections/local_socket.hpp"
#include "actors/transport/sockets/connections/outbox.hpp"
#include "actors/transport/sockets/door.hpp"
#include "actors/transport/sockets/mailbox.hpp"
#include "actors/transport/sockets/transport_context.hpp"

#include <zmq.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace graphmill {

/// The serving side of the transport: moves messages between the port and the
/// session of those who call us. Without a port, its session still exists: it
/// keeps what callers learn of peers. For the transport's thread alone.
class serving_side {
public:
  /// @param context Outlives this.
  serving_side(transport_context& context, std::shared_ptr<mailbox> box);

  /// Listens, and sets our address in the context. Throws what cppzmq throws.
  result<void> listen(const endpoint& where);
  /// After `listen`, if there is something to listen at.
  void begin();
  /// Why there is no local socket, if there should be one.
  const std::string& without_local() const { return without_local_; }

  server_session& session() { return *session_; }

  /// Takes what has come, for as long as it is our turn.
  void serve();
  void tick();
  void flush() { outbox_.flush(context_.now()); }
  session_time next_tick() const;
  void add_polls(std::vector<zmq::pollitem_t>& polls);
  /// Whether answers wait for a socket, which does not tell when it has room.
  bool waits() const { return outbox_.waits(); }

  void answer(mailbox::answer done);
  /// Other keys let in from now on: those of the context.
  void look_at_keys();
  /// Sends an answer that was held back.
  void hand_out(const std::string& connection_id, message outgoing);
  /// Ends the connections of all who call us.
  void cut();
  /// What was to be sent gets this time after our end.
  void linger(std::chrono::milliseconds time);

private:
  result<void> listen_locally();
  void receive(arrival got);
  void pump();
  void act(server_session::effect& effect);
  void deliver(server_session::deliver& request);
  void end_stalled();
  void drop(const server_session::drop& ended);

  transport_context& context_;
  std::shared_ptr<mailbox> box_;
  std::optional<authenticator> authenticator_;
  std::optional<zmq::socket_t> port_; ///< The ROUTER, if we listen.
  std::optional<local_socket> local_; ///< What `port_` listens at, too.
  std::string without_local_;
  std::optional<door> door_;              ///< Of the port.
  std::optional<server_session> session_; ///< There from `begin` on.
  outbox outbox_;
  int descriptor_ = -1; ///< Of the connection whose message is looked at.
  /// Routes of ended connections: what they had sent before is ignored.
  std::set<std::string> ended_;
  std::deque<std::string> ended_order_;
  std::uint64_t duplicates_ = 0; ///< As far as the counters have them already.
};

} // namespace graphmill
