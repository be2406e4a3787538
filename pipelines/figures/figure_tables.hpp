#pragma once

#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"
#include "pipelines/figures/figure.hpp"
#include "pipelines/figures/figures_board.hpp"

#include <cstddef>

namespace graphmill::figures {

// All figures of a cluster, by what they are of. All that shows figures reads
// these tables: metrics for Prometheus, JSON and histories (those with a
// `field`), `graphmill status` and `top` (with a `column`), and the web page
// (with a `title`). A new figure of daemons is a row here, and what
// `health_reporter` adds to `daemon_load::further`: actors/monitoring.md.

using enum figure_unit;
using enum column_room;

inline figure_value seconds_of(unix_time time) {
  return double(time.count()) / 1000;
}

// -- of the cluster

inline constexpr figure<cluster_figures> cluster[] = {
  {"graphmill_coordinator_snapshot_timestamp_seconds", since_1970,
   "Time of these figures, since 1970.",
   [](const cluster_figures& c) { return seconds_of(c.taken); }},
  {"graphmill_coordinator_ready", flag, "Whether the coordinator accepts runs.",
   [](const cluster_figures& c) -> figure_value { return c.unready.empty(); }},
  {"graphmill_dataset_parts", count, "Parts of the dataset.",
   in<&cluster_figures::status, &status_reply::parts>},
  {"graphmill_runs_queued", count, "Runs in the queue.",
   in<&cluster_figures::status, &status_reply::queued>},
  {"graphmill_runs_running", count, "Running runs.",
   [](const cluster_figures& c) -> figure_value {
     return double(c.status.all_running().size());
   }},
  {"graphmill_history_failing", flag,
   "Whether results of runs cannot be written to disk.",
   [](const cluster_figures& c) -> figure_value {
     return !c.status.note.empty();
   }},
  {"graphmill_runs_disk_free_bytes", bytes,
   "Free space on the disk with the folder of runs.",
   if_any<&cluster_figures::disk_size, &cluster_figures::disk_free>},
  {"graphmill_runs_disk_size_bytes", bytes,
   "Size of the disk with the folder of runs.",
   if_any<&cluster_figures::disk_size>},
};

// -- of each daemon

inline constexpr figure<daemon_status> daemon[] = {
  {"graphmill_daemon_slots", count, "Trainers that the daemon can run.",
   in<&daemon_status::slots>},
  {"graphmill_daemon_parts", count, "Parts that the daemon serves.",
   in<&daemon_status::parts>},
  {"graphmill_daemon_cuda_devices", count, "CUDA devices of the daemon.",
   in<&daemon_status::cuda_devices>},
};

inline constexpr figure<daemon_load> load[] = {
  {"graphmill_daemon_cpu_cores", processors,
   "Processors that the daemon uses, averaged over a second.",
   in<&daemon_load::cores>, "cores", "cpus", "Processors in use", small},
  {"graphmill_daemon_memory_bytes", bytes, "Private memory of the daemon.",
   in<&daemon_load::memory_bytes>, "memory_bytes", "mem", "Memory", small},
  {"graphmill_daemon_memory_peak_bytes", bytes,
   "Highest private memory of the daemon that was measured.",
   in<&daemon_load::peak_memory_bytes>, "", "peak", "", list},
  {"graphmill_daemon_mapped_bytes", bytes,
   "Mapped files in memory (parts and programs), which the system may reclaim.",
   in<&daemon_load::mapped_bytes>, "", "mapped", "", list},
  {"graphmill_daemon_threads", count, "Threads of the daemon.",
   in<&daemon_load::threads>, "", "threads"},
  {"graphmill_daemon_open_descriptors", count,
   "Open descriptors of the daemon.", in<&daemon_load::descriptors>, "",
   "descriptors", "", list},
  {"graphmill_daemon_max_descriptors", count,
   "Limit of open descriptors of the daemon.",
   in<&daemon_load::most_descriptors>, "", "of", "", list},
  {"graphmill_daemon_received_bytes_per_second", bytes_per_second,
   "Bytes per second that the daemon receives from others.",
   in<&daemon_load::received_per_second>, "received_per_second", "in",
   "Received from other daemons", screen},
  {"graphmill_daemon_sent_bytes_per_second", bytes_per_second,
   "Bytes per second that the daemon sends to others.",
   in<&daemon_load::sent_per_second>, "sent_per_second", "out",
   "Sent to other daemons", screen},
  {"graphmill_daemon_disk_read_bytes_per_second", bytes_per_second,
   "Bytes per second that the daemon reads from disks.",
   in<&daemon_load::disk_read_per_second>, "disk_read_per_second", "disk in",
   "Read from disks", list},
  {"graphmill_daemon_disk_written_bytes_per_second", bytes_per_second,
   "Bytes per second that the daemon writes to disks.",
   in<&daemon_load::disk_written_per_second>, "disk_written_per_second",
   "disk out", "Written to disks", list},
  {"", bytes_per_second, "Bytes per second from and to disks.",
   [](const daemon_load& d) -> figure_value {
     return d.disk_read_per_second + d.disk_written_per_second;
   },
   "", "disk", "", screen},
  {"graphmill_daemon_host_load", processors,
   "Threads of the daemon's machine that run, or wait for a processor or a "
   "disk, averaged over a minute.",
   nullptr, "host_load", "load", "Load of the machine"},
};

// -- of each run that is on

inline constexpr figure<run_figures> run[] = {
  {"graphmill_run_attempt", count,
   "Attempts of the run so far; a lost daemon starts another one.",
   in<&run_figures::attempt>},
  {"graphmill_run_started_timestamp_seconds", since_1970,
   "Start of the run, since 1970.",
   [](const run_figures& r) { return seconds_of(r.started); }},
  {"graphmill_run_feeds", count,
   "1 for a run that feeds a consumer, which takes batches when it likes; 0 "
   "for one that trains.",
   [](const run_figures& r) -> figure_value { return r.feeds ? 1.0 : 0.0; }},
  {"graphmill_run_silent_daemons", count,
   "Daemons of the run that have not reported for seconds.",
   in<&run_figures::health, &run_health::silent>},
  {"graphmill_run_daemons_left_out", count,
   "Daemons of the run that are left out to limit the size of the page.",
   in<&run_figures::health, &run_health::left_out>},
};

inline constexpr figure<run_progress> progress[] = {
  {"graphmill_run_epoch", count, "Epoch of the run, from 0.",
   in<&run_progress::epoch>, "epoch"},
  {"graphmill_run_epochs", count, "Largest number of epochs.",
   in<&run_progress::epochs>, "epochs"},
  {"graphmill_run_step", count, "Finished steps of the phase.",
   in<&run_progress::step>, "step"},
  {"graphmill_run_steps", count, "Steps of the phase.",
   in<&run_progress::steps>, "steps"},
  {"graphmill_run_loss", loss,
   "Mean loss of the last finished training epoch. For an epoch longer than "
   "that, and until the next one ends, the mean of its steps in the last 10 "
   "to 20 s. In the first epoch, from its first step on.",
   in<&run_progress::loss>, "loss", "", "Loss of training"},
  {"graphmill_run_learning_rate", number, "Learning rate.",
   in<&run_progress::learning_rate>, "learning_rate", "", "Learning rate"},
  {"graphmill_run_seeds_per_second", per_second,
   "Training seeds per second, over the last 10 to 20 s of the current or "
   "last epoch.",
   in<&run_progress::seeds_per_second>, "seeds_per_second", "",
   "Seeds per second"},
  {"graphmill_run_remaining_seconds", seconds,
   "Time until all epochs, or train.max_steps, are trained at this pace.",
   if_known<&run_progress::seconds_left>},
  {"graphmill_run_checkpoint_age_seconds", seconds,
   "Time since the last checkpoint was written.",
   if_known<&run_progress::checkpoint_age>, "checkpoint_age"},
};

// -- of what daemons do for a run

/// Trainers learn from batches, and the dispatcher and the conductor say who
/// does what: they make no bytes.
constexpr bool makes_bytes(actor_kind kind) {
  return kind != actor_kind::trainer && kind != actor_kind::dispatcher
         && kind != actor_kind::conductor;
}

/// Those whose workers' time has curves on the web page, in this order.
inline constexpr actor_kind curved_stages[] = {
  actor_kind::sampler,          actor_kind::fetcher,
  actor_kind::batcher,          actor_kind::trainer,
  actor_kind::sampling_service, actor_kind::feature_service,
};

inline constexpr figure<actor_health> actor[] = {
  {"graphmill_actor_time_ratio", ratio,
   "Share of its workers' time in each state.", in<&actor_health::busy>, "busy",
   "busy", "Share of time that stages are busy", screen, "state=\"busy\""},
  {"graphmill_actor_time_ratio", ratio, "Waits for input.",
   in<&actor_health::starved>, "starved", "input", "", wide,
   "state=\"starved\""},
  {"graphmill_actor_time_ratio", ratio, "Waits for credit.",
   in<&actor_health::stalled>, "stalled", "credit", "", wide,
   "state=\"stalled\""},
  {"graphmill_actor_time_ratio", ratio, "Waits for replies.",
   in<&actor_health::waiting>, "waiting", "reply",
   "Share of time that stages wait for answers", wide, "state=\"waiting\""},
  {"graphmill_actor_time_ratio", ratio, "Without worker.",
   in<&actor_health::down>, "", "", "", wide, "state=\"down\""},
  {"graphmill_actor_queue_length", count, "Items that wait for the actor.",
   in<&actor_health::queue>, "", "queue", "", screen},
  {"", per_second, "Items that the actor finishes in a second.",
   in<&actor_health::items_per_second>, "", "items", "", screen},
  {"graphmill_actor_latency_seconds", latency,
   "Upper bounds of percentiles of the time from request to answer.",
   if_any<&actor_health::answers, &actor_health::median_latency>, "", "p50", "",
   wide, "percentile=\"50\""},
  {"graphmill_actor_latency_seconds", latency, "Of 90 %.",
   if_any<&actor_health::answers, &actor_health::p90_latency>, "", "", "", wide,
   "percentile=\"90\""},
  {"graphmill_actor_latency_seconds", latency, "Of 99 %.",
   if_any<&actor_health::answers, &actor_health::p99_latency>, "", "p99", "",
   screen, "percentile=\"99\""},
  {"graphmill_actor_latency_mean_seconds", latency,
   "Mean time from request to answer.",
   if_any<&actor_health::answers, &actor_health::mean_latency>},
  {"graphmill_actor_workers", count, "Workers of the actor.",
   in<&actor_health::workers>, "", "workers"},
  {"graphmill_actor_restarts_total", count, "Workers replaced in this attempt.",
   in<&actor_health::restarts>, "", "restarts"},
  {"graphmill_actor_state_seconds", seconds, "Time in the current state.",
   in<&actor_health::in_state>},
  {"graphmill_actor_items_total", count,
   "Items that the actor has finished in this attempt.",
   in<&actor_health::items>},
  {"graphmill_actor_bytes_total", bytes,
   "Bytes that the actor has produced or received in this attempt; not for "
   "trainers, dispatcher and conductor, which produce none.",
   [](const actor_health& a) {
     return makes_bytes(a.kind) ? in<&actor_health::bytes>(a) : figure_value{};
   }},
  {"graphmill_actor_credit_batches", count,
   "Batches in flight that hold credit of the dispatcher.",
   if_any<&actor_health::most_batches, &actor_health::credit_batches>},
  {"graphmill_actor_credit_limit_batches", count,
   "Batches that may hold credit of the dispatcher.",
   if_any<&actor_health::most_batches>},
  {"graphmill_actor_credit_bytes", bytes,
   "Bytes of batches in flight that hold credit of the dispatcher.",
   if_any<&actor_health::most_bytes, &actor_health::credit_bytes>},
  {"graphmill_actor_credit_limit_bytes", bytes,
   "Bytes of batches that may hold credit of the dispatcher.",
   if_any<&actor_health::most_bytes>},
};

inline constexpr figure<daemon_health> share[] = {
  {"graphmill_daemon_report_age_seconds", seconds,
   "Time since the daemon's last report about the run.",
   in<&daemon_health::age>},
  {"graphmill_daemon_row_cache_bytes", bytes,
   "Memory of the row cache (rows of other daemons).",
   in<&daemon_health::cache_bytes>, "", "row cache", "", list},
  {"graphmill_daemon_answer_bytes", bytes,
   "Memory of answers to other daemons.", in<&daemon_health::answer_bytes>, "",
   "answers", "", list},
  {"graphmill_daemon_answer_limit_bytes", bytes,
   "Limit of the memory of answers to other daemons.",
   if_any<&daemon_health::most_answer_bytes>, "", "of", "", list},
  {"graphmill_daemon_disk_cache_bytes", bytes,
   "Memory of the disk cache (rows of its own parts).",
   if_any<&daemon_health::most_disk_cache_bytes,
          &daemon_health::disk_cache_bytes>,
   "", "disk cache", "", list},
  {"graphmill_daemon_disk_cache_limit_bytes", bytes, "Limit of the disk cache.",
   if_any<&daemon_health::most_disk_cache_bytes>, "", "of", "", list},
  {"graphmill_daemon_disk_rows_wanted_total", count,
   "Rows requested from parts on disk in this attempt.",
   in<&daemon_health::disk_rows_wanted>, "", "rows from disk", "", list},
  {"graphmill_daemon_disk_rows_found_total", count,
   "Those of them that were in the disk cache.",
   in<&daemon_health::disk_rows_found>, "", "cached", "", list},
  {"graphmill_daemon_row_cache_wanted_total", count,
   "Rows of other daemons that batches of the run needed.",
   in<&daemon_health::cache_rows_wanted>},
  {"graphmill_daemon_row_cache_found_total", count,
   "Those of them that were in the row cache.",
   in<&daemon_health::cache_rows_found>},
  {"graphmill_daemon_long_work", count,
   "Actors and threads at one piece of work for too long, now or in the last "
   "minute; 8 at most. graphmill status RUN names them.",
   in<&daemon_health::long_work>},
};

inline constexpr figure<peer_health> peer[] = {
  {"graphmill_peer_round_trip_seconds", latency,
   "Mean time of requests from a daemon to another one.",
   if_any<&peer_health::requests, &peer_health::mean_round_trip>, "",
   "round trip", "", list},
  {"graphmill_peer_sent_bytes_per_second", bytes_per_second,
   "Bytes per second from a daemon to another one.",
   in<&peer_health::sent_per_second>, "", "out", "", list},
  {"graphmill_peer_received_bytes_per_second", bytes_per_second,
   "Bytes per second that a daemon receives from another one.",
   in<&peer_health::received_per_second>, "", "in", "", list},
  {"graphmill_peer_asked_requests_per_second", per_second,
   "Requests per second from a daemon to another one, including gradients.",
   in<&peer_health::asked_per_second>, "", "requests out", "", list},
  {"graphmill_peer_served_requests_per_second", per_second,
   "Requests per second that a daemon answers for another one, including "
   "gradients.",
   in<&peer_health::served_per_second>, "", "requests in", "", list},
  {"graphmill_peer_gradients_sent_bytes_per_second", bytes_per_second,
   "Bytes of gradients per second from a daemon to another one.",
   in<&peer_health::gradients_sent_per_second>, "", "gradients out", "", list},
  {"graphmill_peer_gradients_received_bytes_per_second", bytes_per_second,
   "Bytes of gradients per second that a daemon receives from another one.",
   in<&peer_health::gradients_received_per_second>, "", "gradients in", "",
   list},
};

// -- of the process that answers

inline constexpr figure<daemon_figures> process[] = {
  {"graphmill_process_snapshot_timestamp_seconds", since_1970,
   "Time of these figures, since 1970.",
   [](const daemon_figures& d) { return seconds_of(d.taken); }},
  {"graphmill_process_registered", flag,
   "Whether the daemon is registered with the coordinator.",
   in<&daemon_figures::registered>},
  {"graphmill_process_cpu_seconds_total", seconds,
   "Processor time that the process has used.",
   in<&daemon_figures::process, &process_figures::cpu_seconds>},
  {"graphmill_process_memory_bytes", bytes, "Private memory of the process.",
   in<&daemon_figures::memory_bytes>},
  {"graphmill_process_memory_peak_bytes", bytes,
   "Highest private memory of the process that was measured.",
   in<&daemon_figures::peak_memory_bytes>},
  {"graphmill_process_memory_available_bytes", bytes,
   "Memory that the process could still allocate.",
   in<&daemon_figures::memory_available>},
  {"graphmill_process_threads", count, "Threads of the process.",
   in<&daemon_figures::process, &process_figures::threads>},
  {"graphmill_process_open_descriptors", count,
   "Open descriptors of the process.",
   in<&daemon_figures::process, &process_figures::descriptors>},
  {"graphmill_process_max_descriptors", count, "Limit of open descriptors.",
   in<&daemon_figures::process, &process_figures::most_descriptors>},
  {"graphmill_process_disk_read_bytes_total", bytes,
   "Bytes that the process has read from disks.",
   in<&daemon_figures::process, &process_figures::disk_read>},
  {"graphmill_process_disk_written_bytes_total", bytes,
   "Bytes that the process has written to disks.",
   in<&daemon_figures::process, &process_figures::disk_written>},
};

inline constexpr figure<daemon_figures::traffic_sums> traffic[] = {
  {"graphmill_transport_sent_bytes_total", bytes,
   "Bytes of messages that the process has sent to daemons and clients.",
   in<&daemon_figures::traffic_sums::bytes_sent>},
  {"graphmill_transport_received_bytes_total", bytes,
   "Bytes of messages that the process has received.",
   in<&daemon_figures::traffic_sums::bytes_received>},
  {"graphmill_transport_sent_messages_total", count,
   "Messages that the process has sent.",
   in<&daemon_figures::traffic_sums::messages_sent>},
  {"graphmill_transport_received_messages_total", count,
   "Messages that the process has received.",
   in<&daemon_figures::traffic_sums::messages_received>},
  {"graphmill_transport_retries_total", count, "Repeated attempts at requests.",
   in<&daemon_figures::traffic_sums::retries>},
  {"graphmill_transport_malformed_messages_total", count,
   "Malformed messages, each of which ended its connection.",
   in<&daemon_figures::traffic_sums::malformed>},
  {"graphmill_transport_refused_connections_total", count,
   "Connections refused for their key.",
   in<&daemon_figures::traffic_sums::refused>},
};

// -- what daemons report beside the members of `daemon_load`

/// The name of such a figure. Does not compile if no row has it.
consteval const char* further_figure(const char* field) {
  for (const auto& row : load)
    if (row.get == nullptr && row.field == field)
      return field;
  throw "there is no such row in load";
}

} // namespace graphmill::figures
