#include "tests/actors/cluster/coordinator/led_cluster.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

namespace graphmill::test {

namespace {

using state = attempt::state;

constexpr const char* on_two = "model: {kind: rgcn}\n"
                               "trainer: {replicas: 2}\n"
                               "recovery: {wait: 100, attempts: 3}\n";

/// A cluster of a and b, and a run with a trainer on each.
struct run_on_two : led_cluster {
  run_on_two() {
    join("a");
    join("b");
    id = submit(on_two);
  }

  void deploy() {
    port.answer("tcp://a", method::deploy);
    port.answer("tcp://b", method::deploy);
  }

  member_action end_share(const std::string& daemon,
                          const member_reply& with = {}) {
    const auto order =
      port.answer("tcp://" + daemon, method::order, encode(with));
    return value_of(decode_member_request(order)).action;
  }

  void end_conductor() {
    whole->leader.conductor_ended(id, run(id).attempts, {});
    port.settle();
  }

  /// Daemon a wants to leave. @returns whether it was answered.
  std::shared_ptr<bool> leave_a() {
    const auto is_answered = std::make_shared<bool>(false);
    incoming_request leaves;
    leaves.from = {"a", "1", "tcp://a"};
    leaves.reply =
      responder{[is_answered](const result<payload>&) { *is_answered = true; }};
    whole->leader.leave(leaves);
    return is_answered;
  }

  /// Comes to where the run waits for its next attempt: a is lost.
  void lose_a() {
    deploy();
    lose("a");
    end_share("b");
    end_conductor();
    end_share("b"); // It has kept nothing.
  }

