#include "actors/http/metrics/share_metrics.hpp"

#include "actors/http/metrics/metric_writer.hpp"

#include <set>
#include <string>
#include <utility>

namespace graphmill {

namespace {

/// A negative number says that there is none.
figure_value if_known(double value) {
  return value < 0 ? figure_value{} : figure_value{value};
}

// -- of actors

/// Trainers learn from batches, and the dispatcher and the conductor say who
/// does what: they make no bytes.
bool makes_bytes(actor_kind kind) {
  return kind != actor_kind::trainer && kind != actor_kind::dispatcher
         && kind != actor_kind::conductor;
}

constexpr figure_of<actor_health> actor_figures[] = {
  {{"graphmill_actor_workers", metric_gauge, "Workers of the actor."},
   [](const actor_health& a) -> figure_value { return a.workers; }},
  {{"graphmill_actor_state_seconds", metric_gauge,
    "Time in the current state."},
   [](const actor_health& a) -> figure_value { return a.in_state; }},
  {{"graphmill_actor_queue_length", metric_gauge,
    "Items that wait for the actor."},
   [](const actor_health& a) -> figure_value { return double(a.queue); }},
  {{"graphmill_actor_items_total", metric_counter,
    "Items that the actor has finished in this attempt."},
   [](const actor_health& a) -> figure_value { return double(a.items); }},
  {{"graphmill_actor_bytes_total", metric_counter,
    "Bytes that the actor has produced or received in this attempt; not for "
    "trainers, dispatcher and conductor, which produce none."},
   [](const actor_health& a) -> figure_value {
     return if_known(makes_bytes(a.kind) ? double(a.bytes) : -1);
   }},
  {{"graphmill_actor_restarts_total", metric_counter,
    "Workers replaced in this attempt."},
   [](const actor_health& a) -> figure_value { return double(a.restarts); }},
  {{"graphmill_actor_latency_mean_seconds", metric_gauge,
    "Mean time from request to answer."},
   [](const actor_health& a) -> figure_value {
     return if_known(a.answers == 0 ? -1 : a.mean_latency);
   }},
  {{"graphmill_actor_credit_batches", metric_gauge,
    "Batches in flight that hold credit of the dispatcher."},
   [](const actor_health& a) -> figure_value {
     return if_known(a.most_batches == 0 ? -1 : double(a.credit_batches));
   }},
  {{"graphmill_actor_credit_limit_batches", metric_gauge,
    "Batches that may hold credit of the dispatcher."},
   [](const actor_health& a) -> figure_value {
     return if_known(a.most_batches == 0 ? -1 : double(a.most_batches));
   }},
  {{"graphmill_actor_credit_bytes", metric_gauge,
    "Bytes of batches in flight that hold credit of the dispatcher."},
   [](const actor_health& a) -> figure_value {
     return if_known(a.most_bytes == 0 ? -1 : double(a.credit_bytes));
   }},
  {{"graphmill_actor_credit_limit_bytes", metric_gauge,
    "Bytes of batches that may hold credit of the dispatcher."},
   [](const actor_health& a) -> figure_value {
     return if_known(a.most_bytes == 0 ? -1 : double(a.most_bytes));
   }},
};
constexpr metric_family actor_state_family{
  "graphmill_actor_state", metric_gauge,
  "1 for the actor's state, 0 for others."};
constexpr metric_family actor_time_family{
  "graphmill_actor_time_ratio", metric_gauge,
  "Share of its workers' time in each state."};
constexpr metric_family actor_latency_family{
  "graphmill_actor_latency_seconds", metric_gauge,
  "Upper bounds of percentiles of the time from request to answer."};

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
  to.begin(actor_time_family);
  for (const auto& [labels, actor] : actors)
    for (const auto& [state, share] :
         {std::pair{"busy", actor->busy}, std::pair{"starved", actor->starved},
          std::pair{"stalled", actor->stalled},
          std::pair{"waiting", actor->waiting}, std::pair{"down", actor->down}})
      to.add(labels + "," + metric_label("state", state), share);
  to.begin(actor_latency_family);
  for (const auto& [labels, actor] : actors)
    if (actor->answers != 0)
      for (const auto& [percentile, latency] :
           {std::pair{"50", actor->median_latency},
            std::pair{"90", actor->p90_latency},
            std::pair{"99", actor->p99_latency}})
        to.add(labels + "," + metric_label("percentile", percentile), latency);
  write_figures<actor_health>(to, actor_figures, actors);
}

// -- of daemons, and of their shares of a run

constexpr figure_of<daemon_load> load_figures[] = {
  {{"graphmill_daemon_cpu_cores", metric_gauge,
    "Processors that the daemon uses, averaged over a second."},
   [](const daemon_load& d) -> figure_value { return d.cores; }},
  {{"graphmill_daemon_memory_bytes", metric_gauge,
    "Private memory of the daemon."},
   [](const daemon_load& d) -> figure_value { return double(d.memory_bytes); }},
  {{"graphmill_daemon_memory_peak_bytes", metric_gauge,
    "Highest private memory of the daemon that was measured."},
   [](const daemon_load& d) -> figure_value {
     return double(d.peak_memory_bytes);
   }},
  {{"graphmill_daemon_mapped_bytes", metric_gauge,
    "Mapped files in memory (parts and programs), which the system may "
    "reclaim."},
   [](const daemon_load& d) -> figure_value { return double(d.mapped_bytes); }},
  {{"graphmill_daemon_threads", metric_gauge, "Threads of the daemon."},
   [](const daemon_load& d) -> figure_value { return d.threads; }},
  {{"graphmill_daemon_open_descriptors", metric_gauge,
    "Open descriptors of the daemon."},
   [](const daemon_load& d) -> figure_value { return d.descriptors; }},
  {{"graphmill_daemon_max_descriptors", metric_gauge,
    "Limit of open descriptors of the daemon."},
   [](const daemon_load& d) -> figure_value { return d.most_descriptors; }},
  {{"graphmill_daemon_disk_read_bytes_per_second", metric_gauge,
    "Bytes per second that the daemon reads from disks."},
   [](const daemon_load& d) -> figure_value { return d.disk_read_per_second; }},
  {{"graphmill_daemon_disk_written_bytes_per_second", metric_gauge,
    "Bytes per second that the daemon writes to disks."},
   [](const daemon_load& d) -> figure_value {
     return d.disk_written_per_second;
   }},
  {{"graphmill_daemon_sent_bytes_per_second", metric_gauge,
    "Bytes per second that the daemon sends to others."},
   [](const daemon_load& d) -> figure_value { return d.sent_per_second; }},
  {{"graphmill_daemon_received_bytes_per_second", metric_gauge,
    "Bytes per second that the daemon receives from others."},
   [](const daemon_load& d) -> figure_value { return d.received_per_second; }},
};

constexpr figure_of<daemon_health> share_figures[] = {
  {{"graphmill_daemon_report_age_seconds", metric_gauge,
    "Time since the daemon's last report about the run."},
   [](const daemon_health& d) -> figure_value { return d.age; }},
  {{"graphmill_daemon_row_cache_bytes", metric_gauge,
    "Memory of the row cache (rows of other daemons)."},
   [](const daemon_health& d) -> figure_value {
     return double(d.cache_bytes);
   }},
  {{"graphmill_daemon_answer_bytes", metric_gauge,
    "Memory of answers to other daemons."},
   [](const daemon_health& d) -> figure_value {
     return double(d.answer_bytes);
   }},
  {{"graphmill_daemon_answer_limit_bytes", metric_gauge,
    "Limit of the memory of answers to other daemons."},
   [](const daemon_health& d) -> figure_value {
     return if_known(d.most_answer_bytes == 0 ? -1
                                              : double(d.most_answer_bytes));
   }},
  {{"graphmill_daemon_disk_cache_bytes", metric_gauge,
    "Memory of the disk cache (rows of its own parts)."},
   [](const daemon_health& d) -> figure_value {
     return if_known(d.most_disk_cache_bytes == 0 ? -1
                                                  : double(d.disk_cache_bytes));
   }},
  {{"graphmill_daemon_disk_cache_limit_bytes", metric_gauge,
    "Limit of the disk cache."},
   [](const daemon_health& d) -> figure_value {
     return if_known(
       d.most_disk_cache_bytes == 0 ? -1 : double(d.most_disk_cache_bytes));
   }},
  {{"graphmill_daemon_disk_rows_wanted_total", metric_counter,
    "Rows requested from parts on disk in this attempt."},
   [](const daemon_health& d) -> figure_value {
     return double(d.disk_rows_wanted);
   }},
  {{"graphmill_daemon_disk_rows_found_total", metric_counter,
    "Those of them that were in the disk cache."},
   [](const daemon_health& d) -> figure_value {
     return double(d.disk_rows_found);
   }},
  {{"graphmill_daemon_row_cache_wanted_total", metric_counter,
    "Rows of other daemons that batches of the run needed."},
   [](const daemon_health& d) -> figure_value {
     return double(d.cache_rows_wanted);
   }},
  {{"graphmill_daemon_row_cache_found_total", metric_counter,
    "Those of them that were in the row cache."},
   [](const daemon_health& d) -> figure_value {
     return double(d.cache_rows_found);
   }},
  {{"graphmill_daemon_long_work", metric_gauge,
    "Actors and threads at one piece of work for too long, now or in the last "
    "minute; 8 at most. graphmill status RUN names them."},
   [](const daemon_health& d) -> figure_value {
     return double(d.long_work.size());
   }},
};
constexpr metric_family actors_left_out_family{
  "graphmill_daemon_actors_left_out", metric_gauge,
  "Actors of the daemon that are left out."};

constexpr figure_of<peer_health> peer_figures[] = {
  {{"graphmill_peer_round_trip_seconds", metric_gauge,
    "Mean time of requests from a daemon to another one."},
   [](const peer_health& p) -> figure_value {
     return if_known(p.requests == 0 ? -1 : p.mean_round_trip);
   }},
  {{"graphmill_peer_sent_bytes_per_second", metric_gauge,
    "Bytes per second from a daemon to another one."},
   [](const peer_health& p) -> figure_value { return p.sent_per_second; }},
  {{"graphmill_peer_received_bytes_per_second", metric_gauge,
    "Bytes per second that a daemon receives from another one."},
   [](const peer_health& p) -> figure_value { return p.received_per_second; }},
  {{"graphmill_peer_asked_requests_per_second", metric_gauge,
    "Requests per second from a daemon to another one, including gradients."},
   [](const peer_health& p) -> figure_value { return p.asked_per_second; }},
  {{"graphmill_peer_served_requests_per_second", metric_gauge,
    "Requests per second that a daemon answers for another one, including "
    "gradients."},
   [](const peer_health& p) -> figure_value { return p.served_per_second; }},
  {{"graphmill_peer_gradients_sent_bytes_per_second", metric_gauge,
    "Bytes of gradients per second from a daemon to another one."},
   [](const peer_health& p) -> figure_value {
     return p.gradients_sent_per_second;
   }},
  {{"graphmill_peer_gradients_received_bytes_per_second", metric_gauge,
    "Bytes of gradients per second that a daemon receives from another one."},
   [](const peer_health& p) -> figure_value {
     return p.gradients_received_per_second;
   }},
};

constexpr metric_family peer_state_family{
  "graphmill_peer_state", metric_gauge,
  "1 for the state of the connections from a daemon to another one."};

/// Two samples with the same labels would cost Prometheus the whole page.
template <class T>
void add_once(labelled<T>& to, std::set<std::string>& seen, std::string labels,
              const T& thing) {
  if (seen.insert(labels).second)
    to.emplace_back(std::move(labels), &thing);
}

} // namespace

void write_loads(metric_writer& to, const std::vector<daemon_status>& daemons) {
  labelled<daemon_load> loads;
  for (const auto& daemon : daemons)
    if (daemon.load)
      loads.emplace_back(metric_label("daemon", daemon.name), &*daemon.load);
  write_figures<daemon_load>(to, load_figures, loads);
}

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
  write_figures<daemon_health>(to, share_figures, daemons);
  to.begin(actors_left_out_family);
  for (const auto& [labels, count] : left_out)
    to.add(labels, double(count));
  write_figures<peer_health>(to, peer_figures, peers);
  to.begin(peer_state_family);
  for (const auto& [labels, peer] : peers)
    to.add(labels + "," + metric_label("state", to_string(peer->state)), 1);
  write_actors(to, actors);
}

} // namespace graphmill
