#include "actors/http/metrics/prometheus_text.hpp"

#include "actors/http/metrics/metric_writer.hpp"
#include "pipelines/figures/figure_tables.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

// -- of actors

constexpr metric_family actor_state_family{
  "graphmill_actor_state", "1 for the actor's state, 0 for others."};

/// "part=2", but nothing for what an actor has none of.
/// @param share Labels of its daemon's share of a run.
std::string labels_of(const std::string& share, const actor_health& actor) {
  auto out = share + "," + metric_label("actor", to_string(actor.kind));
  if (actor.part >= 0)
    out += fmt::format(",part=\"{}\"", actor.part);
  if (actor.rank >= 0)
    out += fmt::format(",rank=\"{}\"", actor.rank);
  if (!actor.peer.empty())
    out += "," + metric_label("peer", actor.peer);
  return out;
}

void write_actors(metric_writer& to, const labelled<actor_health>& actors) {
  to.begin(actor_state_family);
  for (const auto& [labels, actor] : actors)
    to.add(labels + "," + metric_label("state", to_string(actor->state)), 1);
  write_figures<actor_health>(to, figures::actor, actors);
}

// -- of daemons, and of their shares of a run

constexpr metric_family actors_left_out_family{
  "graphmill_daemon_actors_left_out",
  "Actors of the daemon that are left out."};

constexpr metric_family peer_state_family{
  "graphmill_peer_state",
  "1 for the state of the connections from a daemon to another one."};

/// Two samples with the same labels would cost Prometheus the whole page.
template <class T>
void add_once(labelled<T>& to, std::set<std::string>& seen, std::string labels,
              const T& thing) {
  if (seen.insert(labels).second)
    to.emplace_back(std::move(labels), &thing);
}

/// Writes what daemons have told of their shares of runs: of each daemon, of
/// its ways to others, and of each of its actors.
/// @param shares Of different daemons, or runs.
/// @param several Whether each sample names its run; else all are of one.
void write_shares(metric_writer& to,
                  const std::vector<const daemon_health*>& shares,
                  bool several) {
  std::set<std::string> seen;
  labelled<daemon_health> daemons;
  labelled<peer_health> peers;
  labelled<actor_health> actors;
  std::vector<std::pair<std::string, std::size_t>> left_out;
  for (const auto* share : shares) {
    auto labels = metric_label("daemon", share->daemon);
    if (several)
      labels += "," + metric_label("run", share->run);
    daemons.emplace_back(labels, share);
    for (const auto& peer : share->peers)
      add_once(peers, seen, labels + "," + metric_label("peer", peer.name),
               peer);
    const auto before = actors.size();
    for (const auto& actor : share->actors)
      add_once(actors, seen, labels_of(labels, actor), actor);
    left_out.emplace_back(labels, share->left_out + share->actors.size()
                                    - (actors.size() - before));
  }
  write_figures<daemon_health>(to, figures::share, daemons);
  to.begin(actors_left_out_family);
  for (const auto& [labels, count] : left_out)
    to.add(labels, double(count));
  write_figures<peer_health>(to, figures::peer, peers);
  to.begin(peer_state_family);
  for (const auto& [labels, peer] : peers)
    to.add(labels + "," + metric_label("state", to_string(peer->state)), 1);
  write_actors(to, actors);
}

// -- of the cluster

constexpr metric_family coordinator_family{
  "graphmill_coordinator_info",
  "1, with the name of the coordinator and its dataset."};
constexpr metric_family runs_over_family{
  "graphmill_runs_over_total",
  "Runs that have ended since this coordinator started."};
constexpr metric_family daemons_family{"graphmill_daemons",
                                       "Daemons of the cluster by state."};
constexpr metric_family daemon_state_family{
  "graphmill_daemon_state", "1 for the daemon's state, 0 for others."};

constexpr std::array daemon_states{daemon_state::ready, daemon_state::draining,
                                   daemon_state::lost, daemon_state::damaged};

void write_daemons(metric_writer& to,
                   const std::vector<daemon_status>& daemons) {
  to.begin(daemons_family);
  for (const auto state : daemon_states)
    to.add(metric_label("state", to_string(state)),
           double(std::ranges::count(daemons, state, &daemon_status::state)));
  to.begin(daemon_state_family);
  for (const auto& daemon : daemons)
    for (const auto state : daemon_states)
      to.add(metric_label("daemon", daemon.name) + ","
               + metric_label("state", to_string(state)),
             daemon.state == state);
  labelled<daemon_status> all;
  labelled<daemon_load> loads;
  for (const auto& daemon : daemons) {
    all.emplace_back(metric_label("daemon", daemon.name), &daemon);
    if (daemon.load)
      loads.emplace_back(all.back().first, &*daemon.load);
  }
  write_figures<daemon_status>(to, figures::daemon, all);
  write_figures<daemon_load>(to, figures::load, loads);
}

