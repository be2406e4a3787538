#pragma once

#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"

namespace graphmill::fuzz {

/// How a cluster is, with each thing once.
inline status_reply some_status() {
  status_reply out{"a", "wordnet", 3, {}, "r", {"q", "p"}, "full", {"s"}};
  out.daemons.push_back(
    {"b", "tcp://b:1", daemon_state::damaged, {1, 2}, 4, "h", "why", 5});
  return out;
}

/// How a run is, with each thing once.
inline run_health some_health() {
  actor_health actor;
  actor.kind = actor_kind::trainer;
  actor.state = actor_state::running;
  actor.rank = 1;
  actor.peer = "b";
  actor.batch = batch_place{phase::train, 1, 2, 1};
  actor.items = 9;
  actor.busy = 0.5;
  actor.last_error = "gone";
  actor.peak_batches = 3;
  daemon_health daemon;
  daemon.daemon = "a";
  daemon.run = "r";
  daemon.window = 1.5;
  daemon.actors = {actor};
  daemon.peers = {{"b", 7, 0.25, 1, 2}};
  daemon.long_work = {"sorts edges"};
  run_health run;
  run.run = "r";
  run.progress = run_progress{.epoch = 1, .epochs = 3, .loss = 0.5};
  run.daemons = {daemon};
  run.silent = {"c"};
  run.verdict = {"trainers", "trainers limit", {"they are busy"}};
  return run;
}

} // namespace graphmill::fuzz
