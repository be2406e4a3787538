#include "actors/transport/sessions/caller_session.hpp"
#include "actors/transport/sessions/server_session.hpp"
#include "tests/fuzz/harnesses/codecs.hpp"
#include "tests/fuzz/registry.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// Both ends of connections, by any messages in any order: an input is a list of
// events, each some bytes. What comes in has been decoded, so it is made here
// from the bytes, and not by encoding it: a change of a byte is then an event
// that changes, and not a message that is refused.

namespace graphmill::fuzz {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_events = 400;

/// Few of them, so that they meet.
std::string connection_of(std::uint8_t which) {
  return std::string(1, static_cast<char>('a' + which % 6));
}

std::string incarnation_of(std::uint8_t which) {
  return std::string(32, static_cast<char>('0' + which % 4));
}

hello_message hello_in(cursor& from) {
  hello_message out;
  const auto who = from.take<std::uint8_t>();
  out.name = "peer";
  out.incarnation = incarnation_of(who);
  out.channel = who & 16 ? channel::data : channel::control;
  out.oldest_version = who & 32 ? protocol_version + 1 : protocol_version;
  out.address = who & 64 ? "tcp://h:1" : "";
  out.lost_after = std::chrono::milliseconds{from.take<std::uint32_t>()};
  out.local_token = who & 128 ? std::string(32, 't') : "";
  return out;
}

message message_in_events(cursor& from) {
  message out;
  const auto bits = from.take<std::uint8_t>();
  out.head.kind = static_cast<message_kind>(1 + bits % 5);
  out.head.version = bits & 128 ? protocol_version + 1 : protocol_version;
  out.head.method =
    static_cast<method>(from.take<std::uint8_t>() % (method_count + 1));
  out.head.id = from.take<std::uint8_t>() % 16;
  out.head.attempt = from.take<std::uint8_t>() % 4;
  out.head.time_left = std::chrono::milliseconds{from.take<std::uint16_t>()};
  if (bits & 64) {
    out.head.failed = true;
    out.head.failure = fail(ec::unavailable, "later");
    out.head.retry_after =
      std::chrono::milliseconds{from.take<std::uint16_t>()};
  }
  if (out.head.method == method::hello)
    out.data.body =
      bits & 32 ? frame_of(from.take_text(16)) : encode_hello(hello_in(from));
  else
    out.data.body =
      frame::copy(std::vector<std::byte>(from.take<std::uint16_t>()));
  return out;
}

hello_message self() {
  hello_message out;
  out.name = "self";
  out.incarnation = std::string(32, 'f');
  return out;
}

/// What the lives of both ends have: events and times that bytes tell of.
template <class Session>
class life {
protected:
  /// The first byte is about how the session is set.
  explicit life(std::string_view input)
    : from_(input), bits_(from_.take<std::uint8_t>()) {}

  void pass_time() {
    now_ += std::chrono::milliseconds{from_.take<std::uint16_t>()};
    session_->tick(now_);
  }

  /// @param event Takes what it needs from the input.
  void pass_events(auto event) {
    for (std::size_t i = 0; i < most_events && !from_.empty(); ++i)
      event();
  }

  cursor from_;
  std::uint8_t bits_;
  std::optional<Session> session_;
  session_time now_{1h};
};

// -- the serving end

class server_life : life<server_session> {
public:
  explicit server_life(std::string_view input) : life(input) {
    server_session::settings with;
    with.self = self();
    with.local = bits_ & 1;
    with.max_peers = 3;
    with.max_running = 4;
    with.max_bytes = 200'000;
    with.max_peer_bytes = 100'000;
    with.reply_cache_bytes = 100'000;
    if (bits_ & 2)
      with.fair.emplace();
    session_.emplace(with);
  }

  void live() {
    pass_events([this] {
      event();
      look();
    });
    // Whatever has happened: an answer to each request, and all peers go.
    while (!tokens_.empty())
      answer(0, payload{});
    now_ += 24h;
    session_->tick(now_);
    look();
    require(session_->running() == 0, "a request runs that was answered");
    require(session_->peers() == 0, "a peer is there after a day of silence");
  }

private:
  void event() {
    const auto what = from_.take<std::uint8_t>();
    const auto who = connection_of(from_.take<std::uint8_t>());
    switch (what % 8) {
    case 0:
      session_->disconnected(who);
      return;
    case 1:
      session_->malformed(who, "fuzzed");
      return;
    case 2:
      return pass_time();
    case 3:
      if (!tokens_.empty())
        answer(what / 8 % tokens_.size(), payload{});
      return;
    case 4:
      if (!tokens_.empty())
        answer(what / 8 % tokens_.size(), fail(ec::not_found, "nothing"));
      return;
    default:
      session_->receive(now_, who, message_in_events(from_), origin_of(what));
    }
  }

  /// With whose key, and whence.
  static message_origin origin_of(std::uint8_t what) {
    message_origin out;
    out.is_local = what & 128;
    out.holder.role = static_cast<key_role>(what / 8 % 5);
    if (out.holder.role != key_role::all)
      out.holder.name = "peer";
    out.host = what & 64 ? "10.0.0.1" : "10.0.0.2";
    return out;
  }

