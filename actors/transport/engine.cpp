#include "actors/transport/engine.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <thread>

namespace graphmill {

namespace {

using event = traffic_counters::event;

/// Messages taken from a socket before others have their turn.
constexpr int port_turn = 64;
constexpr int control_turn = 64;
constexpr int data_turn = 4;

/// No wait is longer.
constexpr std::chrono::milliseconds longest_wait{1000};

/// A ROUTER does not tell when a connection takes messages again.
constexpr std::chrono::milliseconds blocked_wait{1};

constexpr std::chrono::milliseconds farewell_linger{200};
constexpr std::chrono::milliseconds last_flush{1000};

/// Ended connections whose routes are remembered.
constexpr std::size_t max_ended = 1024;

session_time now() {
  return std::chrono::steady_clock::now();
}

} // namespace

void engine::run() {
  // Signals are for others: they would interrupt calls on sockets.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  try {
    while (!step())
      wait();
  } catch (const std::exception& broken) {
    log(fmt::format("the transport has failed: {}", broken.what()));
  }
  try {
    finish();
  } catch (const std::exception& broken) {
    log(fmt::format("the transport did not end well: {}", broken.what()));
  }
}

/// Everything that can be done now.
/// @returns true at the end.
bool engine::step() {
  const auto stop = obey(box_->take());
  if (gate_)
    gate_->answer();
  serve_callers();
  if (port_)
    serve_port();
  tick();
  flush_routes();
  return stop;
}

void engine::wait() {
  auto next = server_->next_tick();
  polls_.clear();
  polls_.push_back({nullptr, box_->descriptor(), ZMQ_POLLIN, 0});
  if (gate_)
    polls_.push_back({gate_->socket().handle(), 0, ZMQ_POLLIN, 0});
  if (port_)
    polls_.push_back({port_->handle(), 0, ZMQ_POLLIN, 0});
  for (auto& [address, of] : callers_) {
    next = std::min(next, of.session.next_tick());
    if (of.link)
      of.link->add_polls(polls_);
  }
  // In two steps, for `next` may be the end of time.
  const auto start = now();
  auto time = longest_wait;
  if (next <= start)
    time = std::chrono::milliseconds{0};
  else if (next - start < longest_wait)
    time = std::chrono::ceil<std::chrono::milliseconds>(next - start);
  if (!blocked_.empty())
    time = std::min(time, blocked_wait);
  try {
    zmq::poll(polls_, time);
  } catch (const zmq::error_t& interrupted) {
    if (interrupted.num() != EINTR)
      throw;
  }
}

// -- the calling side

void engine::serve_callers() {
  for (auto at = callers_.begin(); at != callers_.end();) {
    auto& of = at->second;
    for (const auto over : {lane::control, lane::data}) {
      const auto turn = over == lane::control ? control_turn : data_turn;
      for (int i = 0; i < turn && of.link; ++i) {
        auto got = of.link->receive(over);
        if (!got)
          break;
        if (got->what) {
          of.session.receive(now(), over, std::move(*got->what));
        } else {
          counters_->count(event::malformed);
          of.session.link_down(
            now(), fail(ec::invalid_data, "it sent {}", got->reason));
        }
        pump(of);
      }
    }
    if (of.link)
      if (const auto why = of.link->broken())
        broke(of, *why);
    if (const auto refused = of.probe ? of.probe->refused() : std::nullopt) {
      of.probe.reset();
      of.session.probed(now(), *refused);
    }
    pump(of);
    if (of.link)
      of.link->flush();
    at = of.session.idle() && !of.link ? callers_.erase(at) : std::next(at);
  }
}

void engine::broke(caller& of, const error& why) {
  of.session.link_down(now(), why);
  if (why.code == ec::unavailable && of.session.worth_probing())
    of.probe = std::make_unique<port_probe>(of.where);
}

void engine::pump(caller& of) {
  for (auto& what : of.session.take())
    act(of, what);
  const auto& counted = of.session.counted();
  counters_->count(event::retry, counted.retries - of.counted.retries);
  counters_->count(event::late_reply,
                   counted.late_replies - of.counted.late_replies);
  of.counted = counted;
}

