#include "actors/commands/top/top_asker.hpp"
#include "tests/actors/cluster/client/fake_coordinator.hpp"
#include "tests/actors/commands/top/top_fixture.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

/// As long as a test may wait for an answer.
constexpr auto asker_patience = 60s;

/// A coordinator of the example, with one epoch that is over.
void tell_example(fake_coordinator& coordinator) {
  coordinator.on(method::status, [](const payload&) -> result<payload> {
    auto now = *top_example().cluster;
    now.running = "good-1";
    return encode(now);
  });
  coordinator.on(method::runs, [](const payload&) -> result<payload> {
    return encode(runs_reply{{*top_example().run}, false});
  });
  coordinator.on(method::health, [](const payload&) -> result<payload> {
    return encode(*top_example().health);
  });
  coordinator.on(method::watch, [](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto asked, decode_watch_request(body));
    watch_reply news;
    news.record = *top_example().run;
    news.next = 2;
    if (asked.cursor == 0)
      news.events = {run_news{R"({"phase": "train", "epoch": 1, "seeds": 4,
                          "loss": 0.5, "accuracy": 0.25})"},
                     run_news{R"({"phase": "validation", "epoch": 1, "seeds": 4,
                          "loss": 0.5, "accuracy": 0.75,
                          "metric": "f1:fraud", "f1:fraud": 0.625})"}};
    return encode(news);
  });
}

/// An asker of a coordinator, and its end.
struct asked_coordinator {
  fake_coordinator coordinator;
  std::stop_source stop;

  top_asker asker(const std::string& run) {
    cluster_client::settings with;
    with.command = "top";
    with.address = coordinator.address();
    with.key = coordinator.key_file();
    with.stop = stop.get_token();
    auto client = cluster_client::make(std::move(with));
    CATCH_REQUIRE(client);
    return top_asker{std::move(client).value(), run, stop};
  }
};

/// What is known once it is as wanted, or at the end of all patience.
std::shared_ptr<const top_asker::state>
await_state(const top_asker& asker,
            const std::function<bool(const top_asker::state&)>& wanted) {
  const auto end = std::chrono::steady_clock::now() + asker_patience;
  while (!wanted(*asker.now()) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(5ms);
  return asker.now();
}

} // namespace

CATCH_TEST_CASE("the asker learns of a cluster, its run and its epochs",
                "[top]") {
  asked_coordinator with;
  tell_example(with.coordinator);
  const auto asker = with.asker({});
  const auto now =
    await_state(asker, [](const auto& known) { return known.rounds >= 2; });
  CATCH_CHECK_FALSE(now->failure);
  CATCH_CHECK(now->data.trouble.empty());
  CATCH_REQUIRE(now->data.run);
  CATCH_CHECK(now->data.run->id == "good-1");
  CATCH_CHECK(now->data.cluster->daemons.size() == 2);
  CATCH_REQUIRE(now->data.health);
  CATCH_CHECK(now->data.health->daemons.size() == 1);
  CATCH_CHECK(now->data.rates.size() >= 2);
  CATCH_CHECK(now->data.losses == std::vector<double>{0.5});
  CATCH_CHECK(now->data.validations == std::vector<double>{0.625});
  CATCH_CHECK(now->data.metric == "f1:fraud");
}

CATCH_TEST_CASE("another run is asked for, and what was of the first is gone",
                "[top]") {
  asked_coordinator with;
  tell_example(with.coordinator);
  with.coordinator.on(method::runs, [](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto asked, decode_runs_request(body));
    auto run = *top_example().run;
    run.id = asked.run;
    return encode(runs_reply{{run}, false});
  });
  auto asker = with.asker({});
  auto now = await_state(
    asker, [](const auto& known) { return known.data.rates.size() >= 2; });
  CATCH_CHECK(now->data.run->id == "good-1");
  asker.look_at("wide-2");
  now = await_state(asker, [](const auto& known) {
    return known.data.run && known.data.run->id == "wide-2";
  });
  CATCH_REQUIRE(now->data.run);
  CATCH_CHECK(now->data.run->id == "wide-2");
  CATCH_CHECK(now->data.losses == std::vector<double>{0.5});
}

CATCH_TEST_CASE("who may not change anything is told so", "[top]") {
  asked_coordinator with;
  tell_example(with.coordinator);
  with.coordinator.on(method::drain, [](const payload&) -> result<payload> {
    return fail(ec::permission, "the key is that of a reader");
  });
  with.coordinator.on(method::cancel, nothing);
  auto asker = with.asker("good-1");
  CATCH_CHECK(asker.carry_out({top_command::kind::drain, "a"}));
  auto now =
    await_state(asker, [](const auto& known) { return known.outcomes == 1; });
  CATCH_CHECK(now->outcome
              == "daemon a is not drained: the key is that of a reader");
  CATCH_CHECK(asker.carry_out({top_command::kind::cancel, "good-1"}));
  now =
    await_state(asker, [](const auto& known) { return known.outcomes == 2; });
  CATCH_CHECK(now->outcome
              == "run good-1 ends after this step, with the weights so far");
  CATCH_CHECK(with.coordinator.count(method::cancel) == 1);
}

