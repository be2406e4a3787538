#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/role.hpp"
#include "messages/wire/wire.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace graphmill {

/// The identity of a peer.
struct peer_identity {
  std::string name; ///< Unique in the cluster; for a client, its command.
  std::string incarnation; ///< 32 hexadecimal digits, drawn at each start.
  std::string address;     ///< Where it listens; empty for clients.
  /// For a caller: the holder of its key. With roles, it identifies a peer, not
  /// the name alone.
  key_holder holder{};
  /// For a coordinator: its cluster, and how many coordinators have led it so
  /// far.
  std::string cluster{};
  std::uint64_t generation = 0;

  friend bool operator==(const peer_identity&, const peer_identity&) = default;
};

/// A change of a peer.
struct peer_event {
  enum class kind : std::uint8_t {
    up,   ///< It has shaken hands for the first time, or after it was lost.
    lost, ///< It was silent for longer than the limit, refused connections for
          ///< its own limit, or was never there.
    replaced, ///< Another incarnation answers at its address.
    left,     ///< Said farewell (inbound only).
  };
  peer_event::kind change = kind::up;
  peer_identity identity; ///< Only an address, if it was never met.
  bool inbound = false;   ///< It connected to us; otherwise we keep it.
  std::string reason;     ///< Why it was lost, in a sentence.
};

/// The state of the connections to a peer.
enum class link_state : std::uint8_t {
  closed,  ///< Not needed.
  opening, ///< Before the first handshake.
  ready,   ///< Established.
  silent,  ///< Connected, but beats are unanswered.
  broken,  ///< Broken, and retried.
  lost,    ///< The same, and given up for now by its keepers.
};

/// A refused peer: for the limits of clients, or for its key.
struct access_refusal {
  peer_identity from{}; ///< Empty if it has not greeted.
  std::string host;     ///< Its address, as the system reports it.
  graphmill::method what = graphmill::method::hello;
  std::string why;          ///< A sentence.
  std::uint64_t times = 1;  ///< How often since the last report.
  ec code = ec::permission; ///< `unavailable`: it may try again.
};

/// How long a request may take.
struct call_options {
  /// From request to reply, with all attempts.
  std::chrono::milliseconds deadline = std::chrono::seconds{30};
  /// Largest number of sends: again when no answer came within `repeat`, or
  /// when the connection broke.
  unsigned attempts = 3;
  /// How long the peer may be unreachable before the request fails.
  std::chrono::milliseconds unreachable = std::chrono::seconds{5};
  /// 0: deadline / attempts.
  std::chrono::milliseconds repeat{0};
  /// If longer than `repeat`: that doubles with each attempt up to this.
  std::chrono::milliseconds longest_repeat{0};
  /// Another peer can answer: the request fails as soon as the peer's machine
  /// says that nobody listens at its port, or the peer leaves beats unanswered
  /// (`liveness_options::silent_beats`).
  bool fails_if_refused = false;
  /// How long the peer may be unreachable while its machine says that nobody
  /// listens at its port. Of use if shorter than `unreachable`.
  std::chrono::milliseconds refused = std::chrono::milliseconds::max();
};

/// When a peer counts as lost, and how to reach it again.
struct liveness_options {
  std::chrono::milliseconds beat_every{500};
  /// Without a sign of life: longer than a process may be stopped, or a machine
  /// be busy. An ended process is noticed by its port, long before.
  std::chrono::milliseconds lost_after{15000};
  /// A handshake without an answer within this time (or `lost_after`, if that
  /// is shorter) starts over, on a new connection.
  std::chrono::milliseconds greeted_within{5000};
  /// Data that were requested so long ago are worth a log line.
  std::chrono::milliseconds slow_after{30000};
  /// A peer with a broken connection is lost earlier if its machine says for so
  /// long that nobody listens at its port: the process has ended. An
  /// interrupted network does not say that.
  std::chrono::milliseconds refused_after{500};
  /// Closed connections may mean another key, or chance. They mean another key
  /// when they have gone on for so long.
  std::chrono::milliseconds suspected_for{1000};
  /// Time to the next attempt to connect: doubles from the first to the last,
  /// each drawn from [1/2, 1] of it.
  std::chrono::milliseconds retry_first{50};
  std::chrono::milliseconds retry_last{2000};
  /// A connection without a keeper closes after so long without requests.
  std::chrono::milliseconds idle_close{10000};
  /// With so many unanswered beats when the next one is due, requests that
  /// another peer can answer go there: a busy machine and a full network answer
  /// sooner. They are counted, not timed: a stopped process has sent none.
  unsigned silent_beats = 5;
};

} // namespace graphmill
