#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

// The plain form of log.capnp, which describes the fields: log lines of
// daemons, and events of a cluster. All structs are values.
//
// Encoding and decoding are as in cluster.hpp.

/// The severity; a greater one is worse.
enum class log_level : std::uint8_t {
  debug = 1,
  info,
  warn,
  error,
  critical, // The last one.
};
/// The word for users: "warn".
std::string_view to_string(log_level level);

/// The largest numbers in an answer, and the longest texts, in bytes. With the
/// overhead of encoding, an answer stays below 700 kB.
namespace log_limits {
inline constexpr std::size_t lines = 1000;
inline constexpr std::size_t text = 2048; ///< Of a line.
inline constexpr std::size_t name = 256;  ///< All other texts.
/// Of the lines of an answer, as `log_line::bytes` counts them. One more line
/// may start below it.
inline constexpr std::size_t answer = 256 * 1024;
/// Lines that are searched for an answer, so that a request without matches
/// costs little: about a millisecond. The next answer continues there.
inline constexpr std::uint64_t looked_at = 16'384;
inline constexpr std::size_t events = 500;
} // namespace log_limits

/// A line of a log.
struct log_line {
  unix_time time{0};
  log_level level = log_level::info;
  std::string daemon;
  std::string run;   ///< Empty: of none.
  std::string batch; ///< Empty: of none.
  std::string module;
  std::string text;

  /// Its memory, with some room for its keepers.
  std::size_t bytes() const {
    return 256 + daemon.size() + run.size() + batch.size() + module.size()
           + text.size();
  }

  friend bool operator==(const log_line&, const log_line&) = default;

  static void fields(auto& of, auto visit) {
    visit("time", of.time);
    visit("level", of.level);
    visit("daemon", of.daemon);
    visit("run", of.run);
    visit("batch", of.batch);
    visit("module", of.module);
    visit("text", of.text);
  }
};

/// Asks for lines (`log_lines`, `logs`).
struct log_request {
  std::uint64_t after = 0;
  std::string run{};
  std::string daemon{};
  log_level level = log_level::debug;

  static void fields(auto& of, auto visit) {
    visit("after", of.after);
    visit("run", of.run);
    visit("daemon", of.daemon);
    visit("level", of.level);
  }
};
payload encode(const log_request& request);
result<log_request> decode_log_request(const payload& from);

/// The answer.
struct log_reply {
  std::uint64_t next = 0;
  bool more = false;
  std::uint64_t missing = 0;
  std::vector<log_line> lines;
  std::uint64_t begun = 0;
  std::uint64_t collected = 0;
  bool anew = false;

  /// Fails on more lines, or longer texts, than an answer may have.
  result<void> check() const;

  static void fields(auto& of, auto visit) {
    visit("next", of.next);
    visit("more", of.more);
    visit("missing", of.missing);
    visit("lines", of.lines);
    visit("begun", of.begun);
    visit("collected", of.collected);
    visit("anew", of.anew);
  }
};
payload encode(const log_reply& reply);
result<log_reply> decode_log_reply(const payload& from);

/// Asks for events (`events`).
struct events_request {
  std::uint64_t after = 0;
  std::string run{};

  static void fields(auto& of, auto visit) {
    visit("after", of.after);
    visit("run", of.run);
  }
};
payload encode(const events_request& request);
result<events_request> decode_events_request(const payload& from);

/// An event, as clients see it.
struct event_line {
  std::uint64_t seq = 0;
  unix_time time{0};
  std::string kind;
  std::string who;
  std::string run;
  std::string text;

  static void fields(auto& of, auto visit) {
    visit("seq", of.seq);
    visit("time", of.time);
    visit("kind", of.kind);
    visit("who", of.who);
    visit("run", of.run);
    visit("text", of.text);
  }
};

/// The answer.
struct events_reply {
  std::uint64_t next = 0;
  bool more = false;
  std::vector<event_line> events;

  static void fields(auto& of, auto visit) {
    visit("next", of.next);
    visit("more", of.more);
    visit("events", of.events);
  }
};
payload encode(const events_reply& reply);
result<events_reply> decode_events_reply(const payload& from);

} // namespace graphmill
