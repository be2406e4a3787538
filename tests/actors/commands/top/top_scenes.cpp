#include "tests/actors/commands/top/top_scenes.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <utility>

namespace graphmill::test {

namespace {

constexpr const char* scene_run = "20251123-073955-cora";
constexpr std::array scene_daemons{"a", "b", "c"};

/// An actor as it is in a run that is well: shares of its time, what waits for
/// it, items in a second, and seconds of an answer.
struct scene_actor {
  actor_kind kind;
  actor_state state;
  double busy, starved, waiting;
  std::uint64_t queue;
  double rate, median, p99;
  std::uint32_t workers;
};

constexpr std::array scene_stages{
  scene_actor{actor_kind::sampling_service, actor_state::running, 0.46, 0.54, 0,
              2, 812.5, 0.0012, 0.0048, 2},
  scene_actor{actor_kind::sampler, actor_state::waiting, 0.22, 0.23, 0.55, 1,
              41.2, 0.0081, 0.0312, 4},
  scene_actor{actor_kind::feature_service, actor_state::running, 0.31, 0.69, 0,
              0, 240.1, 0.0009, 0.0052, 2},
  scene_actor{actor_kind::fetcher, actor_state::waiting, 0.12, 0.44, 0.44, 0,
              41.2, 0.0104, 0.038, 4},
  scene_actor{actor_kind::batcher, actor_state::starved, 0.34, 0.66, 0, 0, 41.2,
              0.0031, 0.0067, 1},
  scene_actor{actor_kind::trainer, actor_state::running, 0.91, 0.02, 0.07, 3,
              13.7, 0.0664, 0.0812, 1},
  scene_actor{actor_kind::gradient_group, actor_state::waiting, 0.12, 0, 0.88,
              0, 13.7, 0.0058, 0.0141, 1},
  scene_actor{actor_kind::dispatcher, actor_state::starved, 0.05, 0.95, 0, 0,
              41.2, 0.0001, 0.0004, 1},
};
constexpr scene_actor scene_sampling{actor_kind::sampling_proxy,
                                     actor_state::waiting,
                                     0.04,
                                     0.26,
                                     0.7,
                                     1,
                                     160,
                                     0.0036,
                                     0.014,
                                     1};
constexpr scene_actor scene_features{actor_kind::feature_proxy,
                                     actor_state::starved,
                                     0.05,
                                     0.6,
                                     0.35,
                                     0,
                                     81,
                                     0.0042,
                                     0.016,
                                     1};

actor_health health_of_scene(const scene_actor& from) {
  actor_health out;
  out.kind = from.kind;
  out.state = from.state;
  out.busy = from.busy;
  out.starved = from.starved;
  out.waiting = from.waiting;
  out.queue = from.queue;
  out.items_per_second = from.rate;
  out.answers = 1;
  out.median_latency = from.median;
  out.p99_latency = from.p99;
  out.workers = from.workers;
  return out;
}

/// What a daemon takes that waits for a run.
daemon_load idle_load() {
  daemon_load out;
  out.memory_bytes = 212'000'000;
  out.threads = 29;
  out.further["host_load"] = 0.1;
  return out;
}

/// The same of one that trains.
daemon_load load_at_work(int own) {
  daemon_load out;
  out.cores = 2.6 + 0.1 * own;
  out.memory_bytes = 1'260'000'000;
  out.threads = 41;
  out.further["host_load"] = 3.1;
  out.received_per_second = 9.7e6;
  out.sent_per_second = 3.1e6;
  return out;
}

/// A daemon's share of the run: it has a part, trains, and asks the others for
/// their parts.
daemon_health member_of_scene(int own) {
  daemon_health out;
  out.daemon = scene_daemons[std::size_t(own)];
  out.run = scene_run;
  for (const auto& stage : scene_stages) {
    auto& actor = out.actors.emplace_back(health_of_scene(stage));
    if (stage.kind == actor_kind::sampling_service
        || stage.kind == actor_kind::feature_service)
      actor.part = own;
    if (stage.kind == actor_kind::trainer
        || stage.kind == actor_kind::gradient_group)
      actor.rank = own;
  }
  for (int other = 0; other < 3; ++other)
    if (other != own)
      for (const auto& proxy : {scene_sampling, scene_features}) {
        auto& actor = out.actors.emplace_back(health_of_scene(proxy));
        actor.part = other;
        actor.peer = scene_daemons[std::size_t(other)];
      }
  return out;
}

top_data idle_scene() {
  top_data out;
  out.address = "tcp://10.0.0.1:7800";
  out.cluster.emplace();
  for (int d = 0; d < 3; ++d) {
    auto& daemon = out.cluster->daemons.emplace_back();
    daemon.name = scene_daemons[std::size_t(d)];
    daemon.host = fmt::format("host-{}", daemon.name);
    daemon.address = fmt::format("tcp://10.0.0.{}:7800", d + 1);
    daemon.load = idle_load();
  }
  return out;
}

void begin_scene(top_data& to, run_state how, std::string message = {}) {
  to.run.emplace();
  to.run->id = scene_run;
  to.run->state = how;
  to.run->message = std::move(message);
  to.losses = {2.0913, 1.2047, 0.8132};
  to.validations = {0.4125, 0.6031, 0.6988};
  for (int second = 0; second < 60; ++second)
    to.rates.push_back(40'000 + 97 * (37 * second % 53));
}

top_data training_scene() {
  auto out = idle_scene();
  begin_scene(out, run_state::running);
  auto& health = out.health.emplace();
  health.run = scene_run;
  health.attempt = 1;
  health.trainers = 3;
  auto& progress = health.progress.emplace();
  progress.epoch = 3;
  progress.epochs = 10;
  progress.step = 212;
  progress.steps = 480;
  progress.loss = 0.8132;
  progress.learning_rate = 0.003;
  progress.seeds_per_second = 41'720;
  progress.seconds_left = 512;
  progress.checkpoint_age = 41;
  for (int d = 0; d < 3; ++d) {
    out.cluster->daemons[std::size_t(d)].load = load_at_work(d);
    health.daemons.push_back(member_of_scene(d));
  }
  health.verdict = {
    "trainer",
    "the trainers' arithmetic is the limit: they are busy 91 % of the time; "
    "more trainers, trainer.threads or a faster trainer.device would help",
    {"trainers: busy 91 %, starve 2 %, wait 7 % for each other"}};
  return out;
}

/// A service of daemon b is slow, and all trainers wait for it.
top_data starved_scene() {
  auto out = training_scene();
  auto& health = *out.health;
  health.progress->seeds_per_second = 13'100;
  for (auto& daemon : health.daemons)
    for (auto& actor : daemon.actors) {
      if (actor.kind == actor_kind::trainer) {
        actor.state = actor_state::starved;
        actor.busy = 0.31;
        actor.starved = 0.62;
      } else if (actor.kind == actor_kind::fetcher) {
        actor.starved = 0.02;
        actor.waiting = 0.86;
        actor.queue = 17;
      }
    }
  auto& slow = health.daemons[1].actors[2];
  slow.busy = 0.99;
  slow.starved = 0;
  slow.queue = 64;
  slow.median_latency = 0.2;
  slow.p99_latency = 0.41;
  health.verdict = {
    "feature service of part 1 at daemon \"b\"",
    "the feature service of part 1 at daemon \"b\" limits: its workers are "
    "busy 99 % of the time; raise fetch.threads, or spread its part over more "
    "daemons",
    {"trainers: busy 31 %, starve 62 %, wait 7 % for each other",
     "feature service of part 1 at daemon \"b\": an answer takes 212 ms on "
     "average, 410 ms in 99 of 100 cases at the most"}};
  return out;
}

void lose_daemon(top_data& in) {
  auto& lost = in.cluster->daemons[2];
  lost.state = daemon_state::lost;
  lost.load.reset();
  lost.note = "it was silent for 15000 ms";
}

top_data lost_scene() {
  auto out = training_scene();
  lose_daemon(out);
  out.health->silent = {"c"};
  out.health->verdict = {
    "daemon \"c\"", "nothing is heard of c: see whether it is there", {}};
  return out;
}

constexpr const char* scene_loss =
  "daemon \"c\" at tcp://10.0.0.3:7800 is lost: it was silent for 15000 ms";
constexpr const char* scene_lack = "no daemon serves part 2 of 3: start one "
                                   "with `graphmill node --serve`; lost: c";

top_data recovering_scene() {
  auto out = idle_scene();
  begin_scene(out, run_state::queued,
              fmt::format("has ended an attempt: {}; it waits until 07:52:10 "
                          "UTC to go on: {}",
                          scene_loss, scene_lack));
  lose_daemon(out);
  return out;
}

top_data finished_scene() {
  auto out = idle_scene();
  begin_scene(out, run_state::finished);
  out.result = "validation       0.7904 after epoch 9\n"
               "test accuracy    0.7812\n"
               "attempts         2\n"
               "time             1318.4 s for 10 epochs, 4800 steps\n"
               "weights digest   1f0c9a3be47d5862\n"
               "run              runs/20251123-073955-cora\n"
               "trainers         3\n";
  return out;
}

top_data failed_scene() {
  auto out = idle_scene();
  begin_scene(out, run_state::failed,
              fmt::format("{}; it could not go on within 600 seconds "
                          "(`recovery.wait`): {}",
                          scene_loss, scene_lack));
  lose_daemon(out);
  return out;
}

} // namespace

std::vector<top_scene> top_scenes() {
  return {{"idle", idle_scene()},
          {"training", training_scene()},
          {"starved", starved_scene()},
          {"lost", lost_scene()},
          {"recovering", recovering_scene()},
          {"finished", finished_scene()},
          {"failed", failed_scene()}};
}

} // namespace graphmill::test
