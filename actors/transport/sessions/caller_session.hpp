#pragma once

#include "actors/transport/sessions/back_off.hpp"
#include "actors/transport/sessions/message.hpp"
#include "actors/transport/sessions/peer.hpp"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace graphmill {

/// The calling end of the connections to one address: handshake, requests with
/// deadlines and retries, beats, and what to do when the peer is lost, back, or
/// replaced by another process. Does no I/O and has no clock: it is told what
/// happened and when, and leaves what its owner must do in its effects.
class caller_session {
public:
  /// How often something must look like a refusal to be one. A connection that
  /// is cut in a handshake looks so, and one that is cut again and again may be
  /// cut there several times.
  static constexpr unsigned suspicions_of_refusal = 6;

  struct settings {
    hello_message self; ///< Channel and times are filled in here.
    liveness_options liveness;
    std::uint64_t seed = 0;
    std::uint64_t queue_bytes = std::uint64_t{256} << 20;
    /// Greet over the control channel first: it is encrypted, and the answer
    /// may offer a local socket for the data channel.
    bool control_first = false;
  };

  using callback = std::function<void(result<payload>)>;

  // Effects: what the owner must do, in the order of `take`.

  /// Connect a channel; with the control channel, forget both as they were.
  struct open_link {
    graphmill::channel channel;
    /// The incarnation whose local socket is to be used if there is one that
    /// can be trusted; else, and if empty, the peer's port.
    std::string local;
  };
  /// Forget both connections.
  struct close_link {
    bool flush = false; ///< Give what was sent a moment to leave before.
  };
  struct send {
    graphmill::channel channel;
    message content;
  };
  struct finish {
    callback on_reply;
    result<payload> answer;
  };
  /// Something that whoever runs the process should know.
  struct note {
    std::string sentence;
  };
  using effect =
    std::variant<open_link, close_link, send, finish, note, peer_event>;

  /// What happened so far, for statistics.
  struct counts {
    std::uint64_t retries = 0;
    std::uint64_t late_replies = 0;
    std::uint64_t put_off = 0; ///< Answers that said to come again.
  };

  caller_session(std::string address, settings with);

  /// @param id Never used before by this incarnation.
  void request(session_time now, std::uint64_t id, method method_id,
               payload data, call_options options, callback on_reply);
  void keep(session_time now);
  void forget(session_time now);

  /// One of the connections broke, or was ended for what came over it. With
  /// permission as code, trying again is of no use.
  /// @param certain Else something on the way may have cut the connection just
  /// then. The reason counts when it was given `suspicions_of_refusal` times
  /// since the peer was last ready, and for `suspected_for`, or as long as a
  /// handshake may take if the peer has let us in before; until then trying
  /// again may be of use.
  /// @returns whether the peer is taken to refuse us.
  bool link_down(session_time now, const error& reason, bool certain = true);
  /// What came of a probe of the peer's port, after `link_down`.
  void probed(session_time now, bool refused);
  void receive(session_time now, channel over, message incoming);
  void tick(session_time now);

  /// Fails what is outstanding and says farewell.
  void shut(session_time now);

  /// When `tick` has something to do, if nothing else happens.
  session_time next_tick() const;

  /// What is to be done since the last call.
  std::vector<effect> take();

  /// Whether the session can be forgotten: closed and wanted by nobody.
  bool idle() const;

  /// Whether it is of use to find out if the peer's process has ended.
  bool worth_probing() const;
  const counts& counters() const { return counts_; }
  const std::string& address() const { return address_; }

  /// How the connections are, of whom, and why they are broken.
  link_state link() const;
  const std::string& peer_name() const { return identity_.name; }
  const std::string& reason() const { return reason_; }

private:
  enum class state { closed, opening, ready, waiting };

  struct call {
    graphmill::method method;
    payload data;
    call_options options;
    callback on_reply;
    session_time start;
    session_time deadline;
    session_time due;      ///< In due_: next attempt, or the deadline.
    unsigned attempt = 0;  ///< How often it was sent.
    unsigned put_off = 0;  ///< How often the peer said to come again.
    std::string sent_to{}; ///< The incarnation that has it.
  };
  using calls = std::map<std::uint64_t, call>;

  void open(session_time now);
  void say_hello(session_time now);
  void greet_data(const hello_message& met);
  void send_hello(channel over, std::string token);
  bool suspect(session_time now);
  bool may_be_lost() const;
  void reset(session_time now, std::string reason);
  void refuse(session_time now, error reason);
  void hello_answered(session_time now, channel over, const message& incoming);
  void ready(session_time now);
  void resume(session_time now);
  void replied(session_time now, message incoming);
  bool put_off(session_time now, calls::iterator at, const envelope& head);
  void dispatch(session_time now, calls::iterator at);
  void set_due(calls::iterator at, session_time due);
  calls::iterator complete(calls::iterator at, result<payload> answer);
  std::chrono::milliseconds longest_unreachable(const call& of) const;
  void fail_unreachable(session_time now);
  void fail_due(session_time now);
  void fail_refused();
  void fail_silent();
  void report(session_time now);
  void report_lost();
  void report_slow(session_time now);
  std::chrono::milliseconds greeting_limit() const;
  void notify(peer_event::kind change, std::string reason = {});
  std::string peer() const;
  bool wanted() const { return kept_ || !calls_.empty(); }

  const std::string address_;
  settings with_;
  back_off back_off_;
  state state_ = state::closed;
  bool kept_ = false;
  bool reported_lost_ = false;
  bool reported_up_ = false;
  std::array<bool, 2> greeted_{};  ///< Channels whose hello was answered.
  std::array<std::string, 2> met_; ///< Incarnation, by channel.
  bool data_open_ = false;         ///< The data channel of this link.
  std::string local_;      ///< Whose local socket is to be used by it, if any.
  std::string avoided_;    ///< Whose local socket did not lead to a handshake.
  peer_identity identity_; ///< As of the last handshake.
  std::string reason_;     ///< Why there is no connection.
  session_time last_heard_{};
  session_time wanted_since_{}; ///< When it was kept.
  session_time opened_{};
  session_time retry_at_{};
  session_time next_beat_{};
  unsigned unanswered_beats_ = 0; ///< Sent since it was heard.
  session_time idle_since_{};
  bool refused_ = false; ///< By a probe since the last attempt to connect.
  std::optional<session_time> refused_since_; ///< By all probes since then.
  std::optional<session_time> slow_since_;    ///< As it was told.
  unsigned suspicions_ =
    0; ///< Refusals that may be chance, since it was ready.
  session_time suspected_since_{}; ///< When the first of them came.
  calls calls_;
  std::set<std::pair<session_time, std::uint64_t>> due_;
  std::uint64_t bytes_ = 0; ///< Of all calls.
  std::vector<effect> effects_;
  counts counts_;
};

} // namespace graphmill
