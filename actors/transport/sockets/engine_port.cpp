#include "actors/transport/sockets/engine.hpp"
#include "messages/base/pluralized.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

// The serving side of the engine.

namespace graphmill {

namespace {

/// Messages, and bytes of them, taken from the socket before others have their
/// turn: answers to these among them, for which a sender of gradients waits.
constexpr int port_turn = 64;
constexpr std::uint64_t port_turn_bytes = std::uint64_t{2} << 20;

/// After a failed handshake, its connection ends in less than that.
constexpr std::chrono::milliseconds failure_wait{500};

/// Ended connections that are remembered.
constexpr std::size_t max_ended = 1024;

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

/// Follows who connects to the port, and who is gone.
void engine::serve_door() {
  // A connection's descriptor may be another one's by now. But if there is no
  // event left, it had not ended when we looked whose it is.
  std::map<int, std::string> arrived;
  zmq::message_t head;
  while (door_->recv(head, zmq::recv_flags::dontwait)) {
    const auto [event, number] = read_event(head);
    zmq::message_t address;
    if (head.more())
      (void)door_->recv(address, zmq::recv_flags::dontwait);
    if (event == ZMQ_EVENT_ACCEPTED) {
      // A failed handshake would have ended before: this one may be a probe of
      // the port, whose own end must not be taken for that.
      look_at_failure();
      arrivals_.opened(now(), number);
      unfinished_.opened(number);
      hosts_.erase(number);
      arrived[number] = host_of_guest(number, entrance_);
    } else if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) {
      look_at_failure(); // Of another one, which has not ended.
      failure_ = {number, now()};
    } else if (event == ZMQ_EVENT_DISCONNECTED) {
      arrived.erase(number);
      left(number);
    } else if (event == ZMQ_EVENT_ACCEPT_FAILED) {
      complain(fmt::format("cannot take a connection: {}",
                           std::system_category().message(number)));
      // Those who wait in the system's own queue come in when there is room.
      end_strangers(arrivals_.older_half());
    }
    if (arrivals_.strangers() > quota_.strangers)
      end_strangers(arrivals_.excess(now()));
  }
  hosts_.merge(arrived);
  if (failure_ && now() - failure_->told > failure_wait)
    look_at_failure();
}

/// A connection has ended. libzmq has one thread for all connections, and ends
/// one whose handshake has failed at once: it is this one, and only now it is
/// known which one that is.
void engine::left(int descriptor) {
  arrivals_.settled(descriptor);
  unfinished_.closed(descriptor);
  const auto known = hosts_.extract(descriptor);
  const auto host = known ? known.mapped() : std::string{};
  const auto guest = guests_.find(descriptor);
  if (guest != guests_.end()) {
    look_at_failure();
    server_->disconnected(guest->second);
    guests_.erase(guest);
    return;
  }
  if (failure_ && now() - failure_->told > failure_wait)
    look_at_failure();
  const auto failed = std::exchange(failure_, std::nullopt);
  const auto reason =
    refusal_of(failed ? failed->code : 0, options_.keys.has_value());
  if (!reason.empty())
    refused(host, reason);
}

/// A failure after which no connection has ended was not in a handshake: what
/// came from somebody with the key was changed on the way. libzmq lets that
/// connection stand still, and its other end gives it up.
void engine::look_at_failure() {
  const auto failed = std::exchange(failure_, std::nullopt);
  if (!failed || !options_.keys
      || failed->code != ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC)
    return;
  ++counters_->malformed;
  complain("data on a connection was changed on the way: the connection is "
           "stuck until its other end gives it up");
}

/// Whoever has another key tries again and again.
void engine::refused(const std::string& host, const std::string& reason) {
  ++counters_->refused;
  complain(fmt::format("refused a connection from {}: {}", name_of_host(host),
                       reason));
  tell(access_refusal{{}, host, method::hello, reason});
}

void engine::serve_port() {
  std::uint64_t bytes = 0;
  for (int i = 0; i < port_turn && bytes < port_turn_bytes; ++i) {
    auto got = receive_message(*port_, true, *counters_);
    if (!got)
      break;
    if (got->content)
      bytes += got->content->data.byte_size();
    // The event of a connection comes before its messages: so it is known here
    // whose descriptor a message brings.
    serve_door();
    if (!ended_.contains(got->connection_id))
      receive(std::move(*got));
  }
  pump_port();
}

/// Has the holders of keys change, and ends what those have who are none any
/// more.
void engine::obey(const mailbox::admit& request) {
  if (!table_)
    return;
  table_ = request.table;
  if (authenticator_)
    authenticator_->use(table_);
  server_->look_at_keys(now(), [this](const key_holder& holder) {
    const auto* known = table_->find(holder.key);
    return known != nullptr && *known == holder;
  });
  pump_port();
  look_at_server_keys();
}

void engine::receive(arrival got) {
  static const key_holder nobody;
  descriptor_ = got.descriptor;
  unfinished_.finished(descriptor_);
  const auto comes_locally = authenticator_ && got.key.empty();
  const auto* holder = got.key.empty() ? &nobody : table_->find(got.key);
  if (holder == nullptr) { // It was let in before.
    server_->malformed(got.connection_id, "its key has been revoked");
  } else if (got.content) {
    const auto host = hosts_.find(descriptor_);
    const auto failed = taken([this, &got, holder, comes_locally, host] {
      server_->receive(now(), got.connection_id, std::move(*got.content),
                       {comes_locally, *holder,
                        host == hosts_.end() ? std::string{} : host->second});
    });
    if (failed)
      server_->malformed(got.connection_id, failed->message);
  } else {
    server_->malformed(got.connection_id, std::move(got.reason));
  }
  pump_port();
  if (arrivals_.is_stranger(descriptor_) && server_->knows(got.connection_id)) {
    arrivals_.settled(descriptor_);
    guests_[descriptor_] = got.connection_id;
  }
  descriptor_ = -1;
}

void engine::pump_port() {
  // Counted first: whoever has seen the answer finds the request counted.
  counters_->duplicates += server_->duplicates() - duplicates_;
  duplicates_ = server_->duplicates();
  for (auto& effect : server_->take())
    act(effect);
}

void engine::act(server_session::effect& effect) {
  if (auto* out = std::get_if<server_session::send>(&effect)) {
    send_to(out->to, std::move(out->content));
  } else if (auto* in = std::get_if<server_session::deliver>(&effect)) {
    deliver(*in);
  } else if (const auto* ended = std::get_if<server_session::drop>(&effect)) {
    drop(*ended);
  } else if (const auto* stranger =
               std::get_if<server_session::estrange>(&effect)) {
    estrange(stranger->connection);
  } else if (const auto* note = std::get_if<server_session::note>(&effect)) {
    complain(note->sentence);
  } else if (const auto* refusal = std::get_if<access_refusal>(&effect)) {
    complain(
      fmt::format("{} {} at {}, {}: {}",
                  refusal->code == ec::permission ? "refused" : "put off",
                  refusal->from.name, refusal->host,
                  pluralized(refusal->times, "request"), refusal->why));
    tell(*refusal);
  } else if (const auto* news = std::get_if<peer_event>(&effect)) {
    tell(*news);
  }
}

void engine::deliver(server_session::deliver& request) {
  // The answer may come when this transport is gone.
  responder reply{[box = box_, token = request.token](result<payload> data) {
    box->post(mailbox::answer{token, std::move(data)});
  }};
  if (!options_.on_request)
    return reply.reply(
      fail(ec::invalid_argument, "{} serves no requests", options_.name));
  // Names of methods are literals.
  guarded(to_string(request.method).data(), [this, &request, &reply] {
    options_.on_request({request.method, std::move(request.from),
                         std::move(request.data), clock_.real(request.deadline),
                         std::move(reply), std::move(request.host)});
  });
}

void engine::send_to(const std::string& connection_id, message outgoing) {
  if (!holds({connection_id, true}, outgoing))
    hand_out(connection_id, std::move(outgoing));
}

void engine::hand_out(const std::string& connection_id, message outgoing) {
  const auto method = outgoing.head.method;
  if (outbox_.send(now(), connection_id, std::move(outgoing)))
    return;
  complain(fmt::format(
    "{} bytes of replies are unread: the caller of {} has to ask again",
    outbox_.bytes(), to_string(method)));
}

int engine::descriptor_of(const std::string& connection_id) const {
  const auto at =
    std::ranges::find_if(guests_, [&connection_id](const auto& guest) {
      return guest.second == connection_id;
    });
  return at == guests_.end() ? -1 : at->first;
}

/// Whoever is there has to say anew who it is, soon.
void engine::estrange(const std::string& connection_id) {
  outbox_.forget(connection_id);
  const auto descriptor = descriptor_of(connection_id);
  if (descriptor < 0)
    return;
  guests_.erase(descriptor);
  arrivals_.opened(now(), descriptor);
}

void engine::end_strangers(const std::vector<int>& descriptors) {
  if (descriptors.empty())
    return;
  for (const auto descriptor : descriptors)
    end_connection(descriptor, entrance_);
  counters_->strangers += descriptors.size();
  complain(fmt::format("ended {} that did not greet",
                       pluralized(descriptors.size(), "connection")));
}

/// What waits for those who take nothing must not wait for ever.
void engine::end_stalled() {
  for (const auto& connection_id : outbox_.stalled(now())) {
    complain(fmt::format("ended a connection: it read nothing for {} ms",
                         options_.stall_limit.count()));
    end_connection(descriptor_of(connection_id), entrance_);
    outbox_.forget(connection_id);
  }
}

void engine::end_unfinished() {
  const auto descriptors =
    unfinished_.excess(now(), bytes_received, [this](int descriptor) {
      return arrivals_.is_stranger(descriptor);
    });
  for (const auto descriptor : descriptors) {
    ++counters_->malformed;
    complain(
      "ended a connection: it sent a message without end, larger than allowed");
    end_connection(descriptor, entrance_);
  }
}

void engine::drop(const server_session::drop& ended) {
  ++counters_->malformed;
  complain(fmt::format("ended a connection: {}", ended.reason));
  // Of the message that is looked at, or of somebody whose key was revoked.
  end_connection(descriptor_ >= 0 ? descriptor_
                                  : descriptor_of(ended.connection),
                 entrance_);
  outbox_.forget(ended.connection);
  // What it had sent before the end is still to come out of the socket.
  if (ended_.insert(ended.connection).second)
    ended_order_.push_back(ended.connection);
  if (ended_order_.size() > max_ended) {
    ended_.erase(ended_order_.front());
    ended_order_.pop_front();
  }
}

} // namespace graphmill
