#include "actors/base/phase_steps.hpp"
#include "actors/cluster/health/health_keeper.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

const health_keeper::clock::time_point led_at{1000s};

actor_health trainer_at_work(double busy) {
  actor_health out;
  out.kind = actor_kind::trainer;
  out.busy = busy;
  out.items = 1;
  return out;
}

daemon_health report_of(const std::string& daemon, actor_health actor) {
  daemon_health out;
  out.daemon = daemon;
  out.run = "r";
  out.actors = {std::move(actor)};
  return out;
}

/// Of the run "r", on daemons a and b.
health_keeper led_keeper() {
  health_keeper out;
  out.begin("r", {"a", "b"}, 1, 2);
  out.led({}, led_at);
  return out;
}

} // namespace

CATCH_TEST_CASE("a daemon is silent if it tells nothing of a run that is led",
                "[cluster][health]") {
  using names = std::vector<std::string>;
  health_keeper keeper;
  keeper.begin("r", {"a", "b"}, 1, 2);
  const auto silent = [&keeper](auto after) {
    return keeper.tell({}, led_at + after).silent;
  };
  // To prepare a share may take long.
  CATCH_CHECK(silent(1h).empty());
  keeper.led({}, led_at);
  CATCH_CHECK(silent(5s).empty());
  CATCH_CHECK(keeper.tell({}, led_at).attempt == 1);
  CATCH_CHECK(keeper.tell({}, led_at).trainers == 2);
  CATCH_CHECK(silent(5001ms) == names{"a", "b"});
  keeper.take(report_of("a", trainer_at_work(1)), led_at + 6s);
  CATCH_CHECK(silent(7s) == names{"b"});
  CATCH_CHECK(silent(11s) == names{"b"});
  const auto last = keeper.tell({}, led_at + 12s);
  CATCH_CHECK(last.silent == names{"a", "b"});
  // What is known is told nevertheless, with its age.
  CATCH_REQUIRE(last.daemons.size() == 1);
  CATCH_CHECK(last.daemons[0].daemon == "a");
  CATCH_CHECK(last.daemons[0].age == Approx(6));
  CATCH_CHECK(last.verdict.limit == "daemon \"a\"");
  keeper.begin("s", {"a"}, 1, 2);
  CATCH_CHECK(keeper.tell({}, led_at + 1h).silent.empty());
}

CATCH_TEST_CASE("a run of which a daemon is silent has no pace",
                "[cluster][health]") {
  definition def;
  def.train.epochs = 3;
  def.train.batch_size = 10;
  auto at = led_at;
  const auto gauge = std::make_shared<progress_gauge>(
    def, 70, progress_before{}, [&at] { return at; });
  run_observer told;
  progress_gauge::observe(gauge, told);
  health_keeper keeper;
  keeper.begin("r", {"a", "b"}, 1, 2);
  keeper.led(gauge, led_at);
  phase_request work;
  work.steps = 7;
  told.on_begin(work);
  at += 1s;
  told.on_step(work, 7, {});
  work.phase = phase::validation; // In which it is lost.
  told.on_begin(work);
  const auto pace = [&](auto after) {
    const auto now = keeper.tell({}, led_at + after).progress;
    return now ? std::pair{now->seeds_per_second, now->seconds_left > 0}
               : std::pair{-1.0, false};
  };
  CATCH_CHECK(pace(5s) == std::pair{70.0, true});
  keeper.take(report_of("a", trainer_at_work(1)), led_at + 5s);
  CATCH_CHECK(pace(6s) == std::pair{0.0, false});
  keeper.take(report_of("b", trainer_at_work(1)), led_at + 7s);
  CATCH_CHECK(pace(8s) == std::pair{70.0, true});
}

