#include "actors/feed/local_feed.hpp"

#include "actors/base/caf_compat.hpp"
#include "actors/feed/feed_consumer.hpp"
#include "actors/feed/feed_lead.hpp"
#include "actors/feed/loop_verdict.hpp"
#include "actors/feed/outlet.hpp"
#include "actors/feed/prepared_feed.hpp"
#include "actors/process/processors.hpp"
#include "actors/process/shutdown_watchdog.hpp"
#include "actors/run/data_guard.hpp"
#include "pipelines/health/health_sampler.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

/// The actors of a feed, while it is open.
class local_feed final : public batch_feed {
public:
  local_feed(feed_making of, prepared_feed prepared)
    : consumer_(of.consumer), request_(std::move(of.request)),
      log_(std::move(of.log)),
      guard_({.data = request_.data, .verify = request_.verify, .log = log_}) {
    set_scheduler(settings_, std::max(2u, usable_processors()));
    system_.emplace(settings_);
    guard_.check(std::move(prepared.records),
                 [this](const result<void>& sound) {
                   if (!sound)
                     consumer_.report(sound.error());
                 });
    spawn(std::move(prepared.member));
  }

  ~local_feed() override {
    shutdown_watchdog watchdog{log_, true};
    stop_actor(member_);
    stop_actor(lead_);
    member_ = nullptr;
    lead_ = nullptr;
    outlet_ = nullptr;
    system_.reset();
  }
  local_feed(const local_feed&) = delete;
  local_feed& operator=(const local_feed&) = delete;

  void begin(const feed_pass& pass) override {
    post(outlet_, wanted_pass{request_.phase, pass});
    post(member_, phase_of(request_, pass));
  }

  void take_back(std::vector<batch_back> batches) override {
    post(outlet_, batches_back{std::move(batches)});
  }

  void judge() override {
    run_health run;
    sampler_.sample(*health_, health_sampler::clock::now(),
                    run.daemons.emplace_back());
    consumer_.judged(loop_verdict(run));
  }

private:
  void spawn(member_config member) {
    member.log = log_;
    member.gauges = std::make_shared<dispatcher_gauges>();
    health_ = member.health;
    auto stages = stage_table::of(member.def, member.shards.size(), 1);
    stages.disk = member.disk;
    lead_ = spawn_feed_lead(
      *system_, [&to = consumer_](const error& reason) { to.report(reason); });
    // Here and not by the member, which begins on another thread: the first
    // pass may come before.
    outlet_ = spawn_outlet(
      *system_, {request_.rank,
                 [&to = consumer_](std::uint64_t sequence, std::uint64_t pass,
                                   std::shared_ptr<minibatch> batch) {
                   return to.hand(sequence, pass, std::move(batch));
                 },
                 member.health->add({actor_kind::trainer, -1, request_.rank})});
    member.sink = [outlet = outlet_](caf::actor_system&, const member_config&,
                                     const stage_table&,
                                     const run_reports_actor&) {
      return batch_sink{{outlet}, {}};
    };
    member_ =
      spawn_member(*system_, std::move(member), std::move(stages), lead_);
    caf::actor_cast<caf::actor>(member_)->attach_functor(
      [&to = consumer_](const caf::error& reason) {
        if (reason && reason != caf::exit_reason::user_shutdown)
          to.report(from_caf(reason, "the member of the feed"));
      });
  }

  feed_consumer& consumer_;
  const feed_request request_;
  std::shared_ptr<spdlog::logger> log_;
  data_guard guard_;
  watched_system_config settings_;
  std::optional<caf::actor_system> system_;
  std::shared_ptr<const gauge_board> health_;
  health_sampler sampler_;
  run_reports_actor lead_;
  outlet_actor outlet_;
  member_actor member_;
};

} // namespace

result<opened_feed> open_local_feed(feed_making of) {
  GRAPHMILL_TRY(auto prepared, prepare_feed(of.request, of.seeds));
  opened_feed out;
  out.answer = answer_of(prepared, of.consumer.arena_bytes());
  out.steps = prepared.steps;
  out.seeds = seeds_of(prepared);
  out.feed = std::make_unique<local_feed>(std::move(of), std::move(prepared));
  return out;
}

} // namespace graphmill