  std::string id;
};

} // namespace

CATCH_TEST_CASE("a run is led from the queue to its files", "[leading]") {
  run_on_two it;
  const auto& run = it.run(it.id);
  CATCH_CHECK(run.life.now() == state::deploying);
  CATCH_CHECK(it.record_in_history(it.id).state == run_state::running);
  it.deploy();
  CATCH_CHECK(run.life.now() == state::conducting);
  it.whole->leader.conducted(it.id, 1, {});
  CATCH_CHECK(run.life.now() == state::ending);
  CATCH_CHECK(it.end_share("a") == member_action::finish);
  CATCH_CHECK(it.end_share("b") == member_action::finish);
  // The conductor has the run's files open still.
  CATCH_CHECK(run.life.now() == state::closing);
  it.end_conductor();
  CATCH_CHECK(it.whole->active.empty());
  CATCH_CHECK(it.whole->archive.find(it.id) == nullptr);
  CATCH_CHECK(is_over(it.record_in_history(it.id).state));
}

CATCH_TEST_CASE("no daemon is deployed on before the history knows of it",
                "[leading]") {
  led_cluster it;
  it.join("a");
  it.join("b");
  incoming_request request;
  request.data = encode_definition_body(
    parse_definition(std::string{"dataset: example\n"} + on_two, "t").value);
  it.whole->submissions.submit(request);
  CATCH_CHECK(it.port.calls.empty());
  it.port.settle();
  CATCH_CHECK(it.port.asks("tcp://a", method::deploy));
}

CATCH_TEST_CASE("a run that loses a daemon waits for its next attempt, and "
                "begins it when there is one",
                "[leading]") {
  run_on_two it;
  it.lose_a();
  CATCH_CHECK(it.whole->active.empty());
  CATCH_REQUIRE(it.whole->queue.all().size() == 1);
  const auto waits = it.whole->queue.all().front();
  CATCH_CHECK(waits->life.now() == state::waiting);
  CATCH_CHECK(waits->attempts == 2);
  CATCH_CHECK(waits->on.where.daemons.empty());
  // Orders of the attempt before it have no answers any more.
  it.port.calls.clear();
  waits->wait.not_before = {};
  it.join("a", "2");
  auto& run = it.run(it.id);
  CATCH_CHECK(&run == waits.get());
  CATCH_CHECK(run.life.now() == state::rewinding);
  CATCH_CHECK(it.end_share("a") == member_action::kept);
  CATCH_CHECK(it.end_share("b") == member_action::kept);
  CATCH_CHECK(run.life.now() == state::deploying);
  CATCH_CHECK(it.message_of(it.id)
              == "attempt 2 goes on from the beginning; daemons a, b");
  const auto share = it.port.answer("tcp://a", method::deploy);
  CATCH_CHECK(value_of(decode_deployment(share)).generation == 1);
}

CATCH_TEST_CASE("a run that waits for its next attempt can be cancelled, and "
                "gives up in the end",
                "[leading]") {
  for (const auto is_cancelled : {true, false}) {
    run_on_two it;
    it.lose_a();
    if (is_cancelled)
      CATCH_CHECK(it.whole->leader.cancel(it.id, false));
    else
      it.whole->starter.look(std::chrono::steady_clock::now()
                             + std::chrono::hours{1});
    it.port.settle();
    CATCH_CHECK(it.whole->queue.all().empty());
    CATCH_CHECK(it.whole->active.empty());
    const auto record = it.record_in_history(it.id);
    CATCH_CHECK(record.state
                == (is_cancelled ? run_state::cancelled : run_state::failed));
    CATCH_CHECK_THAT(record.message,
                     contains(is_cancelled ? "cancelled before its next attempt"
                                           : "it could not go on within 100"));
  }
}

CATCH_TEST_CASE("a cancellation breaks the search for what was kept off",
                "[leading]") {
  run_on_two it;
  it.deploy();
  it.lose("a");
  it.end_share("b");
  it.end_conductor();
  CATCH_CHECK(it.run(it.id).life.now() == state::collecting);
  CATCH_CHECK(it.whole->leader.cancel(it.id, false));
  it.port.settle();
  CATCH_CHECK(it.whole->active.empty());
  CATCH_CHECK(it.record_in_history(it.id).state == run_state::cancelled);
  it.end_share("b"); // Nobody listens.
}

CATCH_TEST_CASE("a run that has never begun leaves its record alone when it is "
                "cancelled",
                "[leading]") {
  led_cluster it;
  it.join("a");
  it.join("b");
  it.submit(on_two);
  const auto second = it.submit(on_two);
  CATCH_CHECK(it.whole->queue.all().size() == 1);
  CATCH_CHECK(it.whole->leader.cancel(second, false));
  it.port.settle();
  const auto record = it.record_in_history(second);
  CATCH_CHECK(record.state == run_state::cancelled);
  CATCH_CHECK(record.message == "cancelled before it began");
  CATCH_CHECK_FALSE(it.whole->leader.cancel(second, false));
}

CATCH_TEST_CASE("a daemon leaves when its run has ended", "[leading]") {
  run_on_two it;
  it.deploy();
  const auto is_answered = it.leave_a();
  CATCH_CHECK_FALSE(*is_answered);
  CATCH_CHECK(it.conductors_told.back() == "daemon \"a\" has left the cluster");
  it.whole->leader.conducted(it.id, 1,
                             {.failure = fail(ec::unavailable, "a has left")});
  it.end_share("a");
  it.end_share("b");
  it.end_conductor();
  CATCH_CHECK(*is_answered);
  // Its operator has stopped it: no attempt follows.
  CATCH_CHECK(it.record_in_history(it.id).state == run_state::failed);
}

CATCH_TEST_CASE("a daemon leaves when its run goes on to its next attempt",
                "[leading]") {
  run_on_two it;
  it.deploy();
  const auto is_answered = it.leave_a();
  // The conductor was about to pause.
  it.whole->leader.conducted(it.id, 1, {.paused = training_state{}});
  it.end_share("a");
  it.end_share("b");
  CATCH_CHECK_FALSE(*is_answered); // The run is not in the queue yet.
  it.end_conductor();
  CATCH_CHECK(*is_answered);
  CATCH_CHECK_FALSE(it.whole->daemons.registry().find("a"));
  CATCH_REQUIRE(it.whole->queue.all().size() == 1);
  CATCH_CHECK(it.whole->queue.all().front()->life.now() == state::waiting);
}

CATCH_TEST_CASE("a run whose conductor cannot be spawned ends", "[leading]") {
  enum class by { crash, time, user };
  for (const auto ended : {by::crash, by::time, by::user}) {
    run_on_two it;
    it.has_no_threads = true;
    CATCH_CHECK_THROWS_AS(it.deploy(), std::runtime_error);
    CATCH_CHECK(it.run(it.id).life.now() == state::conducting);
    auto& leader = it.whole->leader;
    if (ended == by::crash)
      CATCH_CHECK(leader.crashed(fail(ec::crashed, "no thread is left")));
    else if (ended == by::time)
      leader.look(std::chrono::steady_clock::now());
    else
      CATCH_CHECK(leader.cancel(it.id, false));
    CATCH_CHECK(it.end_share("a") == member_action::end);
    CATCH_CHECK(it.end_share("b") == member_action::end);
    CATCH_CHECK(it.whole->active.empty());
    const auto record = it.record_in_history(it.id);
    CATCH_CHECK(
      record.state
      == (ended == by::user ? run_state::cancelled : run_state::failed));
    CATCH_CHECK_THAT(record.message,
                     contains(ended == by::crash  ? "no thread is left"
                              : ended == by::time ? "kept it from beginning"
                                                  : "cancelled before it "
                                                    "began"));
  }
}

CATCH_TEST_CASE("a task of a run that has thrown halfway is repeated",
                "[leading]") {
  run_on_two it;
  it.deploy();
  it.port.broken = "tcp://b";
  CATCH_CHECK_THROWS_AS(it.whole->leader.conducted(it.id, 1, {}),
                        std::bad_alloc);
  CATCH_CHECK(it.end_share("a") == member_action::finish);
  const auto now = std::chrono::steady_clock::now();
  it.whole->leader.look(now); // It throws again, which harms nobody.
  CATCH_CHECK_FALSE(it.port.asks("tcp://b", method::order));
  it.port.broken.clear();
  it.whole->leader.look(now);
  CATCH_CHECK(it.end_share("b") == member_action::finish);
  it.end_conductor();
  CATCH_CHECK(it.whole->active.empty());
  CATCH_CHECK(is_over(it.record_in_history(it.id).state));
  it.port.calls.clear();
  it.whole->leader.look(now);
  CATCH_CHECK(it.port.calls.empty());
}

} // namespace graphmill::test
