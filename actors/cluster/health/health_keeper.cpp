#include "actors/cluster/health/health_keeper.hpp"

#include "actors/base/timeouts.hpp"
#include "pipelines/health/verdict.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace graphmill {

namespace {

/// What the daemons of an answer may take, of the 1 MiB of a frame.
constexpr std::size_t most_told_bytes = 700'000;

/// At least what a report takes in a message.
std::size_t size_of(const daemon_health& report) {
  constexpr std::size_t figures = 288; // Of an actor, with its batch.
  std::size_t out = 512 + report.daemon.size() + report.run.size();
  for (const auto& actor : report.actors)
    out +=
      figures + actor.peer.size() + actor.why.size() + actor.last_error.size();
  for (const auto& peer : report.peers)
    out += 112 + peer.name.size() + peer.why.size();
  for (const auto& sentence : report.long_work)
    out += 16 + sentence.size();
  for (const auto& [name, value] : report.further)
    out += 32 + name.size();
  return out;
}

bool is_in_trouble(const daemon_health& report) {
  return std::ranges::any_of(report.actors, &actor_health::in_trouble)
         || std::ranges::any_of(report.peers, &peer_health::in_trouble)
         || !report.long_work.empty();
}

bool is_same(const actor_health& a, const actor_health& b) {
  return a.kind == b.kind && a.part == b.part && a.rank == b.rank
         && a.peer == b.peer;
}

/// Adds a report to the average of `before` others.
void add(daemon_health& average, const daemon_health& report, double before) {
  const auto mix = [before](double old, double more) {
    return (old * before + more) / (before + 1);
  };
  for (std::size_t i = 0; i < report.actors.size(); ++i) {
    const auto& more = report.actors[i];
    if (i >= average.actors.size()) {
      average.actors.push_back(more);
      continue;
    }
    // Actors join at the end, so places stay: but for those of which there are
    // more than a report may have.
    const auto old = std::exchange(average.actors[i], more);
    if (!is_same(old, more))
      continue;
    auto& actor = average.actors[i];
    actor.busy = mix(old.busy, more.busy);
    actor.waiting = mix(old.waiting, more.waiting);
    actor.starved = mix(old.starved, more.starved);
    actor.stalled = mix(old.stalled, more.stalled);
    actor.down = mix(old.down, more.down);
    actor.recent_restarts = more.restarts;
    actor.queue = static_cast<std::uint64_t>(
      mix(double(old.queue), double(more.queue)) + 0.5);
    actor.answers = old.answers + more.answers;
    if (actor.answers != 0)
      actor.mean_latency = (old.mean_latency * double(old.answers)
                            + more.mean_latency * double(more.answers))
                           / double(actor.answers);
    actor.p99_latency = std::max(old.p99_latency, more.p99_latency);
  }
  if (average.cores == 0) // Of the first report nothing can be told.
    average.cores = report.cores;
  else if (report.cores != 0)
    average.cores = mix(average.cores, report.cores);
  average.cache_rows_wanted = report.cache_rows_wanted;
  average.cache_rows_found = report.cache_rows_found;
  average.cache_offer_bytes = report.cache_offer_bytes;
  average.cache_offer_spared = report.cache_offer_spared;
}

/// As many as a report may have, and how many more there are.
void add_actor(daemon_health& to, const actor_health& actor) {
  if (to.actors.size() < health_limits::actors)
    to.actors.push_back(actor);
  else
    ++to.left_out;
}

} // namespace

void health_keeper::begin(const std::string& run,
                          std::vector<std::string> daemons,
                          std::uint32_t attempt, std::uint32_t trainers) {
  *this = {};
  run_ = run;
  daemons_ = std::move(daemons);
  attempt_ = attempt;
  trainers_ = trainers;
}

void health_keeper::led(std::shared_ptr<const progress_gauge> gauge,
                        clock::time_point now) {
  progress_ = std::move(gauge);
  reports_.clear();
  warnings_ = {};
  led_ = now;
  conductor_.reset();
  conducting_.reset();
  apart_.reset();
}

void health_keeper::follow(run_observer& conductor, const std::string& daemon) {
  conductor_ = std::make_shared<conductor_health>();
  conducts_at_ = daemon;
  conductor_health::observe(conductor_, conductor);
}

std::vector<std::string> health_keeper::take(daemon_health report,
                                             clock::time_point now) {
  auto warnings = warnings_.in(report, now);
  if (conductor_ && report.daemon == conducts_at_)
    conducting_ = conductor_->read(now);
  auto& known = reports_[report.daemon];
  if (known.reports == 0)
    known.average = report;
  else
    add(known.average, report, double(known.reports));
  ++known.reports;
  known.at = now;
  known.report = std::move(report);
  return warnings;
}

void health_keeper::take_own(const daemon_health& report,
                             clock::time_point now) {
  if (!conductor_ || report.daemon != conducts_at_
      || std::ranges::find(daemons_, conducts_at_) != daemons_.end())
    return;
  conducting_ = conductor_->read(now);
  apart_.emplace(told_apart{report, now});
  auto& apart = apart_->report;
  apart.run = run_;
  apart.actors.clear();
  apart.peers.clear();
  apart.long_work.clear();
}

run_health health_keeper::whole() const {
  run_health out;
  out.run = run_;
  for (const auto& [name, known] : reports_)
    out.daemons.push_back(known.average);
  return out;
}

run_health health_keeper::tell_all(clock::time_point now) const {
  run_health out;
  out.run = run_;
  out.attempt = attempt_;
  out.trainers = trainers_;
  if (progress_)
    out.progress = progress_->read(now);
  for (const auto& name : daemons_) {
    const auto known = reports_.find(name);
    const auto is_known = known != reports_.end();
    if (led_
        && now - (is_known ? known->second.at : *led_)
             > timeouts::health_silence)
      out.silent.push_back(name);
    if (!is_known)
      continue;
    auto report = known->second.report;
    report.age = std::chrono::duration<double>(now - known->second.at).count();
    if (conducting_ && name == conducts_at_)
      add_actor(report, *conducting_);
    out.daemons.push_back(std::move(report));
  }
  if (apart_ && conducting_) {
    auto report = apart_->report;
    report.age = std::chrono::duration<double>(now - apart_->at).count();
    add_actor(report, *conducting_);
    out.daemons.push_back(std::move(report));
  }
  if (!out.silent.empty() && out.progress) {
    // It goes no further without them: what it did before is no pace.
    out.progress->seeds_per_second = 0;
    out.progress->seconds_left = run_progress{}.seconds_left;
  }
  out.verdict = verdict_of(out);
  return out;
}

run_health health_keeper::tell(const health_request& wanted,
                               clock::time_point now) const {
  auto out = tell_all(now);
  if (!wanted.daemon.empty())
    std::erase_if(out.daemons, [&wanted](const daemon_health& report) {
      return report.daemon != wanted.daemon;
    });
  cut_to_answer(out);
  return out;
}

void cut_to_answer(run_health& run) {
  std::size_t bytes = 0;
  std::set<std::string> fit;
  for (const auto troubled : {true, false})
    for (const auto& report : run.daemons)
      if (is_in_trouble(report) == troubled
          && bytes + size_of(report) <= most_told_bytes) {
        bytes += size_of(report);
        fit.insert(report.daemon);
      }
  run.left_out += static_cast<std::uint32_t>(
    std::erase_if(run.daemons, [&fit](const daemon_health& report) {
      return !fit.contains(report.daemon);
    }));
}

} // namespace graphmill
