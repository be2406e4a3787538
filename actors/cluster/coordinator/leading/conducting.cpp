#include "actors/cluster/coordinator/leading/conducting.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/members/lead_guard.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/runs/remote_member.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "actors/cluster/health/health_keeper.hpp"
#include "actors/run/member_setup.hpp"
#include "pipelines/definition/measured_seeds.hpp"
#include "pipelines/model/state_shapes.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/logger.h>

#include <utility>
#include <vector>

namespace graphmill {

namespace {

class actor_conductor : public run_conductor {
public:
  explicit actor_conductor(conductor_actor actor) : actor_(std::move(actor)) {}
  ~actor_conductor() override { stop_actor(actor_); }

  void fail_run(error reason) override {
    post(actor_, run_failed{std::move(reason)});
  }
  void lose_member(std::size_t member, const error& reason) override {
    post(actor_, member_lost{member, reason});
  }
  void cancel(bool now) override { post_urgent(actor_, cancel_run{now}); }
  void pause() override { post(actor_, pause_run{}); }
  void take(step_result step) override { post(actor_, std::move(step)); }
  void stopped(rank_id rank) override { post(actor_, trainer_stopped{rank}); }

private:
  conductor_actor actor_;
};

/// What the conductor of an attempt is to do.
run_setup setup_of(const submitted_run& run) {
  auto out = cluster_setup(sized(run.def, run.trainers()));
  out.pause_at = next_change(run.def, run.point());
  out.from = run.from; // Which may be needed once more.
  return out;
}

/// @param work As of `work_without_training`.
run_news news_of(const phase_request& request, std::int64_t done,
                 const std::string& work) {
  run_news out;
  out.label = !work.empty() ? work
              : request.phase == phase::train
                ? fmt::format("train epoch {}", request.epoch + 1)
                : std::string{to_string(request.phase)};
  out.done = static_cast<std::uint64_t>(done);
  out.total = static_cast<std::uint64_t>(request.steps);
  return out;
}

/// What a conductor tells on the way: metrics and progress to the coordinator,
/// and to the run's files.
run_observer observer_of(const submitted_run& run,
                         const coordinator_actor& coordinator) {
  run_observer out;
  const auto inner = run.file->reporter().observer();
  const auto predicts = run.def.evaluate.predict;
  out.on_filled = [id = run.id, coordinator, predicts](std::size_t done,
                                                       std::size_t of) {
    run_news news;
    news.label = predicts ? "putting nodes in order" : "filling caches";
    news.done = done;
    news.total = of;
    post(coordinator, run_news_came{id, std::move(news)});
  };
  // The observer is called by one actor, so it may have a state.
  auto last = std::make_shared<active_run::clock::time_point>();
  out.on_step =
    [id = run.id, coordinator, last, work = work_without_training(run.def)](
      const phase_request& request, std::int64_t done, const batch_metrics&) {
      const auto now = active_run::clock::now();
      if (done != request.steps && now - *last < timeouts::progress)
        return;
      *last = now;
      post(coordinator, run_news_came{id, news_of(request, done, work)});
    };
  out.on_phase = [id = run.id, coordinator, file = run.file,
                  inner](const phase_result& done) -> result<void> {
    run_news news;
    news.metrics = metrics_json(done).dump();
    post(coordinator, run_news_came{id, std::move(news)});
    return inner.on_phase(done);
  };
  // Pieces of a pass are no evaluations, and what a run measures that trains
  // nothing is none of its own epochs.
  if (trains_nothing(run.def))
    out.on_phase = {};
  out.on_record = inner.on_record;
  out.on_end = [id = run.id, attempt = run.attempts,
                coordinator](run_outcome outcome) {
    post(coordinator,
         run_ended{id, std::make_shared<run_outcome>(std::move(outcome)),
                   attempt});
  };
  return out;
}

} // namespace

conducting::conducting(coordinator_actor::pointer self,
                       const coordinator_config& config,
                       const cluster_notices& notices, end_hook ended)
  : self_(self), config_(config), notices_(notices), ended_(std::move(ended)) {
  deaths_.install(self_);
}

void conducting::begin(submitted_run& run) {
  const auto setup = setup_of(run);
  auto lead =
    conductor_of(setup, *run.view.graph, static_cast<rank_id>(run.trainers()));
  add_members(run, lead);
  observe(run, lead);
  if (setup.def.evaluate.predict)
    run.file->keep_predictions(
      lead.observer,
      prediction_shape::of(setup.def, run.view.graph->info(), lead.ranks));
  if (setup.mode == run_mode::evaluate_together)
    run_file::keep_evaluation(run.file, lead.observer, setup.def.evaluate.only);
  run.on.health.follow(lead.observer, config_.net->self().name);
  const auto actor = spawn_conductor(self_->home_system(), std::move(lead));
  run.on.conductor = std::make_unique<actor_conductor>(actor);
  deaths_.watch(
    self_, actor,
    [this, id = run.id, attempt = run.attempts](const caf::error& reason) {
      ended_(id, attempt, from_caf(reason, "the conductor"));
    });
  run.life.led(); // From now on its end is awaited.
  post(actor, start_run{});
  notices_.log_of(run.id)->info("run {}: begun", run.id);
}

/// Of each daemon with trainers.
void conducting::add_members(submitted_run& run, conductor_config& lead) const {
  const auto& where = run.on.where;
  const auto most = most_state_values(run.def, run.view.graph->info());
  std::vector<remote_member_config> members;
  for (std::uint16_t d = 0; d < where.daemons.size(); ++d) {
    if (where.ranks_of(d).empty())
      continue;
    members.push_back({run.id, where.daemons[d], config_.net, run.attempts,
                       most,
                       [me = handle_of<coordinator_actor>(self_),
                        daemon = where.daemons[d]](const error& said) {
                         post(me, successor_named{daemon, said});
                       }});
    run.on.members.push_back(where.daemons[d].name);
  }
  lead.members = [members](caf::actor_system& system,
                           const run_reports_actor& reports) {
    std::vector<member_actor> out;
    for (const auto& member : members)
      out.push_back(spawn_remote_member(system, member, reports));
    return out;
  };
}

void conducting::observe(submitted_run& run, conductor_config& lead) const {
  lead.observer = observer_of(run, handle_of<coordinator_actor>(self_));
  const auto progress = std::make_shared<progress_gauge>(
    run.def, lead.seeds[static_cast<std::size_t>(phase::train)],
    run.file->before());
  run_file::keep_checkpoints(
    run.file, lead.observer, run.def, static_cast<rank_id>(run.trainers()),
    config_.graph->part_count(),
    [progress,
     report = notices_.checkpoint_reporter(run.id)](const std::string& name) {
      progress->wrote_checkpoint();
      if (report)
        report(name);
    });
  progress_gauge::observe(progress, lead.observer);
  run.on.began = active_run::clock::now();
  run.on.health.led(progress, run.on.began);
}

} // namespace graphmill