// -- of the runs that are on

constexpr metric_family run_family{"graphmill_run_info",
                                   "1, with id and name of the run."};
constexpr metric_family phase_family{
  "graphmill_run_phase", "1 for the phase of the run, 0 for others."};

/// All of one family stand together, whatever run they are of.
/// @param several Whether what is told of a run names it.
void write_runs(metric_writer& to, const std::vector<run_figures>& runs,
                bool several) {
  labelled<run_figures> all;
  labelled<run_progress> progress;
  std::vector<const daemon_health*> shares;
  to.begin(run_family);
  for (const auto& run : runs) {
    const auto label = metric_label("run", run.health.run);
    to.add(label + "," + metric_label("name", run.name), 1);
    all.emplace_back(several ? label : std::string{}, &run);
    if (run.health.progress)
      progress.emplace_back(all.back().first, &*run.health.progress);
    for (const auto& share : run.health.daemons)
      shares.push_back(&share);
  }
  write_figures<run_figures>(to, figures::run, all);
  to.begin(phase_family);
  for (const auto& [label, of] : progress)
    for (const auto which : {phase::train, phase::validation, phase::test})
      to.add(label + (several ? "," : "")
               + metric_label("phase", to_string(which)),
             of->phase == which);
  write_figures<run_progress>(to, figures::progress, progress);
  write_shares(to, shares, several);
}

void write_cluster(metric_writer& to, const cluster_figures& cluster) {
  to.begin(coordinator_family);
  to.add(metric_label("coordinator", cluster.status.coordinator) + ","
           + metric_label("dataset", cluster.status.dataset),
         1);
  write_figures<cluster_figures>(to, figures::cluster, {{"", &cluster}});
  to.begin(runs_over_family);
  for (std::size_t i = 0; i < cluster.over.size(); ++i)
    to.add(metric_label("state",
                        to_string(static_cast<run_state>(
                          static_cast<std::size_t>(run_state::finished) + i))),
           double(cluster.over[i]));
  write_daemons(to, cluster.status.daemons);
  if (!cluster.runs.empty())
    write_runs(to, cluster.runs, cluster.several);
}

// -- of the daemon that answers

constexpr metric_family process_family{"graphmill_process_info",
                                       "1, with the name of the daemon."};

void write_process(metric_writer& to, const daemon_figures& own) {
  to.begin(process_family);
  to.add(metric_label("daemon", own.daemon), 1);
  write_figures<daemon_figures>(to, figures::process, {{"", &own}});
  write_figures<daemon_figures::traffic_sums>(to, figures::traffic,
                                              {{"", &own.traffic}});
}

// -- of the HTTP server itself

constexpr figure<http_counts> http_table[] = {
  {"graphmill_http_connections", figure_unit::count,
   "Connections of this HTTP server.",
   [](const http_counts& h) -> figure_value {
     const std::uint64_t closed = h.closed; // First: it never is the greater.
     return double(h.connections - closed);
   }},
  {"graphmill_http_connections_total", figure_unit::count,
   "Connections that this HTTP server has accepted.",
   figures::in<&http_counts::connections>},
  {"graphmill_http_crowded_out_total", figure_unit::count,
   "Connections closed to make room for others.",
   figures::in<&http_counts::crowded_out>},
  {"graphmill_http_streams_total", figure_unit::count,
   "Connections that became streams of events.",
   figures::in<&http_counts::streams>},
  {"graphmill_http_slow_streams_total", figure_unit::count,
   "Streams dropped because their reader was too slow.",
   figures::in<&http_counts::slow_streams>},
  {"graphmill_http_answered_total", figure_unit::count,
   "Requests that this HTTP server has answered with what they asked for.",
   figures::in<&http_counts::answered>},
  {"graphmill_http_refused_total", figure_unit::count,
   "Requests that this HTTP server has answered otherwise.",
   figures::in<&http_counts::refused>},
};

} // namespace

std::string prometheus_text(const cluster_figures* cluster,
                            const daemon_figures* own,
                            const http_counts& served) {
  metric_writer out;
  if (cluster != nullptr)
    write_cluster(out, *cluster);
  if (own != nullptr) {
    write_process(out, *own);
    if (cluster == nullptr && !own->shares.empty()) {
      std::vector<const daemon_health*> shares;
      for (const auto& share : own->shares)
        shares.push_back(&share);
      write_shares(out, shares, own->several);
    }
  }
  write_figures<http_counts>(out, http_table, {{"", &served}});
  return out.take();
}

} // namespace graphmill