  void answer(std::size_t which, result<payload> with) {
    const auto token = tokens_[which];
    tokens_.erase(tokens_.begin() + static_cast<std::ptrdiff_t>(which));
    session_->answer(now_, token, std::move(with));
  }

  void look() {
    for (auto& effect : session_->take())
      if (const auto* in = std::get_if<server_session::deliver>(&effect)) {
        require(is_known(in->method), "a request of an unknown method");
        require(std::ranges::find(tokens_, in->token) == tokens_.end(),
                "a token is given twice");
        tokens_.push_back(in->token);
      }
    require(session_->running() == tokens_.size(),
            "another number of requests runs than was delivered");
    require(session_->peers() <= 3, "more peers than there may be");
  }

  std::vector<std::uint64_t> tokens_;
};

void serve(std::string_view input) {
  server_life{input}.live();
}

// -- the calling end

class caller_life : life<caller_session> {
public:
  explicit caller_life(std::string_view input) : life(input) {
    caller_session::settings with;
    with.self = self();
    with.control_first = bits_ & 1;
    with.queue_bytes = 100'000;
    with.seed = 1;
    session_.emplace("tcp://h:1", with);
    session_->keep(now_);
    look();
  }

  void live() {
    pass_events([this] {
      event();
      look();
    });
    session_->shut(now_);
    look();
    require(asked_ == answered_, "a request without exactly one answer");
  }

private:
  void event() {
    const auto what = from_.take<std::uint8_t>();
    const auto over = what & 128 ? channel::data : channel::control;
    switch (what % 8) {
    case 0:
      session_->link_down(now_, fail(ec::unavailable, "it broke"), what & 64);
      return;
    case 1:
      session_->link_down(now_, fail(ec::permission, "no"), what & 64);
      return;
    case 2:
      return pass_time();
    case 3:
      session_->probed(now_, what & 64);
      return;
    case 4:
      return ask();
    case 5:
      return what & 64 ? session_->keep(now_) : session_->forget(now_);
    default:
      session_->receive(now_, over, message_in_events(from_));
    }
  }

  void ask() {
    call_options options;
    options.deadline = std::chrono::milliseconds{from_.take<std::uint16_t>()};
    options.attempts = 1 + from_.take<std::uint8_t>() % 4;
    payload data;
    data.body =
      frame::copy(std::vector<std::byte>(from_.take<std::uint16_t>()));
    const auto which =
      static_cast<method>(2 + from_.take<std::uint8_t>() % (method_count - 2));
    if (!is_known(which))
      return;
    ++asked_;
    session_->request(now_, asked_, which, std::move(data), options,
                      [this](result<payload>) { ++answered_; });
  }

  void look() {
    for (auto& effect : session_->take())
      if (auto* done = std::get_if<caller_session::finish>(&effect))
        done->on_reply(std::move(done->answer));
    require(answered_ <= asked_, "an answer that nobody has asked for");
  }

  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
};

void call(std::string_view input) {
  caller_life{input}.live();
}

// -- seeds

/// Appends numbers as bytes.
template <class... Bytes>
void add(std::string& to, Bytes... bytes) {
  (to.push_back(static_cast<char>(bytes)), ...);
}

/// A handshake over a channel, as both ends may get it.
void add_hello(std::string& to, int event, int connection, int kind,
               bool over_data) {
  add(to, event);
  if (connection >= 0)
    add(to, connection);
  add(to, kind, 1, 0, 1, 0, 0, over_data ? 17 : 1, 0xb8, 0x0b, 0, 0);
}

std::vector<std::string> served_lives() {
  std::string life{'\1'};
  add_hello(life, 5, 0, 0, false);
  add_hello(life, 5, 1, 0, true);
  for (int id = 1; id < 4; ++id) // Requests: gather, over data.
    add(life, 5, 1, 0, 10, id, 1, 0x10, 0x27, 8, 0);
  add(life, 3, 0, 4, 0);
  add(life, 5, 1, 0, 10, 1, 2, 0x10, 0x27, 8, 0); // Again.
  add(life, 5, 0, 2, 0, 0, 0, 0, 0, 0, 0);        // A beat.
  add(life, 2, 0, 0xff, 0x10, 0, 0);
  return {life};
}

std::vector<std::string> called_lives() {
  std::string life{'\0'};
  add_hello(life, 6, -1, 1, false);
  add_hello(life, 128 + 6, -1, 1, true);
  add(life, 4, 0x10, 0x27, 2, 8, 0, 8);        // A request, gather.
  add(life, 128 + 6, 1, 10, 1, 0, 0, 0, 8, 0); // Its reply.
  add(life, 4, 0x10, 0x27, 2, 8, 0, 8);
  add(life, 128 + 6, 64 + 1, 10, 2, 0, 0, 0, 9, 0, 0, 0); // Come again.
  add(life, 2, 0xff, 0x01, 0);
  add(life, 2, 0xff, 0x10);
  return {life};
}

} // namespace

const harness server_session_harness{"server_session",
                                     "the serving end of connections", serve,
                                     served_lives, 6000};
const harness caller_session_harness{
  "caller_session", "the calling end of connections", call, called_lives, 6000};

} // namespace graphmill::fuzz
