#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/role.hpp"
#include "messages/wire/wire.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace graphmill {

/// Who someone in the cluster is.
struct peer_identity {
  std::string name;        ///< Unique in the cluster; of a client: its command.
  std::string incarnation; ///< 32 hexadecimal digits, new with every start.
  std::string address;     ///< Where it listens; empty for clients.
  /// Of somebody who asks us: whose key was shown. By it, and not by its name
  /// alone, a peer is known where keys have roles.
  key_holder holder{};
  /// Of a coordinator: its cluster, and how many have led that so far.
  std::string cluster{};
  std::uint64_t generation = 0;

  friend bool operator==(const peer_identity&, const peer_identity&) = default;
};

/// Something happened to a peer.
struct peer_event {
  enum class kind : std::uint8_t {
    up,       ///< Has shaken hands for the first time, or after it was lost.
    lost,     ///< Silent for longer than the limit, refusing connections for
              ///< its own limit, or never there so far.
    replaced, ///< Another incarnation answers at its address.
    left,     ///< Said farewell (inbound only).
  };
  peer_event::kind change = kind::up;
  peer_identity identity; ///< Only an address, if we have never met.
  bool inbound = false;   ///< It connected to us; else we keep it.
  std::string reason;     ///< Why it was lost, in a sentence.
};

/// How the connections to a peer are.
enum class link_state : std::uint8_t {
  closed,  ///< Nobody wants one.
  opening, ///< On the way to the first handshake.
  ready,   ///< It is there.
  silent,  ///< Connected, but it leaves beats unanswered.
  broken,  ///< Broken, and tried again.
  lost,    ///< The same, and given up for now by those who keep it.
};

/// Somebody was refused: for the limits of clients, or for the key.
struct access_refusal {
  peer_identity from{}; ///< Empty if it has not said who it is.
  std::string host;     ///< Whence it came, as the system tells.
  graphmill::method what = graphmill::method::hello;
  std::string why;          ///< A sentence.
  std::uint64_t times = 1;  ///< As often as that since it was told last.
  ec code = ec::permission; ///< `unavailable`: it may come again.
};

/// How long a request may take.
struct call_options {
  /// From request to reply, all attempts together.
  std::chrono::milliseconds deadline = std::chrono::seconds{30};
  /// How often it is sent at most: again when no answer came within `repeat`,
  /// or when the connection broke.
  unsigned attempts = 3;
  /// How long the peer may be out of reach before the request fails.
  std::chrono::milliseconds unreachable = std::chrono::seconds{5};
  /// 0: deadline / attempts.
  std::chrono::milliseconds repeat{0};
  /// If longer than `repeat`: that doubles with each attempt up to this.
  std::chrono::milliseconds longest_repeat{0};
  /// Somebody else can be asked: it fails as soon as the peer's machine says
  /// that nobody listens at its port, or the peer leaves beats unanswered
  /// (`liveness_options::silent_beats`).
  bool fails_if_refused = false;
};

/// When a peer is thought to be gone, and how to get it back.
struct liveness_options {
  std::chrono::milliseconds beat_every{500};
  /// Without a sign of life. Longer than a process may be stopped, or a machine
  /// be busy with something else, without being lost; who has really ended is
  /// known by its port, and long before.
  std::chrono::milliseconds lost_after{15000};
  /// A handshake that is not answered within this (or `lost_after`, if that is
  /// shorter) is begun anew, over a new connection.
  std::chrono::milliseconds greeted_within{5000};
  /// Data that a peer was asked for that long ago are worth a line of the log.
  std::chrono::milliseconds slow_after{30000};
  /// A peer whose connection broke is lost earlier if its machine says for that
  /// long that nobody listens at its port: the process has ended. A network
  /// that is interrupted says nothing of the kind.
  std::chrono::milliseconds refused_after{500};
  /// Closed connections that may mean another key, or may be chance, mean
  /// another key when they have gone on for that long.
  std::chrono::milliseconds suspected_for{1000};
  /// Time to the next attempt to connect: doubles from the first to the last,
  /// each drawn from [1/2, 1] of it.
  std::chrono::milliseconds retry_first{50};
  std::chrono::milliseconds retry_last{2000};
  /// A connection that nobody keeps is closed when it was idle for that long.
  std::chrono::milliseconds idle_close{10000};
  /// With so many beats unanswered when the next one is due, somebody else is
  /// asked what another one can be asked: a busy machine and a full network
  /// answer sooner. Counted, not timed: while this process was stopped itself,
  /// it has sent none.
  unsigned silent_beats = 5;
};

} // namespace graphmill
