#pragma once

#include "messages/wire/trace.hpp"

namespace graphmill::test {

/// What the actors of a daemon did in a run, with each thing once.
inline trace_reply some_trace() {
  trace_reply out;
  out.run = "r";
  out.daemon = "b";
  out.daemons = {"a", "b"};
  out.asked = 1;
  out.came = 2;
  out.left = 3;
  out.answered = 4;
  out.over = true;
  out.first = 5;
  out.next = 7;
  out.more = true;
  out.attempt = 8;
  out.actors = {{actor_kind::feature_proxy, 3, -1, "a", 2}};
  out.spans = {{0, 1, actor_state::waiting, 10, 20,
                batch_place{phase::validation, 1, 2, 3}}};
  out.requests = {{0, 11, 19, 64}};
  out.now = {{0, 0, actor_state::starved, 20, 30, {}}};
  return out;
}

} // namespace graphmill::test
