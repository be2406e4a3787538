#include "actors/http/metrics/prometheus_text.hpp"

#include "actors/http/metrics/metric_writer.hpp"
#include "actors/http/metrics/share_metrics.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

double seconds_of(unix_time time) {
  return static_cast<double>(time.count()) / 1000;
}

template <class T>
void write_table(metric_writer& to, std::span<const figure_of<T>> figures,
                 const T& of, const std::string& labels = {}) {
  write_figures<T>(to, figures, {{labels, &of}});
}

// -- of the cluster

constexpr figure_of<cluster_figures> cluster_table[] = {
  {{"graphmill_coordinator_snapshot_timestamp_seconds", metric_gauge,
    "Time of these figures, since 1970."},
   [](const cluster_figures& c) -> figure_value {
     return seconds_of(c.taken);
   }},
  {{"graphmill_coordinator_ready", metric_gauge,
    "Whether the coordinator accepts runs."},
   [](const cluster_figures& c) -> figure_value { return c.unready.empty(); }},
  {{"graphmill_dataset_parts", metric_gauge, "Parts of the dataset."},
   [](const cluster_figures& c) -> figure_value { return c.status.parts; }},
  {{"graphmill_runs_queued", metric_gauge, "Runs in the queue."},
   [](const cluster_figures& c) -> figure_value {
     return double(c.status.queued.size());
   }},
  {{"graphmill_runs_running", metric_gauge, "Running runs."},
   [](const cluster_figures& c) -> figure_value {
     return double(c.status.all_running().size());
   }},
  {{"graphmill_history_failing", metric_gauge,
    "Whether results of runs cannot be written to disk."},
   [](const cluster_figures& c) -> figure_value {
     return !c.status.note.empty();
   }},
  {{"graphmill_runs_disk_free_bytes", metric_gauge,
    "Free space on the disk with the folder of runs."},
   [](const cluster_figures& c) -> figure_value {
     return c.disk_size == 0 ? figure_value{} : double(c.disk_free);
   }},
  {{"graphmill_runs_disk_size_bytes", metric_gauge,
    "Size of the disk with the folder of runs."},
   [](const cluster_figures& c) -> figure_value {
     return c.disk_size == 0 ? figure_value{} : double(c.disk_size);
   }},
};
constexpr metric_family coordinator_family{
  "graphmill_coordinator_info", metric_gauge,
  "1, with the name of the coordinator and its dataset."};
constexpr metric_family runs_over_family{
  "graphmill_runs_over_total", metric_counter,
  "Runs that have ended since this coordinator started."};
constexpr metric_family daemons_family{"graphmill_daemons", metric_gauge,
                                       "Daemons of the cluster by state."};
constexpr metric_family daemon_state_family{
  "graphmill_daemon_state", metric_gauge,
  "1 for the daemon's state, 0 for others."};

constexpr figure_of<daemon_status> daemon_table[] = {
  {{"graphmill_daemon_slots", metric_gauge,
    "Trainers that the daemon can run."},
   [](const daemon_status& d) -> figure_value { return d.slots; }},
  {{"graphmill_daemon_parts", metric_gauge, "Parts that the daemon serves."},
   [](const daemon_status& d) -> figure_value {
     return double(d.parts.size());
   }},
  {{"graphmill_daemon_cuda_devices", metric_gauge,
    "CUDA devices of the daemon."},
   [](const daemon_status& d) -> figure_value { return d.cuda_devices; }},
};
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
  for (const auto& daemon : daemons)
    all.emplace_back(metric_label("daemon", daemon.name), &daemon);
  write_figures<daemon_status>(to, daemon_table, all);
  write_loads(to, daemons);
}

// -- of the runs that are on

constexpr metric_family run_family{"graphmill_run_info", metric_gauge,
                                   "1, with id and name of the run."};
constexpr figure_of<run_figures> run_table[] = {
  {{"graphmill_run_attempt", metric_gauge,
    "Attempts of the run so far; a lost daemon starts another one."},
   [](const run_figures& r) -> figure_value { return r.attempt; }},
  {{"graphmill_run_started_timestamp_seconds", metric_gauge,
    "Start of the run, since 1970."},
   [](const run_figures& r) -> figure_value { return seconds_of(r.started); }},
  {{"graphmill_run_silent_daemons", metric_gauge,
    "Daemons of the run that have not reported for seconds."},
   [](const run_figures& r) -> figure_value {
     return double(r.health.silent.size());
   }},
  {{"graphmill_run_daemons_left_out", metric_gauge,
    "Daemons of the run that are left out to limit the size of the page."},
   [](const run_figures& r) -> figure_value { return r.health.left_out; }},
};
constexpr metric_family phase_family{
  "graphmill_run_phase", metric_gauge,
  "1 for the phase of the run, 0 for others."};
