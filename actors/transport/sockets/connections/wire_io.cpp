#include "actors/transport/sockets/connections/wire_io.hpp"

#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace graphmill {

namespace {

/// Frames from here on are handed over instead of copied. libzmq keeps shorter
/// ones of several messages in one buffer, which one of them would hold.
constexpr std::size_t large_frame = 8192;

/// Envelope and body before the bulk frames.
constexpr std::size_t max_parts = 2 + max_bulk_frames;

/// Of an address of TCP; 0 for others.
std::uint16_t port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET)
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return 0;
}

using address_call = int(int, sockaddr*, socklen_t*);

/// @param ask getpeername or getsockname.
std::optional<sockaddr_storage> address_by(address_call& ask, int descriptor) {
  sockaddr_storage out{};
  socklen_t size = sizeof(out);
  if (descriptor < 0
      || ask(descriptor, reinterpret_cast<sockaddr*>(&out), &size) != 0)
    return std::nullopt;
  return out;
}

std::optional<sockaddr_storage> address_of_peer(int descriptor) {
  return address_by(::getpeername, descriptor);
}

std::optional<sockaddr_storage> address_here(int descriptor) {
  return address_by(::getsockname, descriptor);
}

/// In numbers.
std::optional<std::string> host_of(const sockaddr_storage& address) {
  std::array<char, NI_MAXHOST> host{};
  if (::getnameinfo(reinterpret_cast<const sockaddr*>(&address),
                    sizeof(address), host.data(), host.size(), nullptr, 0,
                    NI_NUMERICHOST)
      != 0)
    return std::nullopt;
  return host.data();
}

/// Whether an address is of our local socket, and so are connections to it.
bool is_local(const sockaddr_storage& own, const entrance& ours) {
  return own.ss_family == AF_UNIX && !ours.socket_file.empty()
         && ours.socket_file
              == reinterpret_cast<const sockaddr_un&>(own).sun_path;
}

/// Whether a descriptor is of a connection to us.
bool is_guest(int descriptor, const entrance& ours) {
  const auto own = address_here(descriptor);
  if (!own)
    return false;
  const auto bound = port_of(*own);
  return (bound != 0 && bound == ours.port) || is_local(*own, ours);
}

/// What the authenticator has said of whoever sent a message.
std::string key_of_sender(zmq::message_t& part) {
  const auto* user = zmq_msg_gets(part.handle(), "User-Id");
  return user == nullptr ? std::string{} : std::string{user};
}

/// A frame that libzmq holds.
class loan {
public:
  loan(const frame& from, std::shared_ptr<outflow> flow)
    : owner_(from.owner()), flow_(std::move(flow)), bytes_(from.size()) {
    if (!flow_)
      return;
    ++flow_->held;
    flow_->bytes += bytes_;
    *flow_->port_bytes += bytes_;
  }
  ~loan() {
    if (!flow_)
      return;
    --flow_->held;
    ++flow_->freed;
    flow_->bytes -= bytes_;
    *flow_->port_bytes -= bytes_;
  }
  loan(const loan&) = delete;
  loan& operator=(const loan&) = delete;

private:
  std::shared_ptr<const void> owner_;
  std::shared_ptr<outflow> flow_;
  std::uint64_t bytes_;
};

/// An envelope with a byte flipped in its number of segments, which becomes one
/// that no frame has room for. A flip elsewhere might give another message that
/// can be read, which CURVE would find on the way, but not where none is used.
frame unreadable(const frame& envelope) {
  std::vector<std::byte> bytes{envelope.bytes().begin(),
                               envelope.bytes().end()};
  constexpr std::size_t highest_of_segments = 3;
  bytes[highest_of_segments] ^= std::byte{0x40};
  return frame::copy(bytes);
}

zmq::message_t part_of(const frame& from,
                       const std::shared_ptr<outflow>& flow) {
  if (from.size() < large_frame || !from.owner())
    return {from.data(), from.size()};
  // libzmq only reads from it, and may drop it on its own thread.
  return {const_cast<std::byte*>(from.data()), from.size(),
          [](void*, void* hint) { delete static_cast<loan*>(hint); },
          new loan{from, flow}};
}

frame frame_of(zmq::message_t part, traffic& counters) {
  const std::span bytes{static_cast<const std::byte*>(part.data()),
                        part.size()};
  if (bytes.size() < large_frame)
    return frame::copy(bytes);
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % sizeof(std::uint64_t)
      != 0) {
    ++counters.copied_frames;
    return frame::copy(bytes);
  }
  auto owner = std::make_shared<zmq::message_t>(std::move(part));
  return frame::own(std::move(owner), bytes);
}

std::uint64_t size_of(const message& outgoing, std::size_t envelope) {
  return envelope + outgoing.data.byte_size();
}

/// The method under which a message is counted.
method counted_as(const envelope& head) {
  return head.kind == message_kind::beat ? method::beat : head.method;
}

struct parts {
  std::vector<zmq::message_t> list;
  bool too_many = false;
};

/// All parts of one message; libzmq hands over whole messages only.
parts take_parts(zmq::socket_t& from, std::size_t limit) {
  parts out;
  for (;;) {
    zmq::message_t part;
    if (!from.recv(part, zmq::recv_flags::dontwait))
      return out;
    const auto more = part.more();
    if (out.list.size() < limit)
      out.list.push_back(std::move(part));
    else
      out.too_many = true;
    if (!more)
      return out;
  }
}

