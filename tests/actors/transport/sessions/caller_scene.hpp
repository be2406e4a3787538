#pragma once

#include "actors/transport/sessions/caller_session.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphmill::test {

inline const std::string incarnation_a(32, 'a');
inline const std::string incarnation_b(32, 'b');

/// A session whose peer and clock are the test.
class caller_scene {
public:
  /// A peer is lost after 3 s of silence, and after 1 s of a refused port.
  explicit caller_scene(std::uint64_t seed = 1, bool control_first = false);
  explicit caller_scene(const liveness_options& liveness);

  static std::string address() { return "tcp://10.0.0.9:7800"; }

  caller_session& operator*() { return session_; }
  caller_session* operator->() { return &session_; }
  session_time now() const { return now_; }

  /// Does what the session asks for, by keeping book of it.
  void look();

  /// Moves the clock to each time at which the session wants to be woken.
  void advance(std::chrono::milliseconds time);

  // -- what the peer does

  void beat();
  void receive(channel over, message incoming);
  void answer_hello(channel over, const std::string& incarnation,
                    const std::string& token = {});

  /// Both channels.
  void greet(const std::string& incarnation = incarnation_a);
  void reply(std::uint64_t id, method method_id);

  /// @param retry_after If set, the peer only had no room, and says when to
  ///                    ask again.
  void refuse(std::uint64_t id, method method_id, error reason,
              std::chrono::milliseconds retry_after = {});
  void lose(const error& reason = fail(ec::unavailable, "the connection broke"),
            bool certain = true);

  // -- requests

  std::uint64_t ask(method method_id, call_options options = {});

  /// Requests sent since the last call, the transport's own apart.
  std::vector<caller_session::send> requests();

  /// Handshakes sent since the last call; other messages are forgotten.
  std::vector<hello_message> hellos();

  /// How many of these have been sent, of those in `sent`.
  std::size_t count(message_kind kind, method method_id) const;

  /// How the request has failed.
  ec failed(std::uint64_t id);

  int opened = 0;
  bool open = false;
  std::vector<std::string> data_links; ///< By whose local socket, if any.
  bool answers_beats = false;
  std::vector<caller_session::send> sent;
  std::vector<peer_event> events;
  std::vector<std::string> notes;
  std::vector<std::optional<result<payload>>> answers;

private:
  caller_session session_;
  session_time now_{std::chrono::hours{1}};
  std::uint64_t next_id_ = 1;
};

} // namespace graphmill::test
