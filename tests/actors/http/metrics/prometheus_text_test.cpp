#include "actors/http/metrics/prometheus_text.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <sstream>
#include <string>

using namespace graphmill;
using namespace graphmill::test;

namespace {

actor_health told_actor(actor_kind kind, std::int32_t part, std::int32_t rank,
                        const std::string& peer) {
  actor_health out;
  out.kind = kind;
  out.part = part;
  out.rank = rank;
  out.peer = peer;
  out.workers = 2;
  out.state = actor_state::starved;
  out.in_state = 1.5;
  out.queue = 3;
  out.items = 100;
  out.bytes = 9007199254740992;
  out.busy = 0.25;
  out.starved = 0.75;
  out.answers = 10;
  out.mean_latency = 0.001;
  out.median_latency = 0.002;
  out.p90_latency = 0.003;
  out.p99_latency = 0.004;
  out.restarts = 1;
  return out;
}

daemon_health told_share(const std::string& name) {
  daemon_health out;
  out.daemon = name;
  out.run = "r-1";
  out.left_out = 1;
  out.long_work = {"the sampler is at it"};
  out.answer_bytes = 300;
  out.most_answer_bytes = 400;
  out.disk_cache_bytes = 500;
  out.most_disk_cache_bytes = 600;
  out.disk_rows_wanted = 70;
  out.disk_rows_found = 60;
  out.age = 0.5;
  out.actors.push_back(told_actor(actor_kind::sampler, -1, -1, ""));
  out.actors.push_back(told_actor(actor_kind::sampling_proxy, 1, -1, "b"));
  out.actors.push_back(told_actor(actor_kind::trainer, -1, 0, ""));
  out.actors.push_back(told_actor(actor_kind::dispatcher, -1, -1, ""));
  out.actors.back().most_batches = 4;
  out.actors.back().most_bytes = 1000;
  out.peers.push_back(
    {"b", 3, 0.125, 10, 20, 30, 40, 50, 60, actor_state::running});
  return out;
}

daemon_status told_daemon(const std::string& name, daemon_state state) {
  daemon_status out;
  out.name = name;
  out.state = state;
  out.parts = {0, 1};
  out.slots = 2;
  return out;
}

/// A cluster of three daemons, of which one is lost and one has a name that
/// was chosen to do harm.
cluster_figures told_cluster() {
  cluster_figures out;
  out.taken = unix_time{2500};
  out.status.coordinator = "a";
  out.status.dataset = "wordnet";
  out.status.parts = 2;
  out.status.daemons = {
    told_daemon("a", daemon_state::ready), told_daemon("b", daemon_state::lost),
    told_daemon("c\"} 1\ngraphmill_evil\\", daemon_state::ready)};
  out.status.daemons[0].load =
    daemon_load{.cores = 1.5,
                .mapped_bytes = 800,
                .descriptors = 20,
                .further = {{"host_load", 2.5}, {"of_another_version", 1}}};
  out.status.running = "r-1";
  out.status.queued = {"r-2", "r-3"};
  out.over = {5, 6, 7};
  out.disk_free = 10;
  out.disk_size = 100;
  auto& run = out.runs.emplace_back();
  run.name = "wordnet";
  run.attempt = 2;
  run.started = unix_time{1000};
  run.health.run = "r-1";
  auto& progress = run.health.progress.emplace();
  progress.phase = phase::validation;
  progress.epoch = 3;
  progress.epochs = 20;
  progress.step = 7;
  progress.steps = 9;
  progress.learning_rate = 0.01;
  progress.seeds_per_second = 1e3;
  progress.seconds_left = 60;
  progress.checkpoint_age = 12;
  run.health.daemons = {told_share("a"),
                        told_share("c\"} 1\ngraphmill_evil\\")};
  run.health.silent = {"b"};
  return out;
}

daemon_figures told_process() {
  daemon_figures out;
  out.taken = unix_time{2000};
  out.daemon = "a";
  out.registered = true;
  out.process.cpu_seconds = 1.25;
  out.process.threads = 8;
  out.memory_bytes = 500;
  out.traffic.bytes_sent = 11;
  out.shares = {told_share("a")};
  return out;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

/// The names in a text, by type. Fails unless each family comes once, with its
/// help before its samples, no sample comes twice, and each ends in a number.
std::map<std::string, std::string> families_in(const std::string& text) {
  std::map<std::string, std::string> types;
  std::set<std::string> samples;
  std::string helped, typed;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    CATCH_INFO(line);
    std::istringstream words{line};
    std::string first, second, name, type;
    words >> first >> second >> name >> type;
    if (first == "#" && second == "HELP") {
      helped = name;
    } else if (first == "#") {
      CATCH_CHECK(second == "TYPE");
      CATCH_CHECK(name == helped);
      CATCH_CHECK((type == "gauge" || type == "counter"));
      CATCH_CHECK(types.emplace(name, type).second);
      CATCH_CHECK((type == "counter") == name.ends_with("_total"));
      typed = name;
    } else {
      CATCH_CHECK(line.substr(0, line.find_first_of("{ ")) == typed);
      const auto space = line.rfind(' ');
      CATCH_REQUIRE(space != std::string::npos);
      CATCH_CHECK(samples.insert(line.substr(0, space)).second);
      std::size_t read = 0;
      const auto value = line.substr(space + 1);
      if (value != "NaN")
        std::stod(value, &read);
      CATCH_CHECK((value == "NaN" || read == value.size()));
    }
  }
  return types;
}

} // namespace