CATCH_TEST_CASE("what an earlier attempt has told does not count",
                "[cluster][health]") {
  health_keeper keeper;
  keeper.begin("r", {"a", "b"}, 1, 2);
  keeper.take(report_of("a", trainer_at_work(1)), led_at - 10s);
  CATCH_CHECK(keeper.tell({}, led_at - 9s).daemons.size() == 1);
  keeper.led({}, led_at);
  const auto now = keeper.tell({}, led_at + 1s);
  CATCH_CHECK(now.daemons.empty());
  CATCH_CHECK(now.silent.empty());
  CATCH_CHECK(keeper.whole().daemons.empty());
}

CATCH_TEST_CASE("the whole of a run is the average of its reports",
                "[cluster][health]") {
  auto keeper = led_keeper();
  auto first = trainer_at_work(0.2);
  first.answers = 10;
  first.mean_latency = 0.1;
  first.p99_latency = 0.5;
  first.queue = 1;
  first.recent_restarts = first.restarts = 2;
  auto second = trainer_at_work(0.4);
  second.answers = 30;
  second.mean_latency = 0.2;
  second.p99_latency = 0.25;
  second.queue = 2;
  second.restarts = 2;
  second.items = 7;
  auto begin = report_of("a", first);
  begin.cores = 0.5;
  keeper.take(begin, led_at);
  auto later = report_of("a", second);
  later.cores = 1.5;
  later.actors.push_back(trainer_at_work(0.75)); // It has joined meanwhile.
  later.cache_rows_wanted = 8;
  keeper.take(later, led_at + 1s);
  const auto whole = keeper.whole();
  CATCH_REQUIRE(whole.daemons.size() == 1);
  CATCH_REQUIRE(whole.daemons[0].actors.size() == 2);
  const auto& actor = whole.daemons[0].actors[0];
  CATCH_CHECK(actor.busy == Approx(0.3));
  CATCH_CHECK(actor.answers == 40);
  CATCH_CHECK(actor.mean_latency == Approx(0.175));
  CATCH_CHECK(actor.p99_latency == 0.5);
  CATCH_CHECK(actor.queue == 2); // 1.5, rounded.
  CATCH_CHECK(actor.recent_restarts == 2);
  CATCH_CHECK(actor.items == 7);
  CATCH_CHECK(whole.daemons[0].actors[1].busy == 0.75);
  CATCH_CHECK(whole.daemons[0].cache_rows_wanted == 8);
  CATCH_CHECK(whole.daemons[0].cores == 1);
}

CATCH_TEST_CASE(
  "an actor that has another one's place has no part in its average",
  "[cluster][health]") {
  auto keeper = led_keeper();
  auto proxy = trainer_at_work(0.5);
  proxy.kind = actor_kind::feature_proxy;
  proxy.peer = "b";
  keeper.take(report_of("a", proxy), led_at);
  proxy.busy = 1;
  keeper.take(report_of("a", proxy), led_at + 1s);
  CATCH_CHECK(keeper.whole().daemons[0].actors[0].busy == Approx(0.75));
  proxy.peer = "c";
  proxy.busy = 0.25;
  keeper.take(report_of("a", proxy), led_at + 2s);
  const auto whole = keeper.whole();
  CATCH_REQUIRE(whole.daemons[0].actors.size() == 1);
  CATCH_CHECK(whole.daemons[0].actors[0].peer == "c");
  CATCH_CHECK(whole.daemons[0].actors[0].busy == 0.25);
}

