#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/wire/daemon_load.hpp"
#include "messages/wire/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

// The plain form of health.capnp, which describes the fields: the one model of
// the actors of a run. Everything that shows it (status, the table at the end
// of a run) reads only these structs. All of them are values.
//
// Encoding and decoding are as in cluster.hpp.

/// The kind of an actor.
enum class actor_kind : std::uint8_t {
  sampling_service = 1,
  sampler,
  batch_proxy,
  feature_service,
  fetcher,
  batcher,
  trainer,
  gradient_group,
  dispatcher,
  sampling_proxy,
  feature_proxy,
  batch_link,
  cache_filler,
  conductor, // The last one.
};
/// The name for people and reports: "sampling service".
std::string_view to_string(actor_kind kind);

/// What an actor does; health.capnp describes each.
enum class actor_state : std::uint8_t {
  starting = 1,
  running,
  starved,
  stalled,
  waiting,
  restarting,
  failed,
  stopped, // The last one.
};
inline constexpr auto actor_states =
  static_cast<std::size_t>(actor_state::stopped) + 1;
std::string_view to_string(actor_state state);

/// The batch that an actor works on.
struct batch_place {
  graphmill::phase phase = graphmill::phase::train;
  std::int32_t epoch = 0;
  std::int64_t step = 0;
  std::int32_t rank = 0;

  static void fields(auto& of, auto visit) {
    visit("phase", of.phase);
    visit("epoch", of.epoch);
    visit("step", of.step);
    visit("rank", of.rank);
  }
};

/// The health of an actor, or of a pool of equal workers. Times in seconds.
struct actor_health {
  actor_kind kind = actor_kind::sampler;
  std::int32_t part = -1;
  std::int32_t rank = -1;
  std::string peer;
  std::uint32_t workers = 1;
  actor_state state = actor_state::starting;
  double in_state = 0;
  std::string why;
  std::optional<batch_place> batch;
  std::uint64_t queue = 0;
  std::uint64_t credit_batches = 0;
  std::uint64_t credit_bytes = 0;
  std::uint64_t most_batches = 0;
  std::uint64_t most_bytes = 0;
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  double items_per_second = 0;
  double bytes_per_second = 0;
  double busy = 0;
  double starved = 0;
  double stalled = 0;
  double waiting = 0;
  double down = 0;
  std::uint64_t answers = 0;
  double mean_latency = 0;
  double median_latency = 0;
  double p90_latency = 0;
  double p99_latency = 0;
  std::uint64_t restarts = 0;
  std::uint64_t recent_restarts = 0;
  std::string last_error;
  std::uint64_t peak_batches = 0;
  std::uint64_t peak_bytes = 0;

  /// Whether it has failed, or one of its workers died lately.
  bool in_trouble() const {
    return state == actor_state::failed || state == actor_state::restarting
           || recent_restarts != 0;
  }

  static void fields(auto& of, auto visit) {
    visit("kind", of.kind);
    visit("part", of.part);
    visit("rank", of.rank);
    visit("peer", of.peer);
    visit("workers", of.workers);
    visit("state", of.state);
    visit("inState", of.in_state);
    visit("why", of.why);
    visit("batch", of.batch);
    visit("queue", of.queue);
    visit("creditBatches", of.credit_batches);
    visit("creditBytes", of.credit_bytes);
    visit("mostBatches", of.most_batches);
    visit("mostBytes", of.most_bytes);
    visit("items", of.items);
    visit("bytes", of.bytes);
    visit("itemsPerSecond", of.items_per_second);
    visit("bytesPerSecond", of.bytes_per_second);
    visit("busy", of.busy);
    visit("starved", of.starved);
    visit("stalled", of.stalled);
    visit("waiting", of.waiting);
    visit("down", of.down);
    visit("answers", of.answers);
    visit("meanLatency", of.mean_latency);
    visit("medianLatency", of.median_latency);
    visit("p90Latency", of.p90_latency);
    visit("p99Latency", of.p99_latency);
    visit("restarts", of.restarts);
    visit("recentRestarts", of.recent_restarts);
    visit("lastError", of.last_error);
    visit("peakBatches", of.peak_batches);
    visit("peakBytes", of.peak_bytes);
  }
};

/// Traffic between a daemon and another one.
struct peer_health {
  std::string name;
  std::uint64_t requests = 0;
  double mean_round_trip = 0;
  double sent_per_second = 0;
  double received_per_second = 0;
  double asked_per_second = 0;
  double served_per_second = 0;
  double gradients_sent_per_second = 0;
  double gradients_received_per_second = 0;
  actor_state state = actor_state::stopped;
  double in_state = 0;
  std::string why;

  /// Whether signs of life are unanswered, or connections are broken.
  bool in_trouble() const {
    return state == actor_state::waiting || state == actor_state::restarting
           || state == actor_state::failed;
  }

  static void fields(auto& of, auto visit) {
    visit("name", of.name);
    visit("requests", of.requests);
    visit("meanRoundTrip", of.mean_round_trip);
    visit("sentPerSecond", of.sent_per_second);
    visit("receivedPerSecond", of.received_per_second);
    visit("askedPerSecond", of.asked_per_second);
    visit("servedPerSecond", of.served_per_second);
    visit("gradientsSentPerSecond", of.gradients_sent_per_second);
    visit("gradientsReceivedPerSecond", of.gradients_received_per_second);
    visit("state", of.state);
    visit("inState", of.in_state);
    visit("why", of.why);
  }
};