void engine::act(caller& of, caller_session::effect& what) {
  using session = caller_session;
  if (std::holds_alternative<session::open_link>(what)) {
    open(of);
  } else if (const auto* end = std::get_if<session::close_link>(&what)) {
    if (of.link && end->flush) {
      of.link->flush();
      of.link->linger(farewell_linger);
    }
    of.link.reset();
  } else if (auto* out = std::get_if<session::send>(&what)) {
    if (of.link)
      of.link->send(out->lane, std::move(out->what));
  } else if (auto* done = std::get_if<session::finish>(&what)) {
    guarded([done] { done->on_reply(std::move(done->answer)); });
  } else if (const auto* news = std::get_if<peer_event>(&what)) {
    tell(*news);
  }
}

void engine::open(caller& of) {
  of.link.reset();
  try {
    of.link = std::make_unique<peer_link>(context_, of.where, options_.keys,
                                          *counters_);
  } catch (const zmq::error_t& broken) {
    of.session.link_down(now(), fail(ec::io, "cannot open a socket to {}: {}",
                                     to_string(of.where), broken.what()));
  }
}

// -- the serving side

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

// -- both

void engine::tick() {
  const auto time = now();
  for (auto& [address, of] : callers_)
    if (of.session.next_tick() <= time) {
      of.session.tick(time);
      pump(of);
      if (of.link)
        of.link->flush();
    }
  if (server_->next_tick() <= time) {
    server_->tick(time);
    pump_port();
  }
}

bool engine::obey(std::vector<mailbox::command> commands) {
  bool stop = false;
  for (auto& what : commands) {
    if (auto* ask = std::get_if<mailbox::request>(&what)) {
      obey(*ask);
    } else if (const auto* watch = std::get_if<mailbox::keep>(&what)) {
      obey(*watch);
    } else if (const auto* tell = std::get_if<mailbox::announce>(&what)) {
      hello_.readiness = tell->now;
      server_->announce(tell->now);
      for (auto& [address, of] : callers_)
        of.session.announce(now(), tell->now);
    } else if (auto* done = std::get_if<mailbox::answer>(&what)) {
      server_->answer(now(), done->token, std::move(done->data));
      pump_port();
    } else {
      stop = true;
    }
  }
  return stop;
}

void engine::obey(mailbox::request& what) {
  auto of = caller_of(what.address);
  if (!of)
    return guarded([&what, &of] { what.on_reply(std::move(of).error()); });
  auto& to = *of.value();
  to.session.request(now(), next_id_++, what.method, std::move(what.data),
                     what.options, std::move(what.on_reply));
  pump(to);
}

void engine::obey(const mailbox::keep& what) {
  auto of = caller_of(what.address);
  if (!of)
    return log(of.error().message);
  auto& session = of.value()->session;
  if (what.on)
    session.keep(now());
  else
    session.forget(now());
  pump(*of.value());
}

/// Fails what is outstanding, and gives what was to be sent a moment.
void engine::finish() {
  obey(box_->close());
  for (auto& [address, of] : callers_) {
    of.session.shut(now());
    pump(of);
  }
  callers_.clear();
  const auto end = now() + last_flush;
  while (!blocked_.empty() && now() < end) {
    std::this_thread::sleep_for(blocked_wait);
    flush_routes();
  }
  if (port_)
    port_->set(zmq::sockopt::linger, static_cast<int>(last_flush.count()));
}

void engine::tell(const peer_event& news) {
  if (options_.on_peer)
    guarded([this, &news] { options_.on_peer(news); });
}

void engine::log(const std::string& sentence) {
  if (options_.on_log)
    options_.on_log(sentence);
}

/// Callbacks must not throw; one that does costs nobody else anything.
void engine::guarded(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& thrown) {
    log(
      fmt::format("a callback of the transport has thrown: {}", thrown.what()));
  }
}

} // namespace graphmill
