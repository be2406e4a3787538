#include "tests/actors/cluster/client/fake_coordinator.hpp"
#include "tests/actors/commands/user.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <nlohmann/json.hpp>

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

result<payload> take_run(const payload& body) {
  GRAPHMILL_TRY(const auto def, decode_definition_body(body));
  if (def.trainer.replicas > 4)
    return fail(ec::invalid_argument, "the cluster takes 4 trainers, not {}",
                def.trainer.replicas);
  return encode_run_id(def.name + "-1");
}

run_news metrics(const char* phase, int epoch, double accuracy) {
  return {nlohmann::json{{"phase", phase},
                         {"epoch", epoch},
                         {"steps", 4},
                         {"seeds", 1000},
                         {"loss", 1.5},
                         {"accuracy", accuracy},
                         {"learning_rate", 0.01},
                         {"seconds", 0.5}}
            .dump(),
          {},
          0,
          0};
}

/// A run of two epochs, told in two answers of which the first is repeated
/// until somebody has asked with a later cursor.
result<payload> tell_run(const payload& body, run_record last) {
  GRAPHMILL_TRY(const auto request, decode_watch_request(body));
  if (request.run != "good-1")
    return fail(ec::not_found, "no run {}", request.run);
  watch_reply out;
  out.record = std::move(last);
  const std::vector events{
    run_news{{}, "train epoch 1", 1, 4}, metrics("train", 1, 0.25),
    metrics("validation", 1, 0.5),       metrics("train", 2, 0.625),
    metrics("validation", 2, 0.75),      metrics("test", 2, 0.8125)};
  const auto end = std::min<std::uint64_t>(request.cursor + 3, events.size());
  for (auto i = request.cursor; i < end; ++i)
    out.events.push_back(events[i]);
  out.next = end;
  return encode(out);
}

} // namespace

CATCH_TEST_CASE("a run is submitted and watched", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::submit, take_run);
  auto end = record(run_state::finished);
  end.summary = summary.dump();
  coordinator.on(method::watch,
                 [&end](const payload& body) { return tell_run(body, end); });

  CATCH_CHECK(user.asks("submit good.yaml")
              == nlohmann::json{{"run", "good-1"}});
  auto got = user.runs("submit good.yaml --watch");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK_THAT(got.output, contains("validation  learning rate"));
  CATCH_CHECK_THAT(
    got.output,
    contains("    1      1.5000    0.2500      0.5000           0.01"));
  CATCH_CHECK_THAT(
    got.output,
    contains("    2      1.5000    0.6250      0.7500           0.01"));
  CATCH_CHECK_THAT(got.output, contains("test accuracy    0.8125\n"));
  CATCH_CHECK_THAT(
    got.errors, contains("run good-1 submitted to " + coordinator.address()));
  CATCH_CHECK_THAT(got.errors, contains("train epoch 1"));

  got = user.runs("submit good.yaml --watch --json -q");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK(got.errors.empty());
  CATCH_CHECK(nlohmann::json::parse(got.output) == summary);

  got = user.runs("submit good.yaml --set trainer.replicas=9");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("the cluster takes 4 trainers, not 9"));

  // Never sent.
  const auto before = coordinator.count(method::submit);
  got = user.runs("submit bad.yaml");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("did you mean `epochs`?"));
  CATCH_CHECK(coordinator.count(method::submit) == before);
}

CATCH_TEST_CASE("a watched run that diverges ends with its cause",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::submit, take_run);
  auto end = record(run_state::failed);
  end.message = "the loss of epoch 1 is not a number";
  coordinator.on(method::watch, [&end](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto request, decode_watch_request(body));
    watch_reply out;
    out.record = end;
    auto diverged = nlohmann::json::parse(metrics("train", 1, 0.25).metrics);
    diverged["loss"] = nullptr;
    if (request.cursor == 0)
      out.events.push_back({diverged.dump(), {}, 0, 0});
    out.next = 1;
    return encode(out);
  });
  const auto got = user.runs("submit good.yaml --watch");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(
    got.output,
    contains("    1         nan    0.2500           -           0.01"));
  CATCH_CHECK_THAT(
    got.errors,
    contains("run good-1 failed: the loss of epoch 1 is not a number"));
}

CATCH_TEST_CASE(
  "what a coordinator says does not reach the terminal's controls",
  "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::submit, take_run);
  auto end = record(run_state::failed);
  end.message = "\x1b]0;owned\x07";
  coordinator.on(method::watch,
                 [&end](const payload& body) { return tell_run(body, end); });
  const auto got = user.runs("submit good.yaml --watch");
  CATCH_CHECK_THAT(got.errors, contains("failed: \\u001b]0;owned\\u0007\n"));
  const auto json = user.runs("submit good.yaml --watch --json -q");
  CATCH_CHECK(nlohmann::json::parse(json.output).at("error").get<std::string>()
              == end.message);
}