CATCH_TEST_CASE("the log that is followed comes, and then what is new",
                "[top]") {
  asked_coordinator with;
  tell_example(with.coordinator);
  // Of each daemon 600 lines, of which an answer has 300; then one at a time.
  with.coordinator.on(method::logs, [](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto asked, decode_log_request(body));
    log_reply out;
    out.next = asked.after + (asked.after < 600 ? 300 : 1);
    out.more = out.next < 600;
    for (auto at = asked.after; at < out.next; ++at)
      out.lines.push_back({unix_time{1}, log_level::info, asked.daemon,
                           asked.run, "", "run", std::to_string(at)});
    return encode(out);
  });
  auto asker = with.asker("good-1");
  auto now =
    await_state(asker, [](const auto& known) { return known.rounds >= 1; });
  CATCH_CHECK(now->data.log.empty());
  CATCH_CHECK(with.coordinator.count(method::logs) == 0);
  const top_log first{"a", "good-1"}, second{"b", ""};
  asker.follow(first);
  now = await_state(asker,
                    [](const auto& known) { return !known.data.log.empty(); });
  CATCH_REQUIRE(now->data.followed == first);
  CATCH_REQUIRE(now->data.log.size() == most_top_lines);
  const auto& lines = now->data.log;
  CATCH_CHECK(lines.back().daemon == "a");
  CATCH_CHECK(lines.back().run == "good-1");
  // None is missing between those that came with different answers.
  CATCH_CHECK(std::stoi(lines.back().text) - std::stoi(lines.front().text)
              == int(most_top_lines) - 1);
  const auto later = std::stoi(lines.back().text) + 1;
  now = await_state(asker, [later](const auto& known) {
    return std::stoi(known.data.log.back().text) >= later;
  });
  CATCH_CHECK(std::stoi(now->data.log.back().text) >= later);
  asker.follow(second);
  now = await_state(asker, [&second](const auto& known) {
    return known.data.followed == second;
  });
  CATCH_REQUIRE(now->data.followed == second);
  CATCH_CHECK(now->data.log.back().daemon == "b");
  CATCH_CHECK(now->data.log.back().run.empty());
  // The next coordinator has what it has, in the place of what was told.
  with.coordinator.on(method::logs, [](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto asked, decode_log_request(body));
    log_reply out;
    out.anew = asked.after != 7;
    out.next = 7;
    if (out.anew)
      out.lines = {{unix_time{1}, log_level::info, asked.daemon, asked.run, "",
                    "run", "anew"}};
    return encode(out);
  });
  now = await_state(asker, [](const auto& known) {
    return known.data.log.back().text == "anew";
  });
  CATCH_CHECK(now->data.log.size() == 1);
  asker.follow({});
  now =
    await_state(asker, [](const auto& known) { return !known.data.followed; });
  CATCH_CHECK_FALSE(now->data.followed);
  CATCH_CHECK(now->data.log.empty());
}

CATCH_TEST_CASE("a run that is not remembered any more gives way", "[top]") {
  asked_coordinator with;
  tell_example(with.coordinator);
  const auto asker = with.asker({});
  await_state(asker, [](const auto& known) { return bool(known.data.run); });
  // As of a cluster that was made anew at the address.
  with.coordinator.on(method::status, [](const payload&) -> result<payload> {
    return encode(*top_example().cluster);
  });
  with.coordinator.on(method::runs, [](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto asked, decode_runs_request(body));
    if (!asked.run.empty())
      return encode(runs_reply{});
    auto other = *top_example().run;
    other.id = "other-1";
    other.state = run_state::finished;
    other.summary =
      R"({"attempts": 2, "test_accuracy": 0.5, "epochs": 1, "steps": 3,
          "seconds": 2, "digest": "d", "run": "runs/other-1",
          "sizes": [{"epoch": 0, "step": 0, "replicas": 4}]})";
    return encode(runs_reply{{other}, false});
  });
  const auto now = await_state(asker, [](const auto& known) {
    return known.data.run && known.data.run->id == "other-1";
  });
  CATCH_REQUIRE(now->data.run);
  CATCH_CHECK(now->data.run->id == "other-1");
  CATCH_CHECK(now->data.trouble.empty());
  CATCH_CHECK_FALSE(now->data.health);
  CATCH_CHECK(now->data.result
              == "test accuracy    0.5000\nattempts         2\n"
                 "time             2.0 s for 1 epoch, 3 steps\n"
                 "weights digest   d\nrun              runs/other-1\n"
                 "trainers         4\n");
}

CATCH_TEST_CASE("what was told last stays when nobody answers", "[top]") {
  asked_coordinator with;
  tell_example(with.coordinator);
  const auto asker = with.asker({});
  await_state(asker, [](const auto& known) { return known.rounds != 0; });
  with.coordinator.on(method::status, [](const payload&) -> result<payload> {
    return fail(ec::unavailable, "gone for lunch");
  });
  const auto now = await_state(
    asker, [](const auto& known) { return known.failure.has_value(); });
  CATCH_CHECK_THAT(now->data.trouble, contains("gone for lunch"));
  CATCH_CHECK(now->data.cluster);
  CATCH_CHECK(now->data.health);
}

} // namespace graphmill::test