result<message> message_of(std::vector<zmq::message_t> parts, std::size_t first,
                           traffic& counters) {
  if (parts.size() < first + 1)
    return fail(ec::invalid_data, "a message without envelope");
  const auto envelope_bytes = parts[first].size();
  message out;
  GRAPHMILL_TRY(out.head,
                decode_envelope(frame_of(std::move(parts[first]), counters)));
  if (parts.size() > first + 1)
    out.data.body = frame_of(std::move(parts[first + 1]), counters);
  for (auto i = first + 2; i < parts.size(); ++i)
    out.data.bulk.push_back(frame_of(std::move(parts[i]), counters));
  auto& line = counters.of(counted_as(out.head));
  auto& flow = out.head.kind == message_kind::reply ? line.replies_received
                                                    : line.requests_received;
  flow.add(size_of(out, envelope_bytes));
  return out;
}

} // namespace

sent send_message(zmq::socket_t& to, const std::string* connection_id,
                  const message& outgoing, traffic& counters,
                  const std::shared_ptr<outflow>& flow) {
  std::vector<zmq::message_t> parts;
  parts.reserve(3 + outgoing.data.bulk.size());
  if (connection_id != nullptr)
    parts.emplace_back(connection_id->data(), connection_id->size());
  const auto envelope = outgoing.damaged
                          ? unreadable(encode_envelope(outgoing.head))
                          : encode_envelope(outgoing.head);
  parts.push_back(part_of(envelope, flow));
  parts.push_back(part_of(outgoing.data.body, flow));
  for (const auto& bulk : outgoing.data.bulk)
    parts.push_back(part_of(bulk, flow));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto last = i + 1 == parts.size();
    const auto flags = last
                         ? zmq::send_flags::dontwait
                         : zmq::send_flags::dontwait | zmq::send_flags::sndmore;
    try {
      if (!to.send(parts[i], flags))
        return i == 0 ? sent::blocked : sent::gone;
    } catch (const zmq::error_t& broken) {
      if (broken.num() == EHOSTUNREACH)
        return sent::gone;
      throw;
    }
  }
  auto& line = counters.of(counted_as(outgoing.head));
  auto& sent_so_far = outgoing.head.kind == message_kind::reply
                        ? line.replies_sent
                        : line.requests_sent;
  sent_so_far.add(size_of(outgoing, envelope.size()));
  return sent::done;
}

std::optional<arrival> receive_message(zmq::socket_t& from, bool routed,
                                       traffic& counters) {
  const std::size_t first = routed ? 1 : 0;
  auto parts = take_parts(from, first + max_parts);
  if (parts.list.empty())
    return std::nullopt;
  arrival out;
  if (routed) {
    out.connection_id = parts.list.front().to_string();
    out.key = key_of_sender(parts.list.back());
  }
  out.descriptor = zmq_msg_get(parts.list.back().handle(), ZMQ_SRCFD);
  if (parts.too_many) {
    out.reason = fmt::format("a message of more than {} frames", max_parts);
    return out;
  }
  auto decoded = message_of(std::move(parts.list), first, counters);
  if (decoded)
    out.content = std::move(decoded).value();
  else
    out.reason = decoded.error().message;
  return out;
}

void end_connection(int descriptor, const entrance& ours) {
  if (is_guest(descriptor, ours))
    ::shutdown(descriptor, SHUT_RDWR);
}

bool stays_here(int descriptor) {
  const auto own = address_here(descriptor);
  const auto peer = address_of_peer(descriptor);
  if (!own || !peer || port_of(*own) == 0)
    return false;
  const auto from = host_of(*own);
  const auto to = host_of(*peer);
  return from && to
         && (*from == *to
             || (is_loopback({*from, 0}) && is_loopback({*to, 0})));
}

std::string host_of_guest(int descriptor, const entrance& ours) {
  const auto own = address_here(descriptor);
  if (own && is_local(*own, ours))
    return "a process of this user";
  if (!is_guest(descriptor, ours))
    return {};
  const auto peer = address_of_peer(descriptor);
  return peer ? host_of(*peer).value_or("") : "";
}

std::optional<endpoint> other_end(int descriptor, std::uint16_t port) {
  const auto peer = address_of_peer(descriptor);
  if (!peer || port_of(*peer) != port)
    return std::nullopt;
  auto host = host_of(*peer);
  if (!host)
    return std::nullopt;
  return endpoint{*std::move(host), port};
}

socket_event read_event(const zmq::message_t& head) {
  std::uint16_t event = 0;
  std::uint32_t value = 0;
  if (head.size() < sizeof(event) + sizeof(value))
    return {};
  std::memcpy(&event, head.data(), sizeof(event));
  std::memcpy(&value, head.data<std::byte>() + sizeof(event), sizeof(value));
  return {event, static_cast<int>(value)};
}

std::uint64_t bytes_received(int descriptor) {
  tcp_info told{};
  socklen_t size = sizeof(told);
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &told, &size) != 0
      || size < offsetof(tcp_info, tcpi_bytes_received)
                  + sizeof(told.tcpi_bytes_received))
    return 0;
  return told.tcpi_bytes_received;
}

// -- send_queue

void send_queue::push(message outgoing) {
  bytes_ += cost_of(outgoing);
  waiting_.push_back(std::move(outgoing));
}

sent send_queue::flush(const sender& send) {
  while (!waiting_.empty()) {
    const auto state = send(waiting_.front());
    if (state == sent::blocked)
      return state;
    if (state == sent::gone) {
      waiting_.clear();
      bytes_ = 0;
      return state;
    }
    bytes_ -= cost_of(waiting_.front());
    waiting_.pop_front();
  }
  return sent::done;
}

} // namespace graphmill
