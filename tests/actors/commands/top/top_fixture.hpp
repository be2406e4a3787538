#pragma once

#include "actors/commands/top/top_model.hpp"
#include "actors/commands/top/top_screen.hpp"

#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

inline actor_health top_actor_of(actor_kind kind, double busy,
                                 std::uint64_t queue, double rate,
                                 double latency) {
  actor_health out;
  out.kind = kind;
  out.state = actor_state::running;
  out.busy = busy;
  out.queue = queue;
  out.items_per_second = rate;
  out.answers = 1;
  out.p99_latency = latency;
  return out;
}

inline daemon_status top_status_of(const std::string& name,
                                   daemon_state state) {
  daemon_status out;
  out.name = name;
  out.state = state;
  return out;
}

inline std::string top_text_of(const top_line& line) {
  std::string out;
  for (const auto& span : line)
    out += span.text;
  return out;
}

/// Lines without the blanks at their ends.
inline std::vector<std::string>
top_texts_of(const std::vector<top_line>& lines) {
  std::vector<std::string> out;
  for (const auto& line : lines) {
    auto text = top_text_of(line);
    text.erase(text.find_last_not_of(' ') + 1);
    out.push_back(std::move(text));
  }
  return out;
}

/// A cluster of daemons a and b, of which a tells figures of three actors, and
/// a run that is on.
inline top_data top_example() {
  top_data out;
  out.address = "tcp://127.0.0.1:7800";
  out.cluster.emplace();
  out.cluster->daemons = {top_status_of("a", daemon_state::ready),
                          top_status_of("b", daemon_state::draining)};
  out.cluster->daemons[1].host = "h2";
  out.cluster->daemons[1].note = "it rests";
  out.run.emplace();
  out.run->id = "good-1";
  out.run->state = run_state::running;
  auto& health = out.health.emplace();
  health.run = "good-1";
  health.verdict = {"trainer", "trainers limit the run", {"one", "two", "six"}};
  auto& progress = health.progress.emplace();
  progress.epochs = 2;
  progress.step = 3;
  progress.steps = 8;
  progress.loss = 0.5;
  progress.learning_rate = 0.01;
  progress.seeds_per_second = 100;
  progress.seconds_left = 20;
  auto& daemon = health.daemons.emplace_back();
  daemon.daemon = "a";
  auto& load = out.cluster->daemons[0].load.emplace();
  load.cores = 1.5;
  load.memory_bytes = 250'000'000;
  load.threads = 12;
  load.received_per_second = 300'000;
  load.sent_per_second = 2'000'000;
  auto sampler = top_actor_of(actor_kind::sampler, 0.5, 3, 12.5, 0.004);
  sampler.workers = 2;
  sampler.starved = 0.1;
  sampler.stalled = 0.2;
  sampler.median_latency = 0.001;
  sampler.restarts = 1;
  auto trainer = top_actor_of(actor_kind::trainer, 0.25, 4, 6, 0.25);
  trainer.rank = 0;
  trainer.stalled = 0.75;
  auto proxy = top_actor_of(actor_kind::feature_proxy, 0, 0, 1'230'000, 0);
  proxy.part = 1;
  proxy.peer = "b";
  proxy.state = actor_state::waiting;
  proxy.waiting = 1;
  daemon.actors = {sampler, trainer, proxy};
  out.rates = {50, 100};
  out.losses = {0.7, 0.5};
  return out;
}

} // namespace graphmill::test