CATCH_TEST_CASE("what a server that knows nothing tells", "[prometheus]") {
  http_counts counts;
  counts.connections += 3;
  counts.closed += 1;
  counts.answered += 2;
  CATCH_CHECK(
    prometheus_text(nullptr, nullptr, counts)
    == "# HELP graphmill_http_connections Connections of this HTTP server.\n"
       "# TYPE graphmill_http_connections gauge\n"
       "graphmill_http_connections 2\n"
       "# HELP graphmill_http_connections_total Connections that this HTTP "
       "server has accepted.\n"
       "# TYPE graphmill_http_connections_total counter\n"
       "graphmill_http_connections_total 3\n"
       "# HELP graphmill_http_crowded_out_total Connections closed to make "
       "room for others.\n"
       "# TYPE graphmill_http_crowded_out_total counter\n"
       "graphmill_http_crowded_out_total 0\n"
       "# HELP graphmill_http_streams_total Connections that became "
       "streams of events.\n"
       "# TYPE graphmill_http_streams_total counter\n"
       "graphmill_http_streams_total 0\n"
       "# HELP graphmill_http_slow_streams_total Streams dropped because "
       "their reader was too slow.\n"
       "# TYPE graphmill_http_slow_streams_total counter\n"
       "graphmill_http_slow_streams_total 0\n"
       "# HELP graphmill_http_answered_total Requests that this HTTP server "
       "has answered with what they asked for.\n"
       "# TYPE graphmill_http_answered_total counter\n"
       "graphmill_http_answered_total 2\n"
       "# HELP graphmill_http_refused_total Requests that this HTTP server "
       "has answered otherwise.\n"
       "# TYPE graphmill_http_refused_total counter\n"
       "graphmill_http_refused_total 0\n");
}

