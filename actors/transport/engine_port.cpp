#include "actors/transport/engine.hpp"

#include <utility>

// The serving side of the engine.

namespace graphmill {

namespace {

using event = traffic_counters::event;

/// Messages taken from the socket before others have their turn.
constexpr int port_turn = 64;

/// Ended connections whose routes are remembered.
constexpr std::size_t max_ended = 1024;

} // namespace

void engine::serve_port() {
  for (int i = 0; i < port_turn; ++i) {
    auto got = receive_message(*port_, true, *counters_);
    if (!got)
      break;
    if (ended_.contains(got->route))
      continue;
    descriptor_ = got->descriptor;
    if (got->what)
      server_->receive(now(), got->route, std::move(*got->what));
    else
      server_->malformed(got->route, std::move(got->reason));
    pump_port();
    descriptor_ = -1;
  }
  pump_port();
}

void engine::pump_port() {
  for (auto& what : server_->take())
    act(what);
  counters_->count(event::duplicate, server_->duplicates() - duplicates_);
  duplicates_ = server_->duplicates();
}

void engine::act(server_session::effect& what) {
  if (auto* out = std::get_if<server_session::send>(&what)) {
    send_to(out->to, std::move(out->what));
  } else if (auto* in = std::get_if<server_session::deliver>(&what)) {
    deliver(*in);
  } else if (const auto* whom = std::get_if<server_session::drop>(&what)) {
    drop(*whom);
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
  auto at = blocked_.find(route);
  if (at == blocked_.end()) {
    if (send_message(*port_, &route, what, *counters_) != sent::blocked)
      return;
    at = blocked_.try_emplace(route).first;
  }
  auto& queue = at->second;
  const auto bytes = what.data.byte_size();
  if (!queue.empty() && queue.bytes() + bytes > options_.queue_bytes) {
    what.data = {};
    what.head.failed = true;
    what.head.failure = fail(ec::unavailable,
                             "{} bytes wait for this caller already; ask for "
                             "less at once",
                             queue.bytes());
  }
  queue.push(std::move(what));
}

void engine::flush_routes() {
  for (auto at = blocked_.begin(); at != blocked_.end();) {
    const auto& route = at->first;
    const auto state = at->second.flush([this, &route](const message& what) {
      return send_message(*port_, &route, what, *counters_);
    });
    at = state == sent::blocked ? std::next(at) : blocked_.erase(at);
  }
}

void engine::drop(const server_session::drop& whom) {
  counters_->count(event::malformed);
  log(fmt::format("ended a connection: {}", whom.reason));
  end_connection(descriptor_, port_number_);
  blocked_.erase(whom.whom);
  // What it had sent before the end is still to come out of the socket.
  if (ended_.insert(whom.whom).second)
    ended_order_.push_back(whom.whom);
  if (ended_order_.size() > max_ended) {
    ended_.erase(ended_order_.front());
    ended_order_.pop_front();
  }
}

} // namespace graphmill
