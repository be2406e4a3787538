#pragma once

#include "actors/transport/sessions/address.hpp"
#include "actors/transport/sockets/connections/handshake_view.hpp"
#include "actors/transport/sockets/connections/keys.hpp"
#include "actors/transport/sockets/connections/unfinished.hpp"
#include "actors/transport/sockets/connections/wire_io.hpp"

#include <zmq.hpp>

#include <array>
#include <optional>
#include <string>

namespace graphmill {

/// Why a link is of no use any more.
struct link_failure {
  error reason;
  /// Whether the reason is known; else it is the likeliest one, if the same
  /// happens again.
  bool certain = true;
};

/// The two connections to one peer, a DEALER per channel. It never connects
/// again by itself: when a connection breaks, it says so, and another link must
/// be made.
class peer_link {
public:
  /// @param keys Of the connections over TCP; outlive this.
  /// @param server_key Public, of the peer; of no meaning without keys.
  peer_link(const endpoint& peer, const std::optional<curve_keys>& keys,
            std::string server_key, traffic& counters);
  ~peer_link();
  peer_link(const peer_link&) = delete;
  peer_link& operator=(const peer_link&) = delete;

  /// Begins to connect a channel, once. Throws what cppzmq throws.
  void connect(zmq::context_t& context, channel over);

  /// The same by a local socket, in the clear.
  void connect_locally(zmq::context_t& context, channel over,
                       const std::string& socket_file);

  /// What is sent over a channel that is not connected yet waits.
  void send(channel over, message outgoing);

  /// Sends what waits on either channel.
  void flush();

  std::optional<arrival> receive(channel over);

  const std::string& server_key() const { return server_key_; }

  /// Why a connection is broken, or to be ended, if one is.
  std::optional<link_failure> broken(session_time now);

  /// When `broken` should be asked again.
  session_time next_tick() const { return unfinished_.next_tick(); }

  /// Gives what was sent that much time to leave after this link has ended.
  void linger(std::chrono::milliseconds time);

  void add_polls(std::vector<zmq::pollitem_t>& items);

private:
  struct connection {
    zmq::socket_t socket;
    zmq::socket_t monitor; ///< Of what happens to `socket`.
    handshake_view handshake;
    send_queue queue;
    bool is_local = false;
    bool has_shaken_hands = false; ///< Libzmq has, by the peer's key.

    bool is_open() const { return socket.handle() != nullptr; }
  };

  connection& at(channel over) {
    return channels_[static_cast<std::size_t>(over)];
  }
  void open(zmq::context_t& context, channel over, const std::string& address);
  std::optional<link_failure> look(connection& of);
  std::optional<link_failure> failure_of(const connection& of,
                                         const socket_event& event) const;

  traffic& counters_;
  const std::optional<curve_keys>& keys_;
  std::string server_key_;
  endpoint peer_;
  std::array<connection, 2> channels_;
  unfinished_messages unfinished_; ///< Of what the peer sends.
};

} // namespace graphmill
