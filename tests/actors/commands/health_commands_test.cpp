#include "messages/wire/health.hpp"
#include "messages/wire/log.hpp"
#include "tests/actors/cluster/client/fake_coordinator.hpp"
#include "tests/actors/commands/user.hpp"
#include "tests/support/catch.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

/// What `status` prints of the run good-1, which is on, on these daemons.
std::string status_of_run(std::vector<daemon_health> daemons) {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::runs, [](const payload&) -> result<payload> {
    return encode(runs_reply{{record(run_state::running)}, false});
  });
  coordinator.on(method::health, [&daemons](const payload&) -> result<payload> {
    run_health health;
    health.run = "good-1";
    health.daemons = daemons;
    return encode(health);
  });
  return user.runs("status good-1 --actors").output;
}

} // namespace

CATCH_TEST_CASE("all runs that are on are shown", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::status, [](const payload&) -> result<payload> {
    status_reply out;
    out.coordinator = "a";
    out.running = "good-1";
    out.also_running = {"good-3", "good-4"};
    return encode(out);
  });
  CATCH_CHECK_THAT(user.runs("status").output,
                   contains("running      good-1\n"
                            "             good-3\n"
                            "             good-4\n"));
  CATCH_CHECK(user.asks("status")["also_running"]
              == std::vector<std::string>{"good-3", "good-4"});
}

CATCH_TEST_CASE("a run is watched until it is over, though it is queued",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  // As one that waits for its next attempt.
  std::atomic<bool> waited{false}, told{false};
  coordinator.on(method::runs, [&](const payload&) -> result<payload> {
    const auto state = told                    ? run_state::finished
                       : waited.exchange(true) ? run_state::running
                                               : run_state::queued;
    return encode(runs_reply{{record(state)}, false});
  });
  coordinator.on(method::health, [&told](const payload&) -> result<payload> {
    told = true;
    run_health health;
    health.run = "good-1";
    return encode(health);
  });
  const auto got = user.runs("status good-1 --watch --json");
  CATCH_CHECK(got.code == 0);
  std::vector<std::string> states;
  std::istringstream lines{got.output};
  for (std::string line; std::getline(lines, line);)
    states.push_back(nlohmann::json::parse(line)["state"]);
  CATCH_CHECK(states
              == std::vector<std::string>{"queued", "running", "finished"});
}

CATCH_TEST_CASE("the exit code tells how a cluster is", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  std::mutex mutex;
  status_reply now;
  now.parts = 1;
  now.daemons.resize(2);
  now.daemons[0].name = "a";
  now.daemons[0].parts = {0};
  now.daemons[1].name = "b";
  const auto well = now;
  coordinator.on(method::status, [&](const payload&) -> result<payload> {
    const std::lock_guard lock{mutex};
    return encode(now);
  });
  const auto code_of = [&](const status_reply& told) {
    {
      const std::lock_guard lock{mutex};
      now = told;
    }
    return user.runs("status").code;
  };
  CATCH_CHECK(code_of(well) == 0);
  auto other = well;
  other.daemons[1].state = daemon_state::draining;
  CATCH_CHECK(code_of(other) == 0);
  other.daemons[1].state = daemon_state::lost;
  CATCH_CHECK(code_of(other) == 3);
  other.daemons[1].state = daemon_state::damaged;
  CATCH_CHECK(code_of(other) == 3);
  other = well;
  other.daemons[0].state = daemon_state::draining; // Nobody else has its part.
  CATCH_CHECK(code_of(other) == 3);
  other = well;
  other.note = "the disk is full";
  CATCH_CHECK(code_of(other) == 3);
}

CATCH_TEST_CASE("a cluster is watched as long as it answers",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  std::atomic<int> asked{0};
  coordinator.on(method::status, [&asked](const payload&) -> result<payload> {
    if (++asked > 2)
      return fail(ec::internal, "that was all");
    status_reply out;
    out.coordinator = "a";
    return encode(out);
  });
  const auto got = user.runs("status --watch --json");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("that was all"));
  std::istringstream lines{got.output};
  int told = 0;
  for (std::string line; std::getline(lines, line);)
    told += nlohmann::json::parse(line).contains("coordinator");
  CATCH_CHECK(told == 2);
}

CATCH_TEST_CASE("a cluster is watched though it does not answer for a while",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  std::atomic<int> asked{0};
  coordinator.on(method::status, [&asked](const payload&) -> result<payload> {
    if (++asked == 2)
      return fail(ec::timeout, "it is started anew");
    if (asked > 3)
      return fail(ec::internal, "that was all");
    status_reply out;
    out.coordinator = "a";
    return encode(out);
  });
  const auto got = user.runs("status --watch --json");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("it is started anew")
                                 && contains("trying again")
                                 && contains("that was all"));
  CATCH_CHECK(asked == 4);
}

