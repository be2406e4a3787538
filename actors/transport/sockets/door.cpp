#include "actors/transport/sockets/door.hpp"

#include "messages/base/caught.hpp"
#include "messages/base/pluralized.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace graphmill {

namespace {

/// Whoever connects says within that time who it is.
constexpr std::chrono::milliseconds stranger_patience{2 * handshake_timeout_ms};

/// A stranger has no more than a greeting to send.
constexpr unfinished_messages::limits most_unfinished_here{
  .connection = most_of_a_message,
  .stranger = std::uint64_t{4} << 20,
  .total = std::uint64_t{256} << 20};

constexpr int door_events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED
                            | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
                            | ZMQ_EVENT_DISCONNECTED;
constexpr auto event_address = "inproc://door";

/// After a failed handshake, its connection ends in less than that.
constexpr std::chrono::milliseconds failure_wait{500};

/// What a handshake that failed tells of the other end's key; empty: nothing.
/// What another key has locked, and what was changed on the way, look the same.
/// @param code As libzmq tells it.
std::string refusal_of(int code, bool keyed) {
  if (code == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC)
    return "it has another key, or its handshake was damaged on the way";
  if (code == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
    return keyed ? "it uses no key" : "it uses a key, and we use none";
  return {};
}

std::string name_of_host(const std::string& host) {
  return host.empty() ? "an address that has gone" : host;
}

} // namespace

door::door(transport_context& context, zmq::socket_t& port,
           std::function<void(const std::string&)> guest_left)
  : context_(context), port_(port), socket_(context.sockets, ZMQ_PAIR),
    guest_left_(std::move(guest_left)),
    arrivals_(context.quota.strangers, stranger_patience),
    unfinished_(most_unfinished_here) {
  if (zmq_socket_monitor(port.handle(), event_address, door_events) != 0)
    throw zmq::error_t{};
  socket_.set(zmq::sockopt::linger, 0);
  socket_.connect(event_address);
}

/// Nobody listens at the door from now on. What libzmq 4.3.4 has to tell then
/// holds up its thread until the context ends, with what was to be sent, and is
/// never freed; so it is not to tell anything. It must not be in want of room
/// when it is told so, for it has a lock meanwhile.
door::~door() {
  quietly([this] {
    zmq::message_t told;
    while (socket_.recv(told, zmq::recv_flags::dontwait))
      continue;
  });
  zmq_socket_monitor(port_.handle(), nullptr, 0);
}

void door::serve() {
  // A connection's descriptor may be another one's by now. But if there is no
  // event left, it had not ended when we looked whose it is.
  std::map<int, std::string> arrived;
  zmq::message_t head;
  while (socket_.recv(head, zmq::recv_flags::dontwait)) {
    const auto [event, number] = read_event(head);
    zmq::message_t address;
    if (head.more())
      (void)socket_.recv(address, zmq::recv_flags::dontwait);
    if (event == ZMQ_EVENT_ACCEPTED) {
      // A failed handshake would have ended before: this one may be a probe of
      // the port, whose own end must not be taken for that.
      look_at_failure();
      arrivals_.opened(context_.now(), number);
      unfinished_.opened(number);
      hosts_.erase(number);
      arrived[number] = host_of_guest(number, entrance_);
    } else if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) {
      look_at_failure(); // Of another one, which has not ended.
      failure_ = {number, context_.now()};
    } else if (event == ZMQ_EVENT_DISCONNECTED) {
      arrived.erase(number);
      left(number);
    } else if (event == ZMQ_EVENT_ACCEPT_FAILED) {
      context_.complain(fmt::format("cannot take a connection: {}",
                                    std::system_category().message(number)));
      // Those who wait in the system's own queue come in when there is room.
      end_strangers(arrivals_.older_half());
    }
    if (arrivals_.strangers() > context_.quota.strangers)
      end_strangers(arrivals_.excess(context_.now()));
  }
  hosts_.merge(arrived);
  if (failure_is_old())
    look_at_failure();
}

bool door::failure_is_old() {
  return failure_ && context_.now() - failure_->told > failure_wait;
}

/// A connection has ended. libzmq has one thread for all connections, and ends
/// one whose handshake has failed at once: it is this one, and only now it is
/// known which one that is.
void door::left(int descriptor) {
  arrivals_.settled(descriptor);
  unfinished_.closed(descriptor);
  const auto known = hosts_.extract(descriptor);
  const auto host = known ? known.mapped() : std::string{};
  if (const auto guest = guests_.extract(descriptor)) {
    look_at_failure();
    guest_left_(guest.mapped());
    return;
  }
  if (failure_is_old())
    look_at_failure();
  const auto failed = std::exchange(failure_, std::nullopt);
  const auto reason =
    refusal_of(failed ? failed->code : 0, context_.options.keys.has_value());
  if (!reason.empty())
    refused(host, reason);
}

/// A failure after which no connection has ended was not in a handshake: what
/// came from somebody with the key was changed on the way. libzmq lets that
/// connection stand still, and its other end gives it up.
void door::look_at_failure() {
  const auto failed = std::exchange(failure_, std::nullopt);
  if (!failed || !context_.options.keys
      || failed->code != ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC)
    return;
  ++context_.counters->malformed;
  context_.complain(
    "data on a connection was changed on the way: the connection is stuck "
    "until its other end gives it up");
}

void door::refused(const std::string& host, const std::string& reason) {
  ++context_.counters->refused;
  context_.complain(fmt::format("refused a connection from {}: {}",
                                name_of_host(host), reason));
  context_.tell(access_refusal{{}, host, method::hello, reason});
}

void door::tick() {
  end_strangers(arrivals_.excess(context_.now()));
  end_unfinished();
}

session_time door::next_tick() const {
  return std::min(arrivals_.next_tick(), unfinished_.next_tick());
}

void door::greeted(int descriptor, const std::string& connection_id) {
  if (!arrivals_.is_stranger(descriptor))
    return;
  arrivals_.settled(descriptor);
  guests_[descriptor] = connection_id;
}

void door::estrange(const std::string& connection_id) {
  const auto descriptor = descriptor_of(connection_id);
  if (descriptor < 0)
    return;
  guests_.erase(descriptor);
  arrivals_.opened(context_.now(), descriptor);
}

std::string door::host_of(int descriptor) const {
  const auto at = hosts_.find(descriptor);
  return at == hosts_.end() ? std::string{} : at->second;
}

int door::descriptor_of(const std::string& connection_id) const {
  const auto at =
    std::ranges::find_if(guests_, [&connection_id](const auto& guest) {
      return guest.second == connection_id;
    });
  return at == guests_.end() ? -1 : at->first;
}

void door::end_guests() {
  for (const auto& [descriptor, connection_id] : guests_)
    end(descriptor);
}

void door::end_strangers(const std::vector<int>& descriptors) {
  if (descriptors.empty())
    return;
  for (const auto descriptor : descriptors)
    end(descriptor);
  context_.counters->strangers += descriptors.size();
  context_.complain(fmt::format("ended {} that did not greet",
                                pluralized(descriptors.size(), "connection")));
}

void door::end_unfinished() {
  const auto descriptors =
    unfinished_.excess(context_.now(), bytes_received, [this](int descriptor) {
      return arrivals_.is_stranger(descriptor);
    });
  for (const auto descriptor : descriptors) {
    ++context_.counters->malformed;
    context_.complain(
      "ended a connection: it sent a message without end, larger than allowed");
    end(descriptor);
  }
}

} // namespace graphmill