CATCH_TEST_CASE("what a coordinator tells", "[prometheus]") {
  const auto cluster = told_cluster();
  const auto process = told_process();
  const auto text = prometheus_text(&cluster, &process, {});
  const std::string evil = R"(c\"} 1\\ngraphmill_evil\\)";
  for (
    const auto& line : std::initializer_list<std::string>{
      R"(graphmill_coordinator_info{coordinator="a",dataset="wordnet"} 1)",
      "graphmill_coordinator_snapshot_timestamp_seconds 2.5",
      "graphmill_coordinator_ready 1",
      "graphmill_runs_queued 2",
      "graphmill_runs_running 1",
      R"(graphmill_runs_over_total{state="finished"} 5)",
      R"(graphmill_runs_over_total{state="failed"} 6)",
      R"(graphmill_runs_over_total{state="cancelled"} 7)",
      "graphmill_history_failing 0",
      "graphmill_runs_disk_free_bytes 10",
      "graphmill_runs_disk_size_bytes 100",
      R"(graphmill_daemons{state="ready"} 2)",
      R"(graphmill_daemons{state="lost"} 1)",
      R"(graphmill_daemons{state="damaged"} 0)",
      R"(graphmill_daemon_state{daemon="b",state="lost"} 1)",
      R"(graphmill_daemon_state{daemon="b",state="ready"} 0)",
      "graphmill_daemon_state{daemon=\"" + evil + "\",state=\"ready\"} 1",
      R"(graphmill_daemon_parts{daemon="a"} 2)",
      R"(graphmill_run_info{run="r-1",name="wordnet"} 1)",
      "graphmill_run_attempt 2",
      "graphmill_run_started_timestamp_seconds 1",
      "graphmill_run_feeds 0",
      "graphmill_run_silent_daemons 1",
      R"(graphmill_run_phase{phase="validation"} 1)",
      R"(graphmill_run_phase{phase="train"} 0)",
      "graphmill_run_epoch 3",
      "graphmill_run_step 7",
      "graphmill_run_loss NaN",
      "graphmill_run_learning_rate 0.01",
      "graphmill_run_seeds_per_second 1000",
      "graphmill_run_checkpoint_age_seconds 12",
      R"(graphmill_daemon_cpu_cores{daemon="a"} 1.5)",
      R"(graphmill_daemon_actors_left_out{daemon="a"} 1)",
      R"(graphmill_daemon_long_work{daemon="a"} 1)",
      R"(graphmill_daemon_answer_bytes{daemon="a"} 300)",
      R"(graphmill_daemon_answer_limit_bytes{daemon="a"} 400)",
      R"(graphmill_daemon_disk_cache_bytes{daemon="a"} 500)",
      R"(graphmill_daemon_disk_cache_limit_bytes{daemon="a"} 600)",
      R"(graphmill_daemon_disk_rows_wanted_total{daemon="a"} 70)",
      R"(graphmill_daemon_disk_rows_found_total{daemon="a"} 60)",
      R"(graphmill_daemon_mapped_bytes{daemon="a"} 800)",
      R"(graphmill_daemon_host_load{daemon="a"} 2.5)",
      R"(graphmill_peer_round_trip_seconds{daemon="a",peer="b"} 0.125)",
      R"(graphmill_peer_asked_requests_per_second{daemon="a",peer="b"} 30)",
      R"(graphmill_peer_served_requests_per_second{daemon="a",peer="b"} 40)",
      R"(graphmill_peer_gradients_sent_bytes_per_second{daemon="a",peer="b"} 50)",
      R"(graphmill_peer_gradients_received_bytes_per_second{daemon="a",peer="b"} 60)",
      R"(graphmill_peer_state{daemon="a",peer="b",state="running"} 1)",
      R"(graphmill_actor_state{daemon="a",actor="sampler",state="starved"} 1)",
      R"(graphmill_actor_time_ratio{daemon="a",actor="trainer",rank="0",state="busy"} 0.25)",
      R"(graphmill_actor_latency_seconds{daemon="a",actor="sampling proxy",part="1",peer="b",percentile="90"} 0.003)",
      R"(graphmill_actor_items_total{daemon="a",actor="sampler"} 100)",
      R"(graphmill_actor_bytes_total{daemon="a",actor="sampler"} 9007199254740992)",
      R"(graphmill_actor_credit_limit_batches{daemon="a",actor="dispatcher"} 4)",
      R"(graphmill_process_info{daemon="a"} 1)",
      "graphmill_process_cpu_seconds_total 1.25",
      "graphmill_transport_sent_bytes_total 11"}) {
    CATCH_INFO(line);
    CATCH_CHECK(has_line(text, line));
  }
  const auto families = families_in(text);
  CATCH_CHECK(!families.contains("graphmill_evil"));
  // Of samplers nobody knows a limit of credit.
  CATCH_CHECK_THAT(
    text, !contains(R"(credit_limit_batches{daemon="a",actor="sampler"})"));
  // They make no bytes, which is not the same as none yet.
  for (const auto* actor : {"trainer", "dispatcher", "conductor"})
    CATCH_CHECK_THAT(
      text, !contains(fmt::format("graphmill_actor_bytes_total{{daemon="
                                  "\"a\",actor=\"{}\"",
                                  actor)));
}

CATCH_TEST_CASE("where several runs may be on, what is told of one names it",
                "[prometheus]") {
  auto cluster = told_cluster();
  cluster.several = true;
  cluster.status.also_running = {"r-2"};
  auto other = cluster.runs.front();
  other.health.run = "r-2";
  other.attempt = 5;
  other.health.progress->step = 77;
  for (auto& share : other.health.daemons)
    share.run = "r-2";
  cluster.runs.push_back(other);
  const auto text = prometheus_text(&cluster, nullptr, {});
  families_in(text); // Each once, and no two samples are alike.
  for (const auto* line :
       {"graphmill_runs_running 2", R"(graphmill_run_attempt{run="r-2"} 5)",
        R"(graphmill_run_step{run="r-2"} 77)",
        R"(graphmill_run_phase{run="r-2",phase="validation"} 1)"}) {
    CATCH_INFO(line);
    CATCH_CHECK(has_line(text, line));
  }
  for (
    const auto* part :
    {R"(graphmill_run_step{run="r-1"} )",
     R"(graphmill_daemon_memory_bytes{daemon="a"} )",
     R"(graphmill_daemon_long_work{daemon="a",run="r-1"} )",
     R"(graphmill_daemon_long_work{daemon="a",run="r-2"} )",
     R"(graphmill_actor_items_total{daemon="a",run="r-2",actor="sampler"} )"})
    CATCH_CHECK_THAT(text, contains(part));
  // Of the next second, in which one of them has ended, the same is told.
  cluster.runs.pop_back();
  CATCH_CHECK_THAT(prometheus_text(&cluster, nullptr, {}),
                   contains(R"(graphmill_run_step{run="r-1"} )"));
  auto process = told_process();
  process.several = true;
  CATCH_CHECK_THAT(
    prometheus_text(nullptr, &process, {}),
    contains(R"(graphmill_daemon_long_work{daemon="a",run="r-1"} )"));
}