constexpr figure_of<run_progress> progress_table[] = {
  {{"graphmill_run_epoch", metric_gauge, "Epoch of the run, from 0."},
   [](const run_progress& p) -> figure_value { return p.epoch; }},
  {{"graphmill_run_epochs", metric_gauge, "Largest number of epochs."},
   [](const run_progress& p) -> figure_value { return p.epochs; }},
  {{"graphmill_run_step", metric_gauge, "Finished steps of the phase."},
   [](const run_progress& p) -> figure_value { return double(p.step); }},
  {{"graphmill_run_steps", metric_gauge, "Steps of the phase."},
   [](const run_progress& p) -> figure_value { return double(p.steps); }},
  {{"graphmill_run_loss", metric_gauge,
    "Mean loss of the last finished training epoch. For an epoch longer than "
    "that, and until the next one ends, the mean of its steps in the last 10 "
    "to 20 s. In the first epoch, from its first step on."},
   [](const run_progress& p) -> figure_value { return p.loss; }},
  {{"graphmill_run_learning_rate", metric_gauge, "Learning rate."},
   [](const run_progress& p) -> figure_value { return p.learning_rate; }},
  {{"graphmill_run_seeds_per_second", metric_gauge,
    "Training seeds per second, over the last 10 to 20 s of the current or "
    "last epoch."},
   [](const run_progress& p) -> figure_value { return p.seeds_per_second; }},
  {{"graphmill_run_remaining_seconds", metric_gauge,
    "Time until all epochs, or train.max_steps, are trained at this pace."},
   [](const run_progress& p) -> figure_value {
     return p.seconds_left < 0 ? figure_value{} : p.seconds_left;
   }},
  {{"graphmill_run_checkpoint_age_seconds", metric_gauge,
    "Time since the last checkpoint was written."},
   [](const run_progress& p) -> figure_value {
     return p.checkpoint_age < 0 ? figure_value{} : p.checkpoint_age;
   }},
};

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
  write_figures<run_figures>(to, run_table, all);
  to.begin(phase_family);
  for (const auto& [label, of] : progress)
    for (const auto which : {phase::train, phase::validation, phase::test})
      to.add(label + (several ? "," : "")
               + metric_label("phase", to_string(which)),
             of->phase == which);
  write_figures<run_progress>(to, progress_table, progress);
  write_shares(to, shares, several);
}

