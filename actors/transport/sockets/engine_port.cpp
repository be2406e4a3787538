#include "actors/transport/sockets/engine.hpp"
#include "messages/base/counted.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

// The serving side of the engine.

namespace graphmill {

namespace {

/// Messages taken from the socket before others have their turn.
constexpr int port_turn = 64;

/// Ended connections whose routes are remembered.
constexpr std::size_t max_ended = 1024;

} // namespace

/// Follows who connects to the port, and who is gone.
void engine::serve_door() {
  zmq::message_t head;
  while (door_->recv(head, zmq::recv_flags::dontwait)) {
    const auto [what, number] = read_event(head);
    zmq::message_t address;
    if (head.more())
      (void)door_->recv(address, zmq::recv_flags::dontwait);
    if (what == ZMQ_EVENT_ACCEPTED) {
      arrivals_.opened(now(), number);
      unfinished_.opened(number);
    } else if (what == ZMQ_EVENT_DISCONNECTED) {
      arrivals_.settled(number);
      unfinished_.closed(number);
      if (const auto guest = guests_.find(number); guest != guests_.end()) {
        server_->disconnected(guest->second);
        guests_.erase(guest);
      }
    } else if (what == ZMQ_EVENT_ACCEPT_FAILED) {
      complain(fmt::format("cannot take a connection: {}",
                           std::system_category().message(number)));
      // Those who wait in the system's own queue come in when there is room.
      end_strangers(arrivals_.older_half());
    }
    if (arrivals_.strangers() > plan_.strangers)
      end_strangers(arrivals_.excess(now()));
  }
}

void engine::serve_port() {
  for (int i = 0; i < port_turn; ++i) {
    auto got = receive_message(*port_, true, *counters_);
    if (!got)
      break;
    // The event of a connection comes before its messages: so it is known here
    // whose descriptor a message brings.
    serve_door();
    if (!ended_.contains(got->route))
      receive(std::move(*got));
  }
  pump_port();
}

void engine::receive(arrival what) {
  descriptor_ = what.descriptor;
  unfinished_.finished(descriptor_);
  if (what.what)
    server_->receive(now(), what.route, std::move(*what.what));
  else
    server_->malformed(what.route, std::move(what.reason));
  pump_port();
  if (arrivals_.is_stranger(descriptor_) && server_->knows(what.route)) {
    arrivals_.settled(descriptor_);
    guests_[descriptor_] = what.route;
  }
  descriptor_ = -1;
}

void engine::pump_port() {
  for (auto& what : server_->take())
    act(what);
  counters_->duplicates += server_->duplicates() - duplicates_;
  duplicates_ = server_->duplicates();
}

void engine::act(server_session::effect& what) {
  if (auto* out = std::get_if<server_session::send>(&what)) {
    send_to(out->to, std::move(out->what));
  } else if (auto* in = std::get_if<server_session::deliver>(&what)) {
    deliver(*in);
  } else if (const auto* whom = std::get_if<server_session::drop>(&what)) {
    drop(*whom);
  } else if (const auto* stranger =
               std::get_if<server_session::estrange>(&what)) {
    estrange(stranger->whom);
  } else if (const auto* note = std::get_if<server_session::note>(&what)) {
    complain(note->sentence);
  } else if (const auto* news = std::get_if<peer_event>(&what)) {
    tell(*news);
  }
}

void engine::deliver(server_session::deliver& what) {
  // The answer may come when this transport is gone.
  responder reply{[box = box_, token = what.token](result<payload> data) {
    box->post(mailbox::answer{token, std::move(data)});
  }};
  if (!options_.on_request)
    return reply.reply(
      fail(ec::invalid_argument, "{} serves no requests", options_.name));
  guarded([this, &what, &reply] {
    options_.on_request({what.method, std::move(what.from),
                         std::move(what.data), what.deadline,
                         std::move(reply)});
  });
}

void engine::send_to(const std::string& route, message what) {
  const auto method = what.head.method;
  if (outbox_.send(now(), route, std::move(what)))
    return;
  complain(fmt::format("{} bytes of replies wait to be taken: whoever asked "
                       "for {} has to ask again",
                       outbox_.bytes(), to_string(method)));
}

int engine::descriptor_of(const std::string& route) const {
  const auto at = std::ranges::find_if(
    guests_, [&route](const auto& guest) { return guest.second == route; });
  return at == guests_.end() ? -1 : at->first;
}

/// Whoever is there has to say anew who it is, soon.
void engine::estrange(const std::string& route) {
  outbox_.forget(route);
  const auto descriptor = descriptor_of(route);
  if (descriptor < 0)
    return;
  guests_.erase(descriptor);
  arrivals_.opened(now(), descriptor);
}

void engine::end_strangers(const std::vector<int>& whom) {
  if (whom.empty())
    return;
  for (const auto descriptor : whom)
    end_connection(descriptor, port_number_);
  counters_->strangers += whom.size();
  complain(fmt::format("ended {} that did not say who it was",
                       counted(whom.size(), "connection")));
}

/// What waits for those who take nothing must not wait for ever.
void engine::end_stalled() {
  for (const auto& route : outbox_.stalled(now())) {
    complain(fmt::format("ended a connection: nothing of what waits for it was "
                         "taken for {} ms",
                         options_.stall_limit.count()));
    end_connection(descriptor_of(route), port_number_);
    outbox_.forget(route);
  }
}

void engine::end_unfinished() {
  const auto whom =
    unfinished_.excess(now(), bytes_received, [this](int descriptor) {
      return arrivals_.is_stranger(descriptor);
    });
  for (const auto descriptor : whom) {
    ++counters_->malformed;
    complain("ended a connection: it sent more than a message may have, and no "
             "end of it");
    end_connection(descriptor, port_number_);
  }
}

void engine::drop(const server_session::drop& whom) {
  ++counters_->malformed;
  complain(fmt::format("ended a connection: {}", whom.reason));
  end_connection(descriptor_, port_number_);
  outbox_.forget(whom.whom);
  // What it had sent before the end is still to come out of the socket.
  if (ended_.insert(whom.whom).second)
    ended_order_.push_back(whom.whom);
  if (ended_order_.size() > max_ended) {
    ended_.erase(ended_order_.front());
    ended_order_.pop_front();
  }
}

} // namespace graphmill
