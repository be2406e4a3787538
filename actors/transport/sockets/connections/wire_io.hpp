#pragma once

#include "actors/transport/sessions/address.hpp"
#include "actors/transport/sessions/message.hpp"
#include "actors/transport/sessions/traffic.hpp"

#include <zmq.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace graphmill {

/// The longest frame that libzmq takes from a connection: what CURVE adds is on
/// top.
inline constexpr std::int64_t max_wire_frame = max_frame_bytes + 1024;

/// More bytes than any whole message has.
inline constexpr std::uint64_t most_of_a_message =
  (max_bulk_frames + 4) * std::uint64_t{max_frame_bytes};

/// How long a peer may take for libzmq's own handshake, in milliseconds.
inline constexpr int handshake_timeout_ms = 5000;

/// What became of a message that was to be sent.
enum class sent : std::uint8_t {
  done,
  blocked, ///< The socket's queue is full: try again later.
  gone,    ///< There is no such connection any more.
};

/// What libzmq holds of the large frames sent over a connection. It lets go of
/// them on its own thread.
struct outflow {
  std::atomic<std::uint64_t> held{0}; ///< Frames.
  std::atomic<std::uint64_t> freed{0};
  std::atomic<std::uint64_t> bytes{0}; ///< Of the frames that are held.
  /// The same of all connections of a port together.
  std::shared_ptr<std::atomic<std::uint64_t>> port_bytes =
    std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// Sends a message without waiting; large frames are not copied.
/// @param connection_id For a ROUTER: whom to send it to.
/// @param flow Counts the frames; null: nobody does.
sent send_message(zmq::socket_t& to, const std::string* connection_id,
                  const message& outgoing, traffic& counters,
                  const std::shared_ptr<outflow>& flow = nullptr);

/// What came out of a socket.
struct arrival {
  std::string connection_id; ///< From a ROUTER: who sent it.
  std::optional<message> content;
  std::string reason;  ///< Why there is no message in it.
  int descriptor = -1; ///< Of the connection that it came over.
  /// From a ROUTER: the public key that whoever sent it has shown, as the
  /// authenticator has libzmq note with every message. Empty if none was shown.
  std::string key{};
};

/// Where others connect to us.
struct entrance {
  std::uint16_t port = 0;
  std::string socket_file; ///< Of a local socket; empty if there is none.
};

/// Takes a message from a socket without waiting; large frames are not copied
/// if they are aligned.
/// @returns nothing if there is none.
std::optional<arrival> receive_message(zmq::socket_t& from, bool routed,
                                       traffic& counters);

/// Ends the connection that a message came over, by its descriptor, since
/// ZeroMQ has no call for that. Does nothing if the descriptor is not of a
/// connection to us.
void end_connection(int descriptor, const entrance& ours);

/// What a monitor of a socket tells.
struct socket_event {
  int kind = 0;  ///< ZMQ_EVENT_...
  int value = 0; ///< A descriptor, or an error.
};
/// @param head The first part of its message; the other is an address.
socket_event read_event(const zmq::message_t& head);

/// Bytes that the system has received over a connection since it was opened; 0
/// if it does not tell, as of local sockets.
std::uint64_t bytes_received(int descriptor);

/// The numeric address at the other end of a connection to `port`. Nothing if
/// the descriptor is of something else by now.
std::optional<endpoint> other_end(int descriptor, std::uint16_t port);

/// Whether the other end of a connection over TCP is on this machine, too, and
/// in the same network: by its address, it is where we are.
bool stays_here(int descriptor);

/// The numeric host of whoever has connected to us, or what it is called that
/// came by the local socket. Empty if the descriptor is of something else by
/// now; but it may be of another guest.
std::string host_of_guest(int descriptor, const entrance& ours);

/// Messages that wait until a socket takes them.
class send_queue {
public:
  using sender = std::function<sent(const message&)>;

  void push(message outgoing);

  /// Sends what the socket takes.
  /// @returns blocked if something is left; gone drops all.
  sent flush(const sender& send);

  bool empty() const { return waiting_.empty(); }
  std::size_t size() const { return waiting_.size(); }
  std::uint64_t bytes() const { return bytes_; } ///< As `cost_of` counts.

private:
  std::deque<message> waiting_;
  std::uint64_t bytes_ = 0;
};

} // namespace graphmill
