#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/frame.hpp"
#include "messages/wire/health.hpp"
#include "messages/wire/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

// The plain form of trace.capnp, which describes the fields. All structs are
// values. Encoding and decoding are as in cluster.hpp.

/// The largest numbers in an answer, so that it fits into a frame of 1 MiB: a
/// span takes 64 bytes.
namespace trace_limits {
inline constexpr std::size_t daemons = 1024;
inline constexpr std::size_t actors = 1024;
inline constexpr std::uint64_t workers = 65'536; ///< Of all actors together.
inline constexpr std::size_t spans = 8192;       ///< With requests.
inline constexpr std::size_t now = 2048;
/// Bytes of a name of a daemon, all of which have introduced themselves,
inline constexpr std::size_t text = max_hello_text;
inline constexpr std::size_t peer = 64; ///< and of the same with an actor.
/// Times and their differences can be added without overflow.
inline constexpr std::int64_t latest = std::int64_t{1} << 60;
} // namespace trace_limits

/// Asks for the actions of actors (`trace`, `spans`).
struct trace_request {
  std::string run;
  std::string daemon;
  std::uint64_t from = 0;
  std::uint32_t most = 0;

  static void fields(auto& of, auto visit) {
    visit("run", of.run);
    visit("daemon", of.daemon);
    visit("from", of.from);
    visit("most", of.most);
  }
};
payload encode(const trace_request& request);
result<trace_request> decode_trace_request(const payload& from);

/// The actor of spans.
struct trace_actor {
  actor_kind kind = actor_kind::sampler;
  std::int32_t part = -1;
  std::int32_t rank = -1;
  std::string peer;
  std::uint32_t workers = 1;

  static void fields(auto& of, auto visit) {
    visit("kind", of.kind);
    visit("part", of.part);
    visit("rank", of.rank);
    visit("peer", of.peer);
    visit("workers", of.workers);
  }
};

/// A worker was in a state, on its batch if it had one.
struct trace_span {
  std::uint32_t actor = 0;
  std::uint32_t worker = 0;
  actor_state state = actor_state::running;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::optional<batch_place> batch;

  static void fields(auto& of, auto visit) {
    visit("actor", of.actor);
    visit("worker", of.worker);
    visit("state", of.state);
    visit("begin", of.begin);
    visit("end", of.end);
    visit("batch", of.batch);
  }
};

/// A request to others, until its answer.
struct trace_call {
  std::uint32_t actor = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint64_t bytes = 0;

  static void fields(auto& of, auto visit) {
    visit("actor", of.actor);
    visit("begin", of.begin);
    visit("end", of.end);
    visit("bytes", of.bytes);
  }
};

/// The actions of a daemon's actors: the answer to `trace` and `spans`.
struct trace_reply {
  std::string run;
  std::string daemon;
  std::vector<std::string> daemons;
  std::int64_t asked = 0;
  std::int64_t came = 0;
  std::int64_t left = 0;
  std::int64_t answered = 0;
  bool over = false;
  std::uint64_t first = 0;
  std::uint64_t next = 0;
  bool more = false;
  std::vector<trace_actor> actors;
  std::vector<trace_span> spans;
  std::vector<trace_call> requests;
  std::vector<trace_span> now;
  std::uint32_t attempt = 1;

  static void fields(auto& of, auto visit) {
    visit("run", of.run);
    visit("daemon", of.daemon);
    visit("daemons", of.daemons);
    visit("asked", of.asked);
    visit("came", of.came);
    visit("left", of.left);
    visit("answered", of.answered);
    visit("over", of.over);
    visit("first", of.first);
    visit("next", of.next);
    visit("more", of.more);
    visit("actors", of.actors);
    visit("spans", of.spans);
    visit("requests", of.requests);
    visit("now", of.now);
    visit("attempt", of.attempt);
  }
  /// Checks limits, order of times, and existence of actors.
  result<void> check() const;
};
payload encode(const trace_reply& reply);
result<trace_reply> decode_trace_reply(const payload& from);

} // namespace graphmill