/// The largest number of each in a report, and the longest text, in bytes: 256
/// actors take some 100 KiB.
namespace health_limits {
inline constexpr std::size_t actors = 256;
inline constexpr std::size_t peers = 256;
inline constexpr std::size_t long_work = 8;
inline constexpr std::size_t text = 256;
/// Of a whole encoded report: more than a report with the largest numbers
/// takes.
inline constexpr std::size_t bytes = 384 * 1024;
} // namespace health_limits

/// The health of a daemon and of its share of a run, if any (`health_report`).
struct daemon_health : daemon_load {
  std::string daemon;
  std::string run;
  double window = 0;
  std::vector<actor_health> actors;
  std::uint32_t left_out = 0;
  std::vector<peer_health> peers;
  std::uint64_t cache_bytes = 0;
  std::uint64_t cache_rows_wanted = 0;
  std::uint64_t cache_rows_found = 0;
  double age = 0;
  std::vector<std::string> long_work;
  std::uint64_t answer_bytes = 0;
  std::uint64_t most_answer_bytes = 0;
  std::uint64_t disk_cache_bytes = 0;
  std::uint64_t most_disk_cache_bytes = 0;
  std::uint64_t disk_rows_wanted = 0;
  std::uint64_t disk_rows_found = 0;
  std::uint64_t cache_offer_bytes = 0;
  double cache_offer_spared = 0;

  /// Fails on more actors, peers or text than a report may have, and on invalid
  /// shares and times.
  result<void> check() const;

  static void fields(auto& of, auto visit) {
    daemon_load::fields(of, visit);
    visit("daemon", of.daemon);
    visit("run", of.run);
    visit("window", of.window);
    visit("actors", of.actors);
    visit("leftOut", of.left_out);
    visit("peers", of.peers);
    visit("cacheBytes", of.cache_bytes);
    visit("cacheRowsWanted", of.cache_rows_wanted);
    visit("cacheRowsFound", of.cache_rows_found);
    visit("age", of.age);
    visit("longWork", of.long_work);
    visit("answerBytes", of.answer_bytes);
    visit("mostAnswerBytes", of.most_answer_bytes);
    visit("diskCacheBytes", of.disk_cache_bytes);
    visit("mostDiskCacheBytes", of.most_disk_cache_bytes);
    visit("diskRowsWanted", of.disk_rows_wanted);
    visit("diskRowsFound", of.disk_rows_found);
    visit("cacheOfferBytes", of.cache_offer_bytes);
    visit("cacheOfferSpared", of.cache_offer_spared);
  }
};
payload encode(const daemon_health& report);
result<daemon_health> decode_daemon_health(const payload& from);

/// The progress of a run.
struct run_progress {
  graphmill::phase phase = graphmill::phase::train;
  std::int32_t epoch = 0;
  std::int32_t epochs = 0;
  std::int64_t step = 0;
  std::int64_t steps = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();
  double learning_rate = 0;
  double seeds_per_second = 0;
  double seconds_left = -1;
  double checkpoint_age = -1;
  std::string work{}; ///< Of a run that trains nothing, as "evaluate test".

  static void fields(auto& of, auto visit) {
    visit("phase", of.phase);
    visit("epoch", of.epoch);
    visit("epochs", of.epochs);
    visit("step", of.step);
    visit("steps", of.steps);
    visit("loss", of.loss);
    visit("learningRate", of.learning_rate);
    visit("seedsPerSecond", of.seeds_per_second);
    visit("secondsLeft", of.seconds_left);
    visit("checkpointAge", of.checkpoint_age);
    visit("work", of.work);
  }
};

/// What limits a run, and the remedy.
struct verdict {
  std::string limit; ///< Empty: not known yet.
  std::string sentence;
  std::vector<std::string> evidence;

  static void fields(auto& of, auto visit) {
    visit("limit", of.limit);
    visit("sentence", of.sentence);
    visit("evidence", of.evidence);
  }
};

/// Asks for the health of a run (`health`).
struct health_request {
  std::string run;
  std::string daemon;

  static void fields(auto& of, auto visit) {
    visit("run", of.run);
    visit("daemon", of.daemon);
  }
};
payload encode(const health_request& request);
result<health_request> decode_health_request(const payload& from);

/// The health of a run: the answer to `health`.
struct run_health {
  std::string run;
  std::optional<run_progress> progress;
  std::vector<daemon_health> daemons;
  std::vector<std::string> silent;
  graphmill::verdict verdict;
  std::uint32_t left_out = 0;
  std::uint32_t attempt = 0;
  std::uint32_t trainers = 0;

  static void fields(auto& of, auto visit) {
    visit("run", of.run);
    visit("progress", of.progress);
    visit("daemons", of.daemons);
    visit("silent", of.silent);
    visit("verdict", of.verdict);
    visit("leftOut", of.left_out);
    visit("attempt", of.attempt);
    visit("trainers", of.trainers);
  }
};
payload encode(const run_health& health);
result<run_health> decode_run_health(const payload& from);

} // namespace graphmill
