#include "actors/cluster/coordinator/figures_sampler.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/leading/run_queue.hpp"
#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/members/lead_guard.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/records/run_archive.hpp"
#include "actors/cluster/coordinator/runs/active_runs.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "actors/cluster/health/health_keeper.hpp"
#include "actors/cluster/health/peer_links.hpp"
#include "messages/base/unix_time.hpp"
#include "pipelines/figures/cluster_feed.hpp"
#include "pipelines/figures/figures_board.hpp"

#include <map>
#include <utility>

namespace graphmill {

figures_sampler::figures_sampler(const leading_parts& with,
                                 const run_queue& queue)
  : with_(with), queue_(queue) {
  // nop
}

// -- questions

status_reply figures_sampler::status() const {
  const auto& offer = with_.config.offer;
  status_reply out;
  out.coordinator = with_.port.self().name;
  out.dataset = offer.dataset;
  out.parts = static_cast<std::uint32_t>(offer.part_digests.size());
  out.daemons = with_.daemons.registry().statuses();
  reports_.loads().add_to(out.daemons, clock::now());
  // Of those that may be lost soon, before they are.
  std::map<std::string, std::string> troubles;
  for (const auto& link : with_.port.links())
    troubles[link.peer] = trouble_of(link, link_board::clock::now());
  for (auto& daemon : out.daemons)
    if (daemon.note.empty() && daemon.state != daemon_state::lost)
      if (const auto known = troubles.find(daemon.name);
          known != troubles.end())
        daemon.note = known->second;
  for (const auto& run : with_.active.all())
    if (out.running.empty())
      out.running = run->id;
    else
      out.also_running.push_back(run->id);
  for (const auto& run : queue_.all())
    out.queued.push_back(run->id);
  if (const auto& reason = with_.archive.failure())
    out.note = fmt::format("what becomes of runs is kept in memory alone: {}",
                           reason->message);
  out.stand_ins = with_.lead.stand_ins();
  return out;
}

result<payload> figures_sampler::health(const payload& request) const {
  GRAPHMILL_TRY(const auto wanted, decode_health_request(request));
  const auto run = with_.active.first([&wanted](const submitted_run& on) {
    return wanted.run.empty() || on.id == wanted.run;
  });
  if (!run)
    return fail(ec::not_found, "{} is not on",
                wanted.run.empty() ? "a run" : "run " + wanted.run);
  return encode(run->on.health.tell(wanted, clock::now()));
}

// -- reports

result<payload> figures_sampler::take_report(const incoming_request& request) {
  auto taken =
    reports_.take(request.from, request.data, with_.daemons.registry(),
                  with_.active, clock::now());
  if (!taken) {
    // Daemons learn by themselves that they are lost, or that a run is over.
    if (taken.error().code != ec::not_found)
      with_.notices.complain("refused: " + taken.error().message);
    return std::move(taken).error();
  }
  for (auto& trouble : taken.value().troubles)
    with_.notices.event(event_kind::trouble, request.from.name,
                        std::move(trouble), taken.value().run);
  return payload{};
}

// -- figures

/// Without paths, which may be in what the log says.
std::string figures_sampler::not_ready(bool is_ending) const {
  if (with_.lead.is_superseded())
    return "another coordinator leads the cluster";
  if (is_ending)
    return "the coordinator is ending";
  if (with_.archive.failure())
    return "what becomes of runs cannot be written to disk";
  return {};
}

void figures_sampler::look(clock::time_point now, bool is_ending) {
  reports_.forget_silent(now);
  const auto& board = with_.config.figures;
  if (!board || now < leave_at_)
    return;
  leave_at_ = now + timeouts::figures;
  look_at_disk(now);
  cluster_figures out;
  out.taken = now_unix();
  out.unready = not_ready(is_ending);
  out.address = with_.port.self().address;
  out.status = status();
  for (auto& daemon : out.status.daemons)
    daemon.data.clear(); // Paths are not for all who can read pages.
  out.over = with_.archive.over();
  out.disk_free = disk_.free;
  out.disk_size = disk_.size;
  out.several = with_.config.runs_at_once > 1 || with_.active.size() > 1;
  for (const auto& run : with_.active.all()) {
    out.runs.push_back({run->record.name, run->attempts, run->record.started,
                        run->on.health.tell_all(now), run->is_feed()});
    tell_changes(*run, out.runs.back().health, now);
  }
  if (with_.config.feed)
    with_.config.feed->sample(out);
  for (auto& run : out.runs)
    cut_to_answer(run.health);
  board->leave(std::move(out));
}

/// What is worth an event in the health of a run.
void figures_sampler::tell_changes(submitted_run& run, const run_health& health,
                                   clock::time_point now) {
  if (auto limit = run.on.health.change_of_limit(health.verdict, now))
    with_.notices.event(event_kind::limit, {}, std::move(*limit), run.id);
  if (auto news = run.on.health.change_of_silence(health.silent, now))
    with_.notices.event(event_kind::trouble, news->who, std::move(news->text),
                        run.id);
}

void figures_sampler::look_at_disk(clock::time_point now) {
  if (now < look_at_disk_ || is_looking_at_disk_)
    return;
  look_at_disk_ = now + timeouts::disk_look;
  is_looking_at_disk_ = true;
  with_.port.work<disk_room>(
    cluster_port::lane::files,
    [folder = with_.config.runs]() -> result<disk_room> {
      std::error_code failed;
      const auto space = std::filesystem::space(folder, failed);
      return failed ? disk_room{} : disk_room{space.available, space.capacity};
    },
    [this](const result<disk_room>& seen) {
      is_looking_at_disk_ = false;
      if (seen)
        disk_ = seen.value();
    });
}

} // namespace graphmill
