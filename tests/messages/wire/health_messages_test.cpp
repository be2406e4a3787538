#include "messages/wire/health.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

daemon_health busy_daemon() {
  daemon_health out;
  out.daemon = "a";
  out.run = "r";
  out.window = 5;
  out.cores = 1.5;
  out.memory_bytes = 7;
  out.threads = 8;
  out.descriptors = 9;
  out.further = {{"one", 0.5}, {"two", 2}};
  actor_health actor;
  actor.kind = actor_kind::conductor;
  actor.state = actor_state::stopped;
  actor.part = 3;
  actor.peer = "b";
  actor.workers = 2;
  actor.batch = batch_place{phase::validation, 4, 5, 6};
  actor.busy = 0.25;
  actor.waiting = 0.5;
  actor.p99_latency = 0.125;
  actor.last_error = "why";
  actor.peak_batches = 11;
  actor.peak_bytes = 12;
  out.actors = {actor, actor_health{}};
  out.peers = {
    {"b", 10, 0.5, 1, 2, 3, 4, 5, 6, actor_state::restarting, 7, "cut"}};
  out.long_work = {"the transport's thread has been at it"};
  return out;
}

} // namespace

CATCH_TEST_CASE("how a daemon is comes there and back", "[messages][health]") {
  const auto got = value_of(decode_daemon_health(encode(busy_daemon())));
  CATCH_CHECK(got.daemon == "a");
  CATCH_CHECK(got.window == 5);
  CATCH_CHECK(got.descriptors == 9);
  CATCH_CHECK(got.further == busy_daemon().further);
  CATCH_REQUIRE(got.actors.size() == 2);
  const auto& actor = got.actors[0];
  CATCH_CHECK((actor.kind == actor_kind::conductor));
  CATCH_CHECK((actor.state == actor_state::stopped));
  CATCH_CHECK(actor.part == 3);
  CATCH_CHECK(actor.rank == -1);
  CATCH_CHECK(actor.peer == "b");
  CATCH_REQUIRE(actor.batch);
  CATCH_CHECK((actor.batch->phase == phase::validation));
  CATCH_CHECK(actor.batch->step == 5);
  CATCH_CHECK(actor.busy == 0.25);
  CATCH_CHECK(actor.waiting == 0.5);
  CATCH_CHECK(actor.p99_latency == 0.125);
  CATCH_CHECK(actor.last_error == "why");
  CATCH_CHECK(actor.peak_batches == 11);
  CATCH_CHECK(actor.peak_bytes == 12);
  CATCH_CHECK_FALSE(got.actors[1].batch);
  CATCH_REQUIRE(got.peers.size() == 1);
  CATCH_CHECK(got.peers[0].mean_round_trip == 0.5);
  CATCH_CHECK(got.peers[0].asked_per_second == 3);
  CATCH_CHECK(got.peers[0].served_per_second == 4);
  CATCH_CHECK(got.peers[0].gradients_sent_per_second == 5);
  CATCH_CHECK(got.peers[0].gradients_received_per_second == 6);
  CATCH_CHECK((got.peers[0].state == actor_state::restarting));
  CATCH_CHECK(got.peers[0].in_state == 7);
  CATCH_CHECK(got.peers[0].why == "cut");
  CATCH_CHECK(
    got.long_work
    == std::vector<std::string>{"the transport's thread has been at it"});
}

