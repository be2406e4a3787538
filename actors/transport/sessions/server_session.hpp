#pragma once

#include "actors/transport/sessions/client_shares.hpp"
#include "actors/transport/sessions/message.hpp"
#include "actors/transport/sessions/peer.hpp"
#include "actors/transport/sessions/reply_cache.hpp"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace graphmill {

/// Whence a message came, as the sockets tell.
struct message_origin {
  /// It came by the local socket: its sender may be any process of our user,
  /// with a key or not.
  bool is_local = false;
  /// Whose key the sender has shown; of no meaning if it came locally.
  key_holder holder{};
  std::string host{}; ///< Of the connection's other end.
};

/// The serving end of all connections to our port: who is there, which requests
/// are under way, and which were answered already. A request that is repeated
/// while it runs is attached to the one that runs; one that was answered gets
/// the same answer again, unless its method may simply run again. Like
/// caller_session, it does no I/O and has no clock.
class server_session {
public:
  /// A connection: the routing id that the socket gives it.
  using connection_id = std::string;

  /// However many descriptors a daemon has.
  static constexpr std::size_t most_peers = 4096;

  struct settings {
    hello_message self; ///< Channel and token are filled in here.
    /// There is a local socket, too. Then whoever greets over a control channel
    /// gets a token, with which a data channel may come by that socket.
    bool local = false;
    std::uint64_t reply_cache_bytes = std::uint64_t{64} << 20;
    std::size_t max_peers = most_peers;
    std::size_t max_running = 4096; ///< Requests per peer.
    /// The most bytes of requests under way, of all peers and of one. A peer
    /// may always have one request, however large, if all together have room
    /// for it.
    std::uint64_t max_bytes = std::uint64_t{256} << 20;
    std::uint64_t max_peer_bytes = std::uint64_t{64} << 20;
    /// So that no client starves the others; none where all know each other.
    std::optional<client_limits> fair{};
  };

  // -- effects: what the owner must do, in the order of `take`
  struct send {
    server_session::connection_id to;
    message content;
  };
  struct deliver {
    std::uint64_t token; ///< For `answer`.
    graphmill::method method;
    peer_identity from;
    payload data;
    session_time deadline;
    std::string host{}; ///< Whence its sender has connected.
  };
  /// Ends a connection whose sender does not keep to the protocol.
  struct drop {
    server_session::connection_id connection;
    std::string reason;
  };
  /// Whoever is at the other end of a connection must say anew who it is.
  struct estrange {
    server_session::connection_id connection;
  };
  /// Something that whoever runs the daemon should know.
  struct note {
    std::string sentence;
  };
  using effect = std::variant<send, deliver, drop, estrange, note, peer_event,
                              access_refusal>;

  explicit server_session(settings with);

  void receive(session_time now, const connection_id& from, message incoming,
               const message_origin& whence = {});

  /// Keys may have been revoked: whoever has one that is not sound any more
  /// fails with all it has under way, and loses its connections.
  void look_at_keys(session_time now,
                    const std::function<bool(const key_holder&)>& is_sound);

  /// We keep a connection of our own to a peer, or none any more: it has a
  /// place here however many others come.
  void keep(const std::string& address, const std::string& incarnation);
  void unkeep(const std::string& address);

  /// What came over a connection is not a message.
  void malformed(const connection_id& from, std::string reason);

  /// A connection is gone. A peer that has no other connection is lost soon,
  /// even if its handshake asked for a longer time of silence.
  void disconnected(const connection_id& connection);

  /// Gives the answer to what was delivered. To be called once for each token.
  void answer(session_time now, std::uint64_t token, result<payload> answer);
  void tick(session_time now);

  session_time next_tick() const;
  std::vector<effect> take();

  /// Whether somebody who has shaken hands is at the other end.
  bool knows(const connection_id& connection) const {
    return connections_.contains(connection);
  }

  std::uint64_t duplicates() const { return duplicates_; }
  /// Requests that were told to come again.
  std::uint64_t put_off() const { return put_off_; }
  std::size_t running() const { return running_.size(); }
  std::size_t peers() const { return peers_.size(); }

private:
  struct peer {
    peer_identity identity; ///< With the holder of its control channel's key.
    std::string host;       ///< Whence it has connected first.
    std::string home;       ///< What counts as one host with that.
    std::array<server_session::connection_id, 2>
      connections;              ///< By channel; may be empty.
    std::array<bool, 2> gone{}; ///< Their connections, by channel.
    std::string token; ///< Given over the control channel; empty: none.
    session_time last_heard;
    session_time::duration lost_after;
    std::size_t running = 0;
    std::uint64_t bytes = 0; ///< Of what runs.
  };
  struct place {
    std::string seat; ///< Of its peer.
    graphmill::channel channel;
    std::string key; ///< Shown over it; empty by the local socket.
  };
  struct task {
    request_key key;
    graphmill::method method;
    request_class counts_as; ///< By the limits of clients.
    graphmill::channel channel;
    std::uint16_t attempt;
    session_time deadline;
    std::uint64_t bytes;
    std::string home; ///< Of its sender.
  };

  using peers_by_seat = std::map<std::string, peer>;

  void hello(session_time now, const connection_id& from,
             const message& incoming, const message_origin& whence);
  peers_by_seat::iterator find_incarnation(const std::string& incarnation);
  bool may_come_locally(const hello_message& hello);
  bool make_place(session_time now, const connection_id& from,
                  const envelope& head, const hello_message& hello,
                  const message_origin& whence);
  result<void> check_holder(const hello_message& hello,
                            const key_holder& holder);
  std::string greet(session_time now, const connection_id& from,
                    const hello_message& hello, const message_origin& whence);
  void request(session_time now, const connection_id& from, const place& at,
               message incoming);
  void leave_seat(connection_id& seat);
  bool has_room(const peer& caller, std::uint64_t bytes) const;
  void come_again(const connection_id& from, const envelope& head,
                  const peer& caller);
  void put_off(const connection_id& from, const envelope& head,
               const peer_identity& who, const std::string& host,
               client_shares::refusal how);
  void beat(const connection_id& from);
  void reply(const connection_id& to, const envelope& question,
             result<payload> answer);
  void end(const connection_id& connection, std::string reason);
  void forget(session_time now, peers_by_seat::iterator caller,
              peer_event::kind change, std::string reason);
  message answer_to(const envelope& question, result<payload> answer) const;

  settings with_;
  /// Those who are there, by incarnation and key: nobody gets the answers of
  /// another one by its incarnation, whether that is there or not.
  peers_by_seat peers_;
  std::unordered_map<connection_id, place> connections_;
  std::map<request_key, std::uint64_t> running_; ///< Tokens.
  std::unordered_map<std::uint64_t, task> tasks_;
  reply_cache kept_;
  std::uint64_t next_token_ = 1;
  session_time next_expiry_{};
  std::uint64_t bytes_ = 0; ///< Of what runs.
  std::uint64_t duplicates_ = 0;
  std::uint64_t put_off_ = 0;
  std::optional<client_shares> shares_;
  std::vector<effect> effects_;
};

} // namespace graphmill