CATCH_TEST_CASE("how a watched run ends is how the command ends",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::submit, take_run);
  auto end = record(run_state::failed);
  end.message = "daemon \"b\" is lost";
  coordinator.on(method::watch,
                 [&end](const payload& body) { return tell_run(body, end); });
  auto got = user.runs("submit good.yaml --watch --json -q");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK(
    nlohmann::json::parse(got.output)
    == nlohmann::json{{"run", "good-1"}, {"error", "daemon \"b\" is lost"}});
  CATCH_CHECK(got.errors
              == "graphmill: run good-1 failed: daemon \"b\" is lost\n");
  end = record(run_state::cancelled);
  end.summary = summary.dump();
  got = user.runs("submit good.yaml --watch --json -q");
  CATCH_CHECK(got.code == 130);
  CATCH_CHECK(nlohmann::json::parse(got.output) == summary);
  CATCH_CHECK_THAT(got.errors, contains("run good-1 was cancelled"));
  end = record(run_state::finished);
  end.summary = "not [json";
  CATCH_CHECK(user.runs("submit good.yaml --watch").code == 0);
  coordinator.on(method::watch, [](const payload&) -> result<payload> {
    watch_reply out;
    out.events = {{"{\"phase\": \"lunch\"}", {}, 0, 0}};
    out.next = 1;
    return encode(out);
  });
  got = user.runs("submit good.yaml --watch -q");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("unknown phase"));
}

CATCH_TEST_CASE("a run that waits says what for", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::submit, take_run);
  std::atomic<int> asked{0};
  coordinator.on(method::watch, [&asked](const payload& body) {
    if (++asked > 3)
      return tell_run(body, record(run_state::finished));
    watch_reply out;
    out.record = record(run_state::queued);
    out.record.message = "waits: the run needs what is draining: d1";
    return result<payload>{encode(out)};
  });
  const auto got = user.runs("submit good.yaml --watch");
  CATCH_CHECK(got.code == 0);
  const std::string says{"graphmill: run good-1 waits: the run needs what is "
                         "draining: d1\n"};
  const auto first = got.errors.find(says);
  CATCH_CHECK(first != std::string::npos);
  CATCH_CHECK(got.errors.find(says, first + 1) == std::string::npos); // Once.
}

CATCH_TEST_CASE("watching goes on when the coordinator is back",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  std::atomic<int> asked{0};
  auto end = record(run_state::failed);
  end.message = "the coordinator ended while it was on";
  coordinator.on(method::runs, [](const payload&) -> result<payload> {
    return encode(runs_reply{{record(run_state::running)}, false});
  });
  coordinator.on(method::watch, [&](const payload& body) -> result<payload> {
    if (++asked > 1)
      return tell_run(body, end);
    GRAPHMILL_TRY(auto told, tell_run(body, record(run_state::running)));
    return told;
  });
  std::thread breaks{[&] {
    while (asked == 0)
      std::this_thread::sleep_for(10ms);
    coordinator.restart();
  }};
  const auto got = user.runs("watch");
  breaks.join();
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(
    got.errors,
    contains("run good-1 failed: the coordinator ended while it was on"));
}

CATCH_TEST_CASE("a run whose rows nobody reads any more is not watched",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::submit, take_run);
  coordinator.on(method::runs, [](const payload&) -> result<payload> {
    return encode(runs_reply{{record(run_state::running)}, false});
  });
  coordinator.on(method::watch, [](const payload& body) -> result<payload> {
    std::this_thread::sleep_for(10ms);
    GRAPHMILL_TRY(const auto request, decode_watch_request(body));
    watch_reply out;
    out.record = record(run_state::running);
    out.events = {metrics("train", static_cast<int>(request.cursor) + 1, 0.25)};
    out.next = request.cursor + 1;
    return encode(out);
  });
  for (const auto* command : {"watch good-1", "submit good.yaml --watch"}) {
    CATCH_INFO(command);
    const auto got = user.runs(
      command,
      "timeout 60 sh -c '{ \"$0\" \"$@\"; echo code $?. >&2; } | head -c 1'");
    CATCH_CHECK(got.code == 0); // Of the reader.
    CATCH_CHECK_THAT(got.errors, contains("code 0."));
  }
  CATCH_CHECK(coordinator.count(method::cancel) == 0);
}

CATCH_TEST_CASE("a signal ends watching, not the run", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::submit, take_run);
  coordinator.on(method::watch, [](const payload& body) -> result<payload> {
    std::this_thread::sleep_for(50ms);
    GRAPHMILL_TRY(const auto request, decode_watch_request(body));
    watch_reply out;
    out.next = request.cursor;
    out.record = record(run_state::running);
    return encode(out);
  });
  // Ctrl-C when it watches.
  std::atomic<bool> over{false};
  std::thread presses{[&] {
    while (!over && coordinator.count(method::watch) == 0)
      std::this_thread::sleep_for(10ms);
    pid_t watcher = 0;
    if (!over && std::ifstream{user.folder() / "watcher"} >> watcher)
      ::kill(watcher, SIGINT);
  }};
  const auto got =
    user.runs("submit good.yaml --watch",
              "timeout 60 sh -c 'echo $$ > watcher && exec \"$0\" \"$@\"'");
  over = true;
  presses.join();
  CATCH_CHECK(got.code == 130);
  CATCH_CHECK_THAT(got.errors, contains("graphmill cancel good-1"));
  CATCH_CHECK(coordinator.count(method::cancel) == 0);
}
