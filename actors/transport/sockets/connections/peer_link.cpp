#include "actors/transport/sockets/connections/peer_link.hpp"

#include "actors/transport/sockets/connections/local_socket.hpp"

#include <cerrno>
#include <utility>

namespace graphmill {

namespace {

/// Messages of a channel in libzmq's own queue; more wait in ours, which counts
/// bytes. A data message has up to some MiB.
constexpr int data_queue = 8;
constexpr int control_queue = 256;

constexpr int connect_timeout_ms = 3000;

/// How often libzmq asks whether the other end of a data channel is still in
/// step, and when it ends the connection for want of an answer. Bytes that came
/// twice, or were lost on the way, leave a connection that waits for the rest
/// of a frame for ever; a control channel, which has beats, shows that by
/// itself.
constexpr int step_check_ms = 5000;
constexpr int step_lost_ms = 20000;

constexpr std::uint64_t channels = 2;

constexpr int watched_events =
  ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_DISCONNECTED
  | ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED
  | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
  | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

/// Together they have no limit but these: an answer goes to memory that whoever
/// asked has reserved.
constexpr unfinished_messages::limits most_unfinished_there{
  .connection = most_of_a_message,
  .stranger = most_of_a_message,
  .total = channels * most_of_a_message};

using our_keys = std::optional<curve_keys>;

/// How errors name our key.
std::string name_of(const curve_keys& keys) {
  auto out = keys.file.empty() ? "our key" : "our key, " + keys.file;
  if (keys.role != key_role::all)
    out += fmt::format(", that of {}", label_of({keys.role, keys.name, {}}));
  return out;
}

error other_key(const our_keys& ours) {
  if (!ours)
    return fail(ec::permission,
                "it has a key, or is of another version, and we use no key: "
                "name its key file by --key or GRAPHMILL_KEY, and leave out "
                "--insecure");
  if (ours->role != key_role::all)
    return fail(
      ec::permission,
      "{} does not fit it: it has one key for all (`graphmill-keys 1`), or "
      "none (--insecure), or belongs to another cluster, or has another "
      "version: give another key file with --key or GRAPHMILL_KEY",
      name_of(*ours));
  return fail(
    ec::permission,
    "it has another key than {}: copy the key file of the cluster's first "
    "daemon to this machine, and give it with --key or GRAPHMILL_KEY; in a "
    "cluster with roles (`graphmill-keys 2`), give your own key. (A daemon "
    "with --insecure, or of another version, causes the same error.)",
    name_of(*ours));
}

/// It has looked at our key.
error unknown_key(const our_keys& ours) {
  if (!ours || ours->role == key_role::all)
    return other_key(ours);
  return fail(ec::permission,
              "it does not know {}, or the key was revoked: the operator of "
              "the cluster adds and revokes keys in the coordinator's members "
              "file (`graphmill keygen`)",
              name_of(*ours));
}

/// Nobody could look at how far the handshake went.
error gone_or_other_key(const our_keys& ours) {
  return fail(ec::unavailable,
              "the connection ended in the handshake: the peer has gone, or {}",
              other_key(ours).message);
}

error one_key(const our_keys& ours) {
  return ours ? fail(ec::permission,
                     "it uses no key (--insecure), and we have {}: both ends "
                     "need the same key file, or --insecure",
                     name_of(*ours))
              : other_key(ours);
}

/// Whether the other end has closed the connection, rather than time or the
/// network. @param code As of a handshake that failed without detail.
bool closed_by_peer(int code) {
  return code == EPIPE || code == ECONNRESET;
}

} // namespace

peer_link::peer_link(const endpoint& peer,
                     const std::optional<curve_keys>& keys,
                     std::string server_key, traffic& counters)
  : counters_(counters), keys_(keys), server_key_(std::move(server_key)),
    peer_(peer), unfinished_(most_unfinished_there) {}

peer_link::~peer_link() {
  for (auto& channel : channels_)
    if (channel.is_open())
      zmq_socket_monitor(channel.socket.handle(), nullptr, 0);
}

void peer_link::connect(zmq::context_t& context, channel over) {
  open(context, over, to_string(peer_));
}

void peer_link::connect_locally(zmq::context_t& context, channel over,
                                const std::string& socket_file) {
  at(over).is_local = true;
  open(context, over, local_address(socket_file));
}

void peer_link::open(zmq::context_t& context, channel over,
                     const std::string& address) {
  const auto queue = over == channel::data ? data_queue : control_queue;
  auto& to = at(over);
  auto& socket = to.socket = zmq::socket_t{context, ZMQ_DEALER};
  const auto id = draw_identity();
  socket.set(zmq::sockopt::routing_id, id);
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::sndhwm, queue);
  socket.set(zmq::sockopt::rcvhwm, queue);
  socket.set(zmq::sockopt::maxmsgsize, max_wire_frame);
  socket.set(zmq::sockopt::reconnect_ivl, -1);
  socket.set(zmq::sockopt::connect_timeout, connect_timeout_ms);
  socket.set(zmq::sockopt::handshake_ivl, handshake_timeout_ms);
  if (over == channel::data) {
    socket.set(zmq::sockopt::heartbeat_ivl, step_check_ms);
    socket.set(zmq::sockopt::heartbeat_timeout, step_lost_ms);
  }
  socket.set(zmq::sockopt::ipv6, true);
  if (keys_ && !to.is_local) {
    socket.set(zmq::sockopt::curve_publickey, keys_->public_key);
    socket.set(zmq::sockopt::curve_secretkey, keys_->secret_key);
    socket.set(zmq::sockopt::curve_serverkey, server_key_);
  }
  const auto events = "inproc://events-" + id;
  if (zmq_socket_monitor(socket.handle(), events.c_str(), watched_events) != 0)
    throw zmq::error_t{};
  to.monitor = zmq::socket_t{context, ZMQ_PAIR};
  to.monitor.set(zmq::sockopt::linger, 0);
  to.monitor.connect(events);
  socket.connect(address);
}