CATCH_TEST_CASE("what nobody reads is not gone on with", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::status, [](const payload&) -> result<payload> {
    status_reply out;
    out.parts = 1;
    out.daemons.resize(1);
    out.daemons[0].name = "a";
    out.daemons[0].parts = {0};
    return encode(out);
  });
  coordinator.on(method::runs, [](const payload&) -> result<payload> {
    return encode(runs_reply{{record(run_state::queued)}, false});
  });
  coordinator.on(method::events, [](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto request, decode_events_request(body));
    events_reply out;
    out.next = request.after + 1;
    out.events = {
      {request.after, unix_time{1700000000000}, "lost", "d1", "", "gone"}};
    return encode(out);
  });
  for (const auto* command :
       {"status --watch", "status good-1 --watch", "events --follow"}) {
    CATCH_INFO(command);
    const auto full =
      user.runs(command, "timeout 60 sh -c 'exec \"$0\" \"$@\" > /dev/full'");
    CATCH_CHECK(full.code == 1);
    CATCH_CHECK_THAT(full.errors, contains("No space left on device"));
    const auto gone = user.runs(
      command,
      "timeout 60 sh -c '{ \"$0\" \"$@\"; echo code $?. >&2; } | head -c 1'");
    CATCH_CHECK(gone.code == 0); // Of the reader.
    CATCH_CHECK_THAT(gone.errors, contains("code 0."));
  }
}

CATCH_TEST_CASE("what has become of a run that lost a daemon is shown",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  const std::string on = "attempt 2 goes on from epoch 3, step 5; daemons a, c";
  const std::string waits = "waits until 12:00:00 UTC: no daemon serves part 1";
  coordinator.on(method::status, [](const payload&) -> result<payload> {
    status_reply out;
    out.running = "good-1";
    out.queued = {"good-2", "good-3"};
    return encode(out);
  });
  coordinator.on(method::runs, [&](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto asked, decode_runs_request(body));
    auto run =
      record(asked.run == "good-1" ? run_state::running : run_state::queued);
    run.id = asked.run;
    run.message = asked.run == "good-1"   ? on
                  : asked.run == "good-2" ? waits + "\nforged"
                                          : "not of interest yet";
    return encode(runs_reply{{run}, false});
  });
  coordinator.on(method::health, [](const payload&) -> result<payload> {
    run_health health;
    health.run = "good-1";
    health.verdict.sentence = "the trainer limits";
    return encode(health);
  });
  CATCH_CHECK_THAT(user.runs("status").output,
                   contains("running      good-1\n             " + on
                            + "\nqueued       good-2, good-3\n             "
                            + waits + "\\nforged\n\ndaemon "));
  CATCH_CHECK_THAT(user.runs("status good-1").output,
                   contains("run       good-1\nstate     running: " + on
                            + "\nverdict   the trainer limits\n"));
}

CATCH_TEST_CASE("the health of a run is shown, and is the exit code",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  auto state = run_state::running;
  coordinator.on(method::runs, [&state](const payload&) -> result<payload> {
    return encode(runs_reply{{record(state)}, false});
  });
  run_health health;
  health.run = "good-1";
  health.verdict = {"fetcher", "the fetcher limits: it is slow", {"so slow"}};
  health.progress = run_progress{phase::train, 1, 3, 4, 8};
  daemon_health daemon;
  daemon.daemon = "a";
  actor_health fetcher;
  fetcher.kind = actor_kind::fetcher;
  fetcher.state = actor_state::waiting;
  fetcher.workers = 2;
  fetcher.busy = 0.25;
  daemon.actors = {fetcher};
  daemon.cache_bytes = 1'000'000;
  daemon.answer_bytes = 2'500'000;
  daemon.most_answer_bytes = 256'000'000;
  health.daemons = {daemon};
  coordinator.on(method::health, [&health](const payload&) -> result<payload> {
    return encode(health);
  });
  auto got = user.runs("status good-1");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK_THAT(got.output,
                   contains("verdict   the fetcher limits: it is slow\n"));
  CATCH_CHECK_THAT(got.output, contains("          so slow\n"));
  CATCH_CHECK_THAT(got.output, contains("train, epoch 2 of 3, step 4 of 8"));
  CATCH_CHECK_THAT(got.output, contains("\nfetcher                2    25 "));
  CATCH_CHECK_THAT(got.output, !contains("\nrows of other daemons"));
  CATCH_CHECK_THAT(got.output, !contains("attempt "));
  got = user.runs("status --actors good-1");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK_THAT(got.output,
                   contains("verdict   the fetcher limits: it is slow\n"));
  CATCH_CHECK_THAT(got.output, contains("  fetcher          waiting"));
  CATCH_CHECK_THAT(
    got.output, contains("\nrow cache 1.0 MB, answers 2.5 MB of 256.0 MB, "));
  CATCH_CHECK_THAT(got.output, !contains("attempt "));
  const auto json = user.asks("status good-1");
  CATCH_CHECK(json["state"] == "running");
  CATCH_CHECK(json["verdict"]["limit"] == "fetcher");
  CATCH_CHECK(json["daemons"][0]["actors"][0]["state"] == "waiting");
  CATCH_CHECK(json["daemons"][0]["actors"][0]["busy"] == 0.25);
  CATCH_CHECK(json["progress"]["loss"].is_null());
  health.silent = {"b"};
  got = user.runs("status good-1");
  CATCH_CHECK(got.code == 3);
  CATCH_CHECK_THAT(got.output, contains("silent    daemon b\n"));
  health.silent.clear();
  health.attempt = 2;
  health.trainers = 3;
  CATCH_CHECK_THAT(user.runs("status good-1").output,
                   contains("\nattempt   2, with 3 trainers\n"));
  health.daemons[0].actors[0].recent_restarts = 1;
  CATCH_CHECK(user.runs("status good-1").code == 3);
  state = run_state::finished;
  CATCH_CHECK(user.runs("status good-1").code == 0);
  CATCH_CHECK(user.runs("status good-1 --watch").code == 0);
  state = run_state::failed;
  CATCH_CHECK(user.runs("status good-1").code == 4);
}

