#pragma once

#include "actors/transport/sessions/server_session.hpp"
#include "tests/actors/transport/network.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace graphmill::test {

inline const std::string someone(32, 'a');

/// A session whose callers and clock are the test.
class server_scene {
public:
  explicit server_scene(server_session::settings more = {})
    : session_(with(std::move(more))) {}

  server_session* operator->() { return &session_; }

  void look() {
    for (auto& effect : session_.take()) {
      if (auto* out = std::get_if<server_session::send>(&effect))
        sent.push_back(std::move(*out));
      else if (auto* in = std::get_if<server_session::deliver>(&effect))
        delivered.push_back(std::move(*in));
      else if (auto* ended = std::get_if<server_session::drop>(&effect))
        dropped.push_back(ended->connection);
      else if (auto* guest = std::get_if<server_session::estrange>(&effect))
        estranged.push_back(guest->connection);
      else if (auto* said = std::get_if<server_session::note>(&effect))
        notes.push_back(said->sentence);
      else if (auto* refusal = std::get_if<access_refusal>(&effect))
        refusals.push_back(std::move(*refusal));
      else
        events.push_back(std::get<peer_event>(effect));
    }
  }

  void receive(const std::string& connection_id, message incoming,
               bool is_local = false, const key_holder& holder = {}) {
    session_.receive(now, connection_id, std::move(incoming),
                     {is_local, holder, host});
    look();
  }

  void hello(const std::string& connection_id, channel over,
             const std::string& incarnation = someone) {
    receive(connection_id, hello_from(over, incarnation));
  }

  static message hello_from(channel over, const std::string& incarnation) {
    hello_message hello;
    hello.name = "caller";
    hello.incarnation = incarnation;
    hello.channel = over;
    hello.lost_after = std::chrono::seconds{3};
    return hello_request(hello);
  }

  /// Both channels, as connections c and d.
  void greet() {
    hello("c", channel::control);
    hello("d", channel::data);
    sent.clear();
  }

  void ask(const std::string& connection_id, std::uint64_t id, method method_id,
           std::uint16_t attempt = 1, std::size_t bytes = 0) {
    auto request = request_of(id, method_id, attempt);
    request.data.body = frame::copy(std::vector<std::byte>(bytes));
    receive(connection_id, std::move(request));
  }

  void answer(std::size_t which, result<payload> data = payload{}) {
    session_.answer(now, delivered.at(which).token, std::move(data));
    look();
  }

  void advance(std::chrono::milliseconds time) {
    const auto end = now + time;
    while (session_.next_tick() <= end) {
      now = std::max(now, session_.next_tick());
      session_.tick(now);
      look();
    }
    now = end;
  }

  session_time now{std::chrono::hours{1}};
  std::string host; ///< Whence connections come from now on.
  std::vector<server_session::send> sent;
  std::vector<server_session::deliver> delivered;
  std::vector<std::string> dropped;
  std::vector<std::string> estranged;
  std::vector<std::string> notes;
  std::vector<access_refusal> refusals;
  std::vector<peer_event> events;

private:
  static server_session::settings with(server_session::settings more) {
    more.self.name = "server";
    more.self.incarnation = std::string(32, '1');
    return more;
  }

  server_session session_;
};

} // namespace graphmill::test