void write_cluster(metric_writer& to, const cluster_figures& cluster) {
  to.add(coordinator_family,
         metric_label("coordinator", cluster.status.coordinator) + ","
           + metric_label("dataset", cluster.status.dataset),
         1);
  write_table<cluster_figures>(to, cluster_table, cluster);
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

constexpr figure_of<daemon_figures> process_table[] = {
  {{"graphmill_process_snapshot_timestamp_seconds", metric_gauge,
    "Time of these figures, since 1970."},
   [](const daemon_figures& d) -> figure_value { return seconds_of(d.taken); }},
  {{"graphmill_process_registered", metric_gauge,
    "Whether the daemon is registered with the coordinator."},
   [](const daemon_figures& d) -> figure_value { return d.registered; }},
  {{"graphmill_process_cpu_seconds_total", metric_counter,
    "Processor time that the process has used."},
   [](const daemon_figures& d) -> figure_value {
     return d.process.cpu_seconds;
   }},
  {{"graphmill_process_memory_bytes", metric_gauge,
    "Private memory of the process."},
   [](const daemon_figures& d) -> figure_value {
     return double(d.memory_bytes);
   }},
  {{"graphmill_process_memory_peak_bytes", metric_gauge,
    "Highest private memory of the process that was measured."},
   [](const daemon_figures& d) -> figure_value {
     return double(d.peak_memory_bytes);
   }},
  {{"graphmill_process_memory_available_bytes", metric_gauge,
    "Memory that the process could still allocate."},
   [](const daemon_figures& d) -> figure_value {
     return double(d.memory_available);
   }},
  {{"graphmill_process_threads", metric_gauge, "Threads of the process."},
   [](const daemon_figures& d) -> figure_value { return d.process.threads; }},
  {{"graphmill_process_open_descriptors", metric_gauge,
    "Open descriptors of the process."},
   [](const daemon_figures& d) -> figure_value {
     return d.process.descriptors;
   }},
  {{"graphmill_process_max_descriptors", metric_gauge,
    "Limit of open descriptors."},
   [](const daemon_figures& d) -> figure_value {
     return d.process.most_descriptors;
   }},
  {{"graphmill_process_disk_read_bytes_total", metric_counter,
    "Bytes that the process has read from disks."},
   [](const daemon_figures& d) -> figure_value {
     return double(d.process.disk_read);
   }},
  {{"graphmill_process_disk_written_bytes_total", metric_counter,
    "Bytes that the process has written to disks."},
   [](const daemon_figures& d) -> figure_value {
     return double(d.process.disk_written);
   }},
};
constexpr figure_of<daemon_figures::traffic_sums> traffic_table[] = {
  {{"graphmill_transport_sent_bytes_total", metric_counter,
    "Bytes of messages that the process has sent to daemons and clients."},
   [](const daemon_figures::traffic_sums& t) -> figure_value {
     return double(t.bytes_sent);
   }},
  {{"graphmill_transport_received_bytes_total", metric_counter,
    "Bytes of messages that the process has received."},
   [](const daemon_figures::traffic_sums& t) -> figure_value {
     return double(t.bytes_received);
   }},
  {{"graphmill_transport_sent_messages_total", metric_counter,
    "Messages that the process has sent."},
   [](const daemon_figures::traffic_sums& t) -> figure_value {
     return double(t.messages_sent);
   }},
  {{"graphmill_transport_received_messages_total", metric_counter,
    "Messages that the process has received."},
   [](const daemon_figures::traffic_sums& t) -> figure_value {
     return double(t.messages_received);
   }},
  {{"graphmill_transport_retries_total", metric_counter,
    "Repeated attempts at requests."},
   [](const daemon_figures::traffic_sums& t) -> figure_value {
     return double(t.retries);
   }},
  {{"graphmill_transport_malformed_messages_total", metric_counter,
    "Malformed messages, each of which ended its connection."},
   [](const daemon_figures::traffic_sums& t) -> figure_value {
     return double(t.malformed);
   }},
  {{"graphmill_transport_refused_connections_total", metric_counter,
    "Connections refused for their key."},
   [](const daemon_figures::traffic_sums& t) -> figure_value {
     return double(t.refused);
   }},
};
constexpr metric_family process_family{"graphmill_process_info", metric_gauge,
                                       "1, with the name of the daemon."};

void write_process(metric_writer& to, const daemon_figures& own) {
  to.add(process_family, metric_label("daemon", own.daemon), 1);
  write_table<daemon_figures>(to, process_table, own);
  write_table<daemon_figures::traffic_sums>(to, traffic_table, own.traffic);
}

// -- of the HTTP server itself

constexpr figure_of<http_counts> http_table[] = {
  {{"graphmill_http_connections", metric_gauge,
    "Connections of this HTTP server."},
   [](const http_counts& h) -> figure_value {
     const std::uint64_t closed = h.closed; // First: it never is the greater.
     return double(h.connections - closed);
   }},
  {{"graphmill_http_connections_total", metric_counter,
    "Connections that this HTTP server has taken."},
   [](const http_counts& h) -> figure_value { return double(h.connections); }},
  {{"graphmill_http_crowded_out_total", metric_counter,
    "Connections that were closed to make room for others."},
   [](const http_counts& h) -> figure_value { return double(h.crowded_out); }},
  {{"graphmill_http_streams_total", metric_counter,
    "Connections that have become streams of events."},
   [](const http_counts& h) -> figure_value { return double(h.streams); }},
  {{"graphmill_http_slow_streams_total", metric_counter,
    "Streams that were dropped because nobody took what they said."},
   [](const http_counts& h) -> figure_value { return double(h.slow_streams); }},
  {{"graphmill_http_answered_total", metric_counter,
    "Requests that this HTTP server has answered with their page."},
   [](const http_counts& h) -> figure_value { return double(h.answered); }},
  {{"graphmill_http_refused_total", metric_counter,
    "Requests that this HTTP server has answered with anything else."},
   [](const http_counts& h) -> figure_value { return double(h.refused); }},
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
  write_table<http_counts>(out, http_table, served);
  return out.take();
}

} // namespace graphmill
