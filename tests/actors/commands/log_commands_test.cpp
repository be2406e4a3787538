#include "messages/wire/log.hpp"
#include "tests/actors/cluster/client/fake_coordinator.hpp"
#include "tests/actors/commands/user.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace graphmill::test {

namespace {

/// Tells of one run, which is over.
void tell_of_run(fake_coordinator& coordinator) {
  coordinator.on(method::runs, [](const payload&) -> result<payload> {
    return encode(runs_reply{{record(run_state::finished)}, false});
  });
}

log_line torn_line() {
  return {unix_time{1700000000123},
          log_level::warn,
          "d\x1b[2J",
          "good-1",
          "",
          "run",
          "torn\nup"};
}

} // namespace

CATCH_TEST_CASE("lines of a run are printed, whatever is in them",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  tell_of_run(coordinator);
  // The last lines come when they have been collected.
  std::atomic<std::uint64_t> collected{0};
  coordinator.on(method::logs,
                 [&collected](const payload& body) -> result<payload> {
                   GRAPHMILL_TRY(const auto request, decode_log_request(body));
                   log_reply out;
                   out.next = request.after + 1;
                   out.begun = 1;
                   out.collected = ++collected;
                   if (request.run == "good-1"
                       && (request.daemon.empty() || request.daemon == "left")
                       && request.level == log_level::warn && request.after < 2)
                     out.lines = {torn_line()};
                   return encode(out);
                 });
  auto got = user.runs("logs good-1 --level warn");
  CATCH_CHECK(got.code == 0);
  const std::string line = ".123 d\\u001b[2J warn  torn\\nup\n";
  const auto first = got.output.find(line);
  CATCH_CHECK(first != std::string::npos);
  CATCH_CHECK(got.output.find(line, first + 1) != std::string::npos);
  CATCH_CHECK(got.output.find('\x1b') == std::string::npos);
  collected = 0;
  got = user.runs("logs --follow --level warn --json");
  CATCH_CHECK(got.code == 0);
  const auto end = got.output.find('\n');
  CATCH_REQUIRE(end != std::string::npos);
  const auto json = nlohmann::json::parse(got.output.substr(0, end));
  CATCH_CHECK(json["text"] == "torn\nup");
  CATCH_CHECK(json["time"] == 1700000000.123);
  coordinator.on(method::status, [](const payload&) -> result<payload> {
    status_reply now;
    now.daemons.emplace_back().name = "quiet";
    return encode(now);
  });
  got = user.runs("logs --daemon quite");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("there is no daemon `quite`; there are "
                                        "quiet"));
  // One that has gone away has said something.
  got = user.runs("logs --daemon left --level warn");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK_THAT(got.output, contains(line));
  got = user.runs("logs --daemon quiet");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK(got.output.empty());
  CATCH_CHECK_THAT(got.errors, contains("knows no such line of run good-1"));
  CATCH_CHECK(user.runs("logs --level loud").code == 2);
}

CATCH_TEST_CASE("what was put aside of a log is printed first",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  tell_of_run(coordinator);
  coordinator.on(method::logs, [](const payload&) -> result<payload> {
    return encode(log_reply{.collected = 1}); // All are forgotten.
  });
  const std::map<std::string, std::string> files{{"log.txt", "the end\n"},
                                                 {"log.txt.old", "begun\n"}};
  coordinator.on(
    method::fetch_file, [&files](const payload& body) -> result<payload> {
      GRAPHMILL_TRY(const auto request, decode_file_request(body));
      const auto found = files.find(request.file);
      if (found == files.end())
        return fail(ec::not_found, "no {}", request.file);
      const auto rest = std::as_bytes(std::span{found->second})
                          .subspan(std::size_t(request.offset));
      const auto piece = rest.first(std::min<std::size_t>(rest.size(), 4));
      file_reply out;
      out.size = found->second.size();
      out.bytes.assign(piece.begin(), piece.end());
      return encode(out);
    });
  CATCH_CHECK(user.runs("logs").output == "begun\nthe end\n");
  CATCH_CHECK(user.asks("logs")["log"] == "begun\nthe end\n");
}

CATCH_TEST_CASE("events are printed page by page", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  tell_of_run(coordinator);
  coordinator.on(method::events, [](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto request, decode_events_request(body));
    events_reply out;
    out.more = request.after == 0;
    out.next = request.after == 0 ? 8 : 9;
    out.events = {{out.next - 1, unix_time{1700000000000},
                   out.more ? "lost" : "recovered", "d1", request.run,
                   "gone\x1b[2J"}};
    return encode(out);
  });
  auto got = user.runs("events");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK_THAT(got.output, contains("  lost        gone\\u001b[2J\n"));
  CATCH_CHECK(got.output.ends_with("  recovered   gone\\u001b[2J\n"));
  got = user.runs("events good-1 --follow");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK_THAT(got.output, contains("  recovered   run good-1: gone"));
  // The shell waits for both, and tells how the one before the pipe has ended.
  got = user.runs("events --follow | head -n 1",
                  R"(sh -c 'timeout 60 "$0" "$@"; echo $? > code')");
  CATCH_CHECK_THAT(got.output, contains("  lost        gone"));
  CATCH_CHECK(content_of(user.folder() / "code") == "0\n");
  got = user.runs("events --json");
  const auto json =
    nlohmann::json::parse(got.output.substr(0, got.output.find('\n')));
  CATCH_CHECK(json["kind"] == "lost");
  CATCH_CHECK(json["seq"] == 7);
}

CATCH_TEST_CASE("an event names its run once", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::events, [](const payload&) -> result<payload> {
    events_reply out;
    out.next = 8;
    out.events = {{7, unix_time{1700000000000}, "started", "d1", "good-1",
                   "run good-1 has begun"}};
    return encode(out);
  });
  const auto got = user.runs("events");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK(got.output.ends_with("  started     run good-1 has begun\n"));
}

} // namespace graphmill::test