void peer_link::send(channel over, message outgoing) {
  at(over).queue.push(std::move(outgoing));
}

void peer_link::flush() {
  for (auto& channel : channels_)
    if (channel.is_open())
      channel.queue.flush([this, &channel](const message& outgoing) {
        return send_message(channel.socket, nullptr, outgoing, counters_);
      });
}

std::optional<arrival> peer_link::receive(channel over) {
  if (!at(over).is_open())
    return std::nullopt;
  auto got = receive_message(at(over).socket, false, counters_);
  if (got)
    unfinished_.finished(got->descriptor);
  return got;
}

/// Nothing if the event is no failure.
std::optional<link_failure>
peer_link::failure_of(const connection& of, const socket_event& event) const {
  if (event.kind == ZMQ_EVENT_CONNECTED
      || event.kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED)
    return std::nullopt;
  if (of.is_local) // No key has to do with it.
    return link_failure{
      fail(ec::unavailable, "the connection by its local socket broke")};
  if (of.has_shaken_hands) // The keys fit. Libzmq calls what was changed on the
                           // way a failed handshake all the same.
    return link_failure{fail(ec::unavailable, "the connection broke")};
  switch (event.kind) {
  case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
    return link_failure{unknown_key(keys_)};
  case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    // All but another mechanism in the greeting may be bytes that something on
    // the way has changed.
    return link_failure{one_key(keys_),
                        event.value
                          == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH};
  case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
    // It may as well have come to its end in that moment.
    if (closed_by_peer(event.value) && of.handshake.refused())
      return link_failure{other_key(keys_), false};
    return link_failure{gone_or_other_key(keys_)};
  case ZMQ_EVENT_DISCONNECTED:
    return link_failure{fail(ec::unavailable, "the connection broke")};
  default:
    return link_failure{fail(ec::unavailable, "nobody listens there")};
  }
}

/// Follows what happens to a connection.
std::optional<link_failure> peer_link::look(connection& of) {
  std::optional<link_failure> found;
  zmq::message_t head;
  while (of.monitor.recv(head, zmq::recv_flags::dontwait)) {
    const auto event = read_event(head);
    zmq::message_t address;
    if (head.more())
      (void)of.monitor.recv(address, zmq::recv_flags::dontwait);
    if (event.kind == ZMQ_EVENT_CONNECTED) {
      unfinished_.opened(event.value);
      of.handshake.open(event.value, peer_.port);
    } else if (event.kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
      of.has_shaken_hands = true;
      of.handshake.close();
    }
    if (!found) // The reason comes before the mere end.
      found = failure_of(of, event);
  }
  return found;
}

std::optional<link_failure> peer_link::broken(session_time now) {
  std::optional<link_failure> found;
  for (auto& channel : channels_)
    if (channel.is_open())
      if (auto failure = look(channel); failure && !found)
        found = std::move(failure);
  const auto endless =
    unfinished_.excess(now, bytes_received, [](int) { return false; });
  if (!found && !endless.empty())
    found = link_failure{fail(
      ec::invalid_data, "it sent a message without end, larger than allowed")};
  return found;
}

void peer_link::linger(std::chrono::milliseconds time) {
  for (auto& channel : channels_)
    if (channel.is_open())
      channel.socket.set(zmq::sockopt::linger, static_cast<int>(time.count()));
}

void peer_link::add_polls(std::vector<zmq::pollitem_t>& items) {
  for (auto& channel : channels_) {
    if (!channel.is_open())
      continue;
    const auto wanted =
      channel.queue.empty() ? ZMQ_POLLIN : ZMQ_POLLIN | ZMQ_POLLOUT;
    items.push_back(
      {channel.socket.handle(), 0, static_cast<short>(wanted), 0});
    items.push_back({channel.monitor.handle(), 0, ZMQ_POLLIN, 0});
  }
}

} // namespace graphmill
