#include "actors/transport/sockets/engine.hpp"

#include "messages/base/caught.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <thread>

namespace graphmill {

namespace {

/// No wait is longer.
constexpr std::chrono::milliseconds longest_wait{1000};

/// A ROUTER does not tell when a connection takes messages again.
constexpr std::chrono::milliseconds blocked_wait{1};

constexpr std::chrono::milliseconds last_flush{1000};

/// What the thread is at outside of callbacks.
constexpr auto moving_messages = "moving messages";

} // namespace

void engine::run() {
  // Signals are for others: they would interrupt calls on sockets.
  sigset_t signals;
  sigfillset(&signals);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  if (!without_local_.empty())
    log(fmt::format("data for this user's other processes on this machine use "
                    "the network, encrypted, which is slower: {}",
                    without_local_));
  try {
    while (!step())
      wait();
  } catch (...) {
    quietly([this] { end_badly(caught("carry messages").message); });
  }
  try {
    finish();
  } catch (...) {
    quietly([this] { log(caught("end the transport in order").message); });
  }
}

/// Nobody listens at the door from now on. What libzmq 4.3.4 has to tell then
/// holds up its thread until the context ends, with what was to be sent, and is
/// never freed; so it is not to tell anything. It must not be in want of room
/// when it is told so, for it has a lock meanwhile.
engine::~engine() {
  if (!port_ || !door_)
    return;
  quietly([this] {
    zmq::message_t told;
    while (door_->recv(told, zmq::recv_flags::dontwait))
      continue;
  });
  zmq_socket_monitor(port_->handle(), nullptr, 0);
}

void engine::end_badly(const std::string& reason) {
  const auto how = fail(ec::internal, "the transport has failed: {}", reason);
  log(how.message);
  if (options_.on_failure)
    guarded("its own failure", [this, &how] { options_.on_failure(how); });
}

/// In the handler of an exception.
error engine::not_taken() {
  auto reason = caught("take what a peer has sent");
  complain(reason.message);
  return reason;
}

/// Everything that can be done now.
/// @returns true at the end.
bool engine::step() {
  const work_scope at{options_.gauge, moving_messages};
  const auto stop = obey(box_->take());
  if (authenticator_)
    authenticator_->answer();
  serve_callers();
  if (port_) {
    serve_door();
    serve_port();
  }
  tick();
  outbox_.flush(now());
  return stop;
}

void engine::wait() {
  auto next =
    std::min({server_->next_tick(), arrivals_.next_tick(), outbox_.next_tick(),
              unfinished_.next_tick(), held_.next_tick()});
  polls_.clear();
  polls_.push_back({nullptr, box_->descriptor(), ZMQ_POLLIN, 0});
  if (authenticator_)
    polls_.push_back({authenticator_->socket().handle(), 0, ZMQ_POLLIN, 0});
  if (port_) {
    polls_.push_back({port_->handle(), 0, ZMQ_POLLIN, 0});
    polls_.push_back({door_->handle(), 0, ZMQ_POLLIN, 0});
  }
  for (auto& [address, of] : callers_) {
    next = std::min(next, of.session.next_tick());
    if (of.link) {
      next = std::min(next, of.link->next_tick());
      of.link->add_polls(polls_);
    }
  }
  // In two steps, for `next` may be the end of time.
  const auto start = now();
  auto time = longest_wait;
  if (next <= start)
    time = std::chrono::milliseconds{0};
  else if (next - start < longest_wait)
    time = std::chrono::ceil<std::chrono::milliseconds>(next - start);
  if (outbox_.waits())
    time = std::min(time, blocked_wait);
  try {
    zmq::poll(polls_, time);
  } catch (const zmq::error_t& interrupted) {
    if (interrupted.num() != EINTR)
      throw;
  }
}

void engine::tick() {
  const auto time = now();
  if (held_.next_tick() <= time)
    send_held();
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
  end_strangers(arrivals_.excess(time));
  complaints_.look(time);
  if (outbox_.next_tick() <= time)
    end_stalled();
  end_unfinished();
}

bool engine::obey(std::vector<mailbox::command> commands) {
  bool stop = false;
  for (auto& command : commands) {
    if (auto* ask = std::get_if<mailbox::request>(&command)) {
      obey(*ask);
    } else if (const auto* watch = std::get_if<mailbox::keep>(&command)) {
      obey(*watch);
    } else if (auto* done = std::get_if<mailbox::answer>(&command)) {
      server_->answer(now(), done->token, std::move(done->data));
      pump_port();
    } else if (const auto* keys = std::get_if<mailbox::admit>(&command)) {
      obey(*keys);
    } else if (const auto* trouble = std::get_if<mailbox::disturb>(&command)) {
      obey(*trouble);
    } else {
      stop = true;
    }
  }
  return stop;
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
  while (outbox_.waits() && now() < end) {
    std::this_thread::sleep_for(blocked_wait);
    outbox_.flush(now());
  }
  if (port_)
    port_->set(zmq::sockopt::linger, static_cast<int>(last_flush.count()));
}

void engine::tell(const peer_event& news) {
  if (news.inbound)
    links_->asked_by(news, link_board::clock::now());
  if (options_.on_peer)
    guarded("news of a peer", [this, &news] { options_.on_peer(news); });
}

void engine::tell(const access_refusal& news) {
  if (options_.on_refusal)
    guarded("a refusal", [this, &news] { options_.on_refusal(news); });
}

void engine::log(const std::string& sentence) {
  if (!options_.on_log)
    return;
  try {
    options_.on_log(sentence);
  } catch (...) { // Nobody to tell.
  }
}

/// Logs what others have done, who must not fill the log.
void engine::complain(const std::string& sentence) {
  complaints_.add(sentence, now());
}

/// A callback that throws costs nobody else anything.
/// @param what It is about: a literal.
void engine::guarded(const char* what, const std::function<void()>& call) {
  if (options_.gauge)
    options_.gauge->tell(what);
  try {
    call();
  } catch (...) {
    quietly([this] { log(caught("call whom the transport tells").message); });
  }
  if (options_.gauge)
    options_.gauge->tell(moving_messages);
}

} // namespace graphmill