CATCH_TEST_CASE("how a run is comes there and back", "[messages][health]") {
  run_health sent;
  sent.run = "r";
  sent.progress = run_progress{phase::test, 1, 2, 3, 4};
  sent.progress->work = "evaluate test";
  sent.daemons = {busy_daemon()};
  sent.daemons[0].answer_bytes = 13;
  sent.daemons[0].most_answer_bytes = 14;
  sent.daemons[0].disk_cache_bytes = 15;
  sent.daemons[0].most_disk_cache_bytes = 16;
  sent.daemons[0].disk_rows_wanted = 17;
  sent.daemons[0].disk_rows_found = 18;
  sent.daemons[0].mapped_bytes = 19;
  sent.daemons[0].cache_offer_bytes = 20;
  sent.daemons[0].cache_offer_spared = 0.5;
  sent.silent = {"c"};
  sent.verdict = {"trainer", "the trainers", {"one", "two"}};
  sent.left_out = 6;
  sent.attempt = 2;
  sent.trainers = 3;
  const auto got = value_of(decode_run_health(encode(sent)));
  CATCH_CHECK(got.run == "r");
  CATCH_REQUIRE(got.progress);
  CATCH_CHECK((got.progress->phase == phase::test));
  CATCH_CHECK(got.progress->steps == 4);
  CATCH_CHECK(got.progress->work == "evaluate test");
  CATCH_CHECK(std::isnan(got.progress->loss));
  CATCH_CHECK(got.daemons.at(0).actors.size() == 2);
  CATCH_CHECK(got.daemons.at(0).answer_bytes == 13);
  CATCH_CHECK(got.daemons.at(0).most_answer_bytes == 14);
  CATCH_CHECK(got.daemons.at(0).disk_cache_bytes == 15);
  CATCH_CHECK(got.daemons.at(0).most_disk_cache_bytes == 16);
  CATCH_CHECK(got.daemons.at(0).disk_rows_wanted == 17);
  CATCH_CHECK(got.daemons.at(0).disk_rows_found == 18);
  CATCH_CHECK(got.daemons.at(0).mapped_bytes == 19);
  CATCH_CHECK(got.daemons.at(0).cache_offer_bytes == 20);
  CATCH_CHECK(got.daemons.at(0).cache_offer_spared == 0.5);
  CATCH_CHECK(got.silent == std::vector<std::string>{"c"});
  CATCH_CHECK(got.verdict.evidence == std::vector<std::string>{"one", "two"});
  CATCH_CHECK(got.left_out == 6);
  CATCH_CHECK(got.attempt == 2);
  CATCH_CHECK(got.trainers == 3);
  const auto asked =
    value_of(decode_health_request(encode(health_request{"r", "a"})));
  CATCH_CHECK(asked.run == "r");
  CATCH_CHECK(asked.daemon == "a");
}

CATCH_TEST_CASE("a report of health that cannot be is refused",
                "[messages][health]") {
  const auto refused = [](auto change) {
    auto report = busy_daemon();
    change(report);
    return !decode_daemon_health(encode(report));
  };
  CATCH_CHECK_FALSE(refused([](daemon_health&) {}));
  CATCH_CHECK(refused([](auto& r) { r.actors[0].busy = 1.5; }));
  CATCH_CHECK(refused([](auto& r) { r.actors[1].starved = -0.5; }));
  CATCH_CHECK(refused([](auto& r) { r.actors[0].down = std::nan(""); }));
  CATCH_CHECK(refused([](auto& r) {
    r.actors[0].mean_latency = std::numeric_limits<double>::infinity();
  }));
  CATCH_CHECK(refused([](auto& r) { r.actors[0].queue = ~std::uint64_t{0}; }));
  CATCH_CHECK(refused([](auto& r) { r.cores = std::nan(""); }));
  CATCH_CHECK(refused([](auto& r) { r.window = -1; }));
  CATCH_CHECK(refused([](auto& r) { r.cache_offer_spared = 1.5; }));
  CATCH_CHECK(refused([](auto& r) { r.cache_offer_spared = std::nan(""); }));
  CATCH_CHECK(refused([](auto& r) { r.actors[0].in_state = -1; }));
  CATCH_CHECK(refused([](auto& r) { r.peers[0].mean_round_trip = -1; }));
  CATCH_CHECK(
    refused([](auto& r) { r.peers[0].served_per_second = std::nan(""); }));
  CATCH_CHECK(
    refused([](auto& r) { r.peers[0].gradients_sent_per_second = -1; }));
  CATCH_CHECK(refused([](auto& r) { r.peers[0].name.assign(257, 'x'); }));
  CATCH_CHECK(refused([](auto& r) { r.daemon.assign(257, 'x'); }));
  CATCH_CHECK(
    refused([](auto& r) { r.actors[0].last_error.assign(257, 'x'); }));
  CATCH_CHECK_FALSE(
    refused([](auto& r) { r.actors[0].last_error.assign(256, 'x'); }));
  CATCH_CHECK(refused([](auto& r) { r.actors.resize(257); }));
  CATCH_CHECK(refused([](auto& r) { r.peers.resize(257); }));
  CATCH_CHECK(refused([](auto& r) { r.long_work.resize(9); }));
  CATCH_CHECK_FALSE(refused([](auto& r) { r.long_work.resize(8); }));
  CATCH_CHECK(refused([](auto& r) { r.long_work[0].assign(257, 'x'); }));
}