CATCH_TEST_CASE("a conductor apart from its run's shares is told of",
                "[prometheus]") {
  auto cluster = told_cluster();
  cluster.status.daemons.push_back(told_daemon("d", daemon_state::ready));
  cluster.status.daemons.back().load = daemon_load{.cores = 0.5};
  auto& apart = cluster.runs[0].health.daemons.emplace_back();
  apart.daemon = "d";
  apart.run = "r-1";
  apart.age = 0.25;
  apart.cores = 0.75; // What it takes is told of it alone, and once.
  apart.actors = {told_actor(actor_kind::conductor, -1, -1, "")};
  const auto text = prometheus_text(&cluster, nullptr, {});
  families_in(text);
  for (
    const auto& line : std::initializer_list<std::string>{
      R"(graphmill_actor_state{daemon="d",actor="conductor",state="starved"} 1)",
      R"(graphmill_actor_time_ratio{daemon="d",actor="conductor",state="busy"} 0.25)",
      R"(graphmill_daemon_report_age_seconds{daemon="d"} 0.25)",
      R"(graphmill_daemon_cpu_cores{daemon="d"} 0.5)"}) {
    CATCH_INFO(line);
    CATCH_CHECK(has_line(text, line));
  }
  CATCH_CHECK_THAT(text, !contains(R"(graphmill_peer_state{daemon="d")"));
}

CATCH_TEST_CASE("numbers that nobody knows are left out", "[prometheus]") {
  auto cluster = told_cluster();
  cluster.disk_size = 0;
  cluster.runs.front().health.progress->checkpoint_age = -1;
  cluster.runs.front().health.progress->seconds_left = -1;
  auto families = families_in(prometheus_text(&cluster, nullptr, {}));
  for (const auto* name :
       {"graphmill_runs_disk_free_bytes", "graphmill_runs_disk_size_bytes",
        "graphmill_run_checkpoint_age_seconds",
        "graphmill_run_remaining_seconds", "graphmill_process_info"})
    CATCH_CHECK_FALSE(families.contains(name));
  CATCH_CHECK(families.contains("graphmill_run_epoch"));
  cluster.runs.clear();
  families = families_in(prometheus_text(&cluster, nullptr, {}));
  CATCH_CHECK_FALSE(families.contains("graphmill_run_epoch"));
  CATCH_CHECK_FALSE(families.contains("graphmill_run_info"));
  CATCH_CHECK(families.contains("graphmill_daemons"));
  // What a daemon takes is known without a run, and of others it is not.
  CATCH_CHECK(families.contains("graphmill_daemon_open_descriptors"));
}

CATCH_TEST_CASE("what a daemon tells of itself", "[prometheus]") {
  auto process = told_process();
  process.shares.front().most_disk_cache_bytes = 0; // Its parts are mapped.
  const auto text = prometheus_text(nullptr, &process, {});
  const auto families = families_in(text);
  CATCH_CHECK_FALSE(families.contains("graphmill_daemon_disk_cache_bytes"));
  CATCH_CHECK(families.contains("graphmill_actor_time_ratio"));
  CATCH_CHECK_FALSE(families.contains("graphmill_daemons"));
  CATCH_CHECK(has_line(text, "graphmill_process_registered 1"));
  CATCH_CHECK(has_line(text, "graphmill_process_threads 8"));
}

CATCH_TEST_CASE("actors that cannot be told apart are told of once",
                "[prometheus]") {
  auto process = told_process();
  process.shares.front().actors.push_back(
    process.shares.front().actors.front());
  const auto text = prometheus_text(nullptr, &process, {});
  families_in(text);
  CATCH_CHECK(
    has_line(text, R"(graphmill_daemon_actors_left_out{daemon="a"} 2)"));
}
