#pragma once

#include "messages/wire/method.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace graphmill {

/// How the limits of clients count a request.
enum class request_class : std::uint8_t {
  /// Between daemons, for a run: other limits bound these. Data requests,
  /// orders, events and what ranks leave for each other are of this class.
  of_runs,
  question, ///< Answered at once, or as soon as the disk allows.
  watch,    ///< Waits at the coordinator until there is news.
  file,     ///< An answer, or a question, of megabytes.
};
inline constexpr std::size_t request_classes = 4;

constexpr request_class class_of(method which) {
  switch (which) {
  case method::join:
  case method::leave:
  case method::submit:
  case method::status:
  case method::runs:
  case method::cancel:
  case method::drain:
  case method::stop:
  case method::chaos:
  case method::plan:
  case method::health:
  case method::logs:
  case method::events:
    return request_class::question;
  case method::watch:
    return request_class::watch;
  case method::fetch_file:
  case method::upload:
  case method::trace:
    return request_class::file;
  default:
    return request_class::of_runs;
  }
}

/// The same of one peer. What daemons ask of each other for a run is for them
/// alone: by whoever listens nowhere, and so is a client, it counts as a
/// question, and is refused by those who serve it.
constexpr request_class class_of(method which, bool listens) {
  const auto kind = class_of(which);
  return kind == request_class::of_runs && !listens ? request_class::question
                                                    : kind;
}

/// The limits that keep one client from starving the others. A client is an
/// incarnation. Whoever holds the key can draw any number of these, so all of
/// one host have limits together, too. A request that meets a limit is put off:
/// its caller asks again by itself, and fails only at its deadline. What a user
/// or a script does in ordinary use is below all of them.
struct client_limits {
  /// Requests under way, of one client and of all of a host.
  struct share {
    std::size_t client;
    std::size_t host;
  };
  /// How often a client, or all of a host, may ask in the long run, and at
  /// once.
  struct pace {
    double client_rate; ///< Per second.
    double client_burst;
    double host_rate;
    double host_burst;
  };

  /// By class. A `graphmill` command has one request under way, `fetch` a few.
  /// - Questions: three quarters of the 256 that wait for the run history, so
  ///   that a host leaves room there for others.
  /// - Watches: half of the 1,024 that a coordinator keeps.
  /// - Files: three quarters of the 64 that wait there.
  std::array<share, request_classes> under_way{
    {{0, 0}, {32, 192}, {16, 512}, {8, 48}}};

  /// By class. A script that submits a hundred runs, or a loop that asks for
  /// the status, stays within the burst. A watcher asks again whenever it was
  /// told something, ten times a second at the most; 200 of one host may. Files
  /// come in pieces of 8 MiB, and go in pieces of 4 MiB.
  std::array<pace, request_classes> paces{{{0, 0, 0, 0},
                                           {50, 200, 500, 2000},
                                           {50, 200, 2000, 4000},
                                           {200, 400, 800, 1600}}};

  /// Requests of a client that its host's pace does not count against it, so
  /// that one who asks little is served however much others of its host ask.
  double unhurried = 8;

  /// A connected peer with nothing under way for that long may have to give its
  /// place to a newcomer of its host, when the host has no more places. It has
  /// to greet again when it wants something, which callers do by themselves.
  std::chrono::milliseconds idle{1000};

  /// How many places a host may take for each that would still be free: however
  /// many it wants, others find room, and others after those.
  std::size_t places_per_free = 2;

  /// Of all places, this part is left for those whom we keep connections to: at
  /// a coordinator, the daemons that have joined; elsewhere, the coordinator.
  std::size_t reserve_divisor = 8;

  /// How soon those who are put off come again, at first.
  std::chrono::milliseconds pause{100};

  /// Refusals of one host within this time are told together.
  std::chrono::milliseconds told_every{1000};
};

} // namespace graphmill