CATCH_TEST_CASE("the conductor is told of among the actors of its daemon",
                "[cluster][health]") {
  auto keeper = led_keeper();
  run_observer told;
  std::vector<std::string> heard;
  told.on_step = [&heard](const phase_request&, std::int64_t,
                          const batch_metrics&) { heard.emplace_back("step"); };
  told.on_phase = [&heard](const phase_result&) -> result<void> {
    heard.emplace_back("phase");
    return fail(ec::io, "no more");
  };
  told.on_end = [&heard](run_outcome) { heard.emplace_back("end"); };
  keeper.follow(told, "a");
  const auto told_of = [&keeper] {
    keeper.take(report_of("a", trainer_at_work(1)),
                health_keeper::clock::now());
    keeper.take(report_of("b", trainer_at_work(1)),
                health_keeper::clock::now());
    const auto now = keeper.tell({}, health_keeper::clock::now());
    CATCH_REQUIRE(now.daemons.size() == 2);
    CATCH_CHECK(now.daemons[1].actors.size() == 1);
    CATCH_REQUIRE(now.daemons[0].actors.size() == 2);
    CATCH_CHECK((now.daemons[0].actors[1].kind == actor_kind::conductor));
    return now.daemons[0].actors[1];
  };
  CATCH_CHECK((told_of().state == actor_state::starting));
  phase_request work;
  work.epoch = 3;
  work.first = 2;
  work.steps = 6;
  told.on_begin(work);
  told.on_step(work, 5, {});
  auto now = told_of();
  CATCH_CHECK((now.state == actor_state::waiting));
  CATCH_CHECK(now.why == "for the members of the run");
  CATCH_CHECK(now.items == 1);
  CATCH_REQUIRE(now.batch);
  CATCH_CHECK(now.batch->epoch == 3);
  CATCH_CHECK(now.batch->step == 5);
  told.on_step(work, 6, {}); // The last one is done.
  CATCH_CHECK(told_of().batch->step == 5);
  // What others say of a phase counts.
  CATCH_CHECK_FALSE(told.on_phase({}));
  CATCH_CHECK((told_of().state == actor_state::waiting));
  run_outcome outcome;
  outcome.failure = fail(ec::io, "the disk is full");
  told.on_end(std::move(outcome));
  now = told_of();
  CATCH_CHECK((now.state == actor_state::failed));
  CATCH_CHECK(now.why == "the disk is full");
  CATCH_CHECK(heard
              == std::vector<std::string>{"step", "step", "phase", "end"});
  // It is no stage, whose time would be added up over the run.
  CATCH_CHECK(keeper.whole().daemons[0].actors.size() == 1);
  // The next attempt has one of its own.
  keeper.led({}, led_at);
  keeper.take(report_of("a", trainer_at_work(1)), led_at);
  CATCH_CHECK(keeper.tell({}, led_at).daemons[0].actors.size() == 1);
}

CATCH_TEST_CASE("a conductor whose daemon has no share of the run is told of",
                "[cluster][health]") {
  auto keeper = led_keeper();
  const auto own = [](const char* daemon) {
    daemon_health out;
    out.daemon = daemon;
    out.memory_bytes = 7;
    return out;
  };
  keeper.take_own(own("c"), led_at); // Nobody is followed yet.
  CATCH_CHECK(keeper.tell_all(led_at).daemons.empty());
  run_observer told;
  keeper.follow(told, "c");
  keeper.take(report_of("a", trainer_at_work(1)), led_at);
  keeper.take_own(own("a"), led_at);
  CATCH_CHECK(keeper.tell_all(led_at).daemons.size() == 1);
  keeper.take_own(own("c"), led_at);
  const auto now = keeper.tell_all(led_at + 2s);
  CATCH_REQUIRE(now.daemons.size() == 2);
  const auto& apart = now.daemons[1];
  CATCH_CHECK(apart.daemon == "c");
  CATCH_CHECK(apart.run == now.run);
  CATCH_CHECK(apart.memory_bytes == 7);
  CATCH_CHECK(apart.age == 2);
  CATCH_REQUIRE(apart.actors.size() == 1);
  CATCH_CHECK((apart.actors[0].kind == actor_kind::conductor));
  CATCH_CHECK(keeper.tell({now.run, "c"}, led_at).daemons.size() == 1);
  // It does no stage's work, and the next attempt may be led from elsewhere.
  CATCH_CHECK(keeper.whole().daemons.size() == 1);
  keeper.led({}, led_at);
  CATCH_CHECK(keeper.tell_all(led_at).daemons.empty());
  // Of a member it is told as before.
  keeper.follow(told, "a");
  keeper.take_own(own("a"), led_at);
  CATCH_CHECK(keeper.tell_all(led_at).daemons.empty());
}