CATCH_TEST_CASE("one daemon of a run is shown alone", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::runs, [](const payload&) -> result<payload> {
    return encode(runs_reply{{record(run_state::running)}, false});
  });
  // As of an attempt that has just begun, it has told nothing at first.
  auto asked = 0;
  coordinator.on(
    method::health, [&asked](const payload& data) -> result<payload> {
      GRAPHMILL_TRY(const auto wanted, decode_health_request(data));
      run_health health;
      health.run = wanted.run;
      if (++asked > 1)
        health.daemons.emplace_back().daemon = wanted.daemon;
      return encode(health);
    });
  auto got = user.runs("status good-1 --actors --daemon d7");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(
    got.output + got.errors,
    contains("daemon \"d7\" has reported nothing about run good-1"));
  got = user.runs("status good-1 --actors --daemon d7");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK_THAT(got.output, contains("\ndaemon d7: "));
}

CATCH_TEST_CASE("an actor has a row with since when, and at what it is",
                "[cluster_commands]") {
  daemon_health daemon;
  auto& fetcher = daemon.actors.emplace_back();
  fetcher.kind = actor_kind::fetcher;
  fetcher.state = actor_state::waiting;
  fetcher.workers = 2;
  fetcher.in_state = 12;
  fetcher.busy = 0.25;
  fetcher.batch = batch_place{phase::train, 1, 17, 0};
  daemon.actors.emplace_back().kind = actor_kind::conductor;
  const auto got = status_of_run({daemon});
  CATCH_CHECK_THAT(got,
                   contains("  fetcher          waiting       12 s    25 "));
  CATCH_CHECK_THAT(got, contains(" 0  train 2/18\n"));
  CATCH_CHECK_THAT(got,
                   contains("  conductor        starting       0 s     0 "));
  CATCH_CHECK_THAT(got, contains(" 0  -\n"));
}

CATCH_TEST_CASE("a daemon's memory and its peers have lines of their own",
                "[cluster_commands]") {
  daemon_health daemon;
  daemon.disk_cache_bytes = 3'000'000;
  daemon.most_disk_cache_bytes = 4'000'000;
  daemon.disk_rows_wanted = 20;
  daemon.disk_rows_found = 5;
  daemon.mapped_bytes = 70'000'000;
  daemon.peers = {
    {"b\x1b[2J", 3, 0.125, 2'000'000, 3'000'000, 4, 5, 500'000, 250'000},
    {.name = "c",
     .state = actor_state::restarting,
     .in_state = 4,
     .why = "nobody listens there"}};
  daemon_health unknown; // Nothing is known of it.
  unknown.daemon = "b";
  const auto got = status_of_run({daemon, unknown});
  CATCH_CHECK_THAT(
    got, contains("\nrow cache 0.0 MB, answers 0.0 MB, disk cache 3.0 MB of "
                  "4.0 MB, rows from disk 20, cached 5\n"));
  CATCH_CHECK_THAT(got, contains(" mapped 70.0 MB, "));
  CATCH_CHECK_THAT(
    got, contains(": round trip 125.0 ms, out 2.00 MB/s, in 3.00 MB/s, "
                  "requests out 4.0/s, requests in 5.0/s, gradients out "
                  "0.50 MB/s, gradients in 0.25 MB/s\n"));
  CATCH_CHECK_THAT(got, contains("    its connections: restarting for 4 s: "
                                 "nobody listens there\n"));
  CATCH_CHECK_THAT(got, !contains("\x1b"));
  const auto second = got.substr(got.find("daemon b:"));
  CATCH_CHECK_THAT(second,
                   contains("mapped 0.0 MB") && !contains("disk cache"));
}

} // namespace graphmill::test