CATCH_TEST_CASE("a daemon tells of its health once a second, all else is "
                "dropped",
                "[cluster][health]") {
  health_keeper keeper;
  keeper.begin("r", {"a", "b"}, 1, 2);
  const auto taken = [&keeper](const std::string& daemon, auto after) {
    int out = 0;
    for (int i = 0; i < 1000; ++i)
      out += keeper.admit(daemon, 1000, led_at + after).has_value();
    return out;
  };
  CATCH_CHECK(taken("a", 0s) == 5);
  CATCH_CHECK(taken("a", 999ms) == 0);
  CATCH_CHECK(taken("a", 1s) == 1);
  CATCH_CHECK(taken("a", 3s) == 2);
  CATCH_CHECK(taken("a", 1h) == 5);
  // Others are not to blame.
  CATCH_CHECK(taken("b", 1h) == 5);
  const auto often = keeper.admit("a", 1000, led_at + 1h);
  CATCH_REQUIRE_FALSE(often);
  CATCH_CHECK(often.error().code == ec::unavailable);
  CATCH_CHECK(often.error().message.find("\"a\"") != std::string::npos);
  // One that tells when it should is always heard.
  for (int i = 0; i < 1000; ++i)
    CATCH_REQUIRE(keeper.admit("c", 1000, led_at + i * 1s));
}

CATCH_TEST_CASE("a report of health may be as large as one can be, not more",
                "[cluster][health]") {
  auto report = report_of("a", trainer_at_work(0.5));
  report.daemon = report.run = std::string(health_limits::text, 'x');
  auto& actor = report.actors[0];
  actor.peer = actor.why = actor.last_error = report.run;
  actor.batch = batch_place{};
  report.actors.resize(health_limits::actors, actor);
  report.peers.resize(health_limits::peers, {report.run});
  const auto largest = encode(report);
  CATCH_REQUIRE(decode_daemon_health(largest));
  health_keeper keeper;
  keeper.begin("r", {"a"}, 1, 2);
  CATCH_CHECK(keeper.admit("a", largest.byte_size(), led_at));
  const auto refused = keeper.admit("a", health_limits::bytes + 1, led_at);
  CATCH_REQUIRE_FALSE(refused);
  CATCH_CHECK(refused.error().code == ec::invalid_data);
}

CATCH_TEST_CASE("an answer about many daemons fits in a frame",
                "[cluster][health]") {
  health_keeper keeper;
  keeper.begin("r", {"a", "b", "c", "d"}, 1, 2);
  keeper.led({}, led_at);
  auto large = trainer_at_work(0.5);
  large.why = large.last_error = std::string(health_limits::text, 'x');
  for (const auto* name : {"a", "b", "c", "d"}) {
    auto report = report_of(name, large);
    report.actors.resize(health_limits::actors, large);
    keeper.take(report, led_at); // Of some 200 KB.
  }
  const auto all = keeper.tell({}, led_at);
  CATCH_CHECK(all.daemons.size() == 3);
  CATCH_CHECK(all.left_out == 1);
  CATCH_CHECK(encode(all).byte_size() < 1 << 20);
  CATCH_CHECK(keeper.tell_all(led_at).daemons.size() == 4);
  CATCH_CHECK(keeper.tell_all(led_at).left_out == 0);
  const auto one = keeper.tell({"r", "d"}, led_at);
  CATCH_REQUIRE(one.daemons.size() == 1);
  CATCH_CHECK(one.daemons[0].daemon == "d");
  CATCH_CHECK(one.left_out == 0);
  // Whoever is in trouble is told of before those that are well.
  auto troubled = report_of("d", large);
  troubled.actors.resize(health_limits::actors, large);
  troubled.actors.back().state = actor_state::failed;
  keeper.take(troubled, led_at);
  std::vector<std::string> told;
  for (const auto& daemon : keeper.tell({}, led_at).daemons)
    told.push_back(daemon.daemon);
  CATCH_CHECK(told == std::vector<std::string>{"a", "b", "d"});
}

} // namespace graphmill::test
