#include "messages/wire/log.hpp"
#include "tests/actors/cluster/client/fake_coordinator.hpp"
#include "tests/actors/commands/user.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

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
  CATCH_CHECK_THAT(got.errors, contains("no line of run good-1 matches any more"));
  CATCH_CHECK(user.runs("logs --level loud").code == 2);
}

namespace {

using files = std::map<std::string, std::string>;

/// Answers with pieces of the files of the run's folder.
void serve_files(fake_coordinator& coordinator, const files& all) {
  coordinator.on(
    method::fetch_file, [&all](const payload& body) -> result<payload> {
      GRAPHMILL_TRY(const auto request, decode_file_request(body));
      const auto found = all.find(request.file);
      if (found == all.end())
        return fail(ec::not_found, "no {}", request.file);
      const auto rest = std::as_bytes(std::span{found->second})
                          .subspan(std::size_t(request.offset));
      const auto piece = rest.first(std::min<std::size_t>(rest.size(), 4));
      file_reply out;
      out.size = found->second.size();
      out.bytes.assign(piece.begin(), piece.end());
      return encode(out);
    });
}

/// Of an hour and a day, as the file and the answers have them.
log_line line_at(int second, log_level level, std::string text) {
  return {unix_time{1795836600000 + 1000 * second},
          level,
          "d1",
          "good-1",
          "",
          "run",
          std::move(text)};
}

std::string in_file(int second, const std::string& level_and_text) {
  return fmt::format("[2026-11-28T03:30:{:02}.000Z] {}\n", second,
                     level_and_text);
}

std::string texts_in(const std::string& json_lines) {
  std::string out, line;
  for (std::istringstream lines{json_lines}; std::getline(lines, line);)
    out += nlohmann::json::parse(line)["text"].get<std::string>() + ' ';
  return out;
}

} // namespace

CATCH_TEST_CASE("lines from before the coordinator come from the run's folder",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  tell_of_run(coordinator);
  log_reply known;
  known.next = 4;
  known.collected = 1;
  known.lines = {line_at(3, log_level::info, "d1-begins"),
                 line_at(10, log_level::warn, "anew"),
                 line_at(11, log_level::info, "goes-on")};
  std::string written_meanwhile;
  files folder{{"log.txt.old", in_file(1, "[info] begun") + "[torn"},
               {"log.txt", in_file(5, "[warning] slow")
                             + in_file(10, "[warning] anew")
                             + in_file(11, "[info] goes-on")}};
  coordinator.on(method::logs, [&](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto request, decode_log_request(body));
    folder["log.txt"] += std::exchange(written_meanwhile, {});
    auto out = known;
    if (request.after > 0 || !request.daemon.empty())
      out.lines.clear();
    std::erase_if(out.lines, [&request](const auto& line) {
      return line.level < request.level;
    });
    return encode(out);
  });
  serve_files(coordinator, folder);
  CATCH_CHECK(texts_in(user.runs("logs --json").output)
              == "begun [torn d1-begins slow anew goes-on ");
  CATCH_CHECK(texts_in(user.runs("logs --json --level warn").output)
              == "[torn slow anew ");
  const auto text = user.runs("logs").output;
  CATCH_CHECK_THAT(text, contains(".000 - warn  slow\n"));
  CATCH_CHECK_THAT(text, contains(".000 d1 warn  anew\n"));
  auto got = user.runs("logs --follow --json");
  CATCH_CHECK(texts_in(got.output)
              == "begun [torn d1-begins slow anew goes-on ");
  coordinator.on(method::status, [](const payload&) -> result<payload> {
    status_reply now;
    now.daemons.emplace_back().name = "d1";
    return encode(now);
  });
  got = user.runs("logs --daemon d1");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK(got.output.empty());
  CATCH_CHECK_THAT(got.errors, contains("without --daemon, its log file"));
  CATCH_SECTION("what is written meanwhile comes from its daemon, later") {
    written_meanwhile = in_file(12, "[info] just-now");
    CATCH_CHECK(texts_in(user.runs("logs --json").output)
                == "begun [torn d1-begins slow anew goes-on ");
    CATCH_CHECK(written_meanwhile.empty());
  }
  CATCH_SECTION("all is forgotten") {
    known.lines.clear();
    CATCH_CHECK(texts_in(user.runs("logs --json").output)
                == "begun [torn slow anew goes-on ");
  }
  CATCH_SECTION("the file cannot be read") {
    coordinator.on(method::fetch_file, [](const payload&) -> result<payload> {
      return fail(ec::io, "the disk is broken");
    });
    got = user.runs("logs --json");
    CATCH_CHECK(got.code == 0);
    CATCH_CHECK(texts_in(got.output) == "d1-begins anew goes-on ");
    CATCH_CHECK_THAT(got.errors, contains("the disk is broken"));
  }
  CATCH_SECTION("there is none") {
    folder.clear();
    CATCH_CHECK(texts_in(user.runs("logs --json").output)
                == "d1-begins anew goes-on ");
    known.lines.clear();
    CATCH_CHECK(user.runs("logs").code == 1);
  }
}

CATCH_TEST_CASE("a log that is followed goes on at another coordinator",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  std::atomic<int> asked{0};
  coordinator.on(method::runs, [&asked](const payload&) -> result<payload> {
    return encode(runs_reply{
      {record(asked > 2 ? run_state::finished : run_state::running)}, false});
  });
  files folder{{"log.txt", in_file(1, "[info] begun")}};
  serve_files(coordinator, folder);
  const auto by_agent = [](int second, std::string text) {
    auto out = line_at(second, log_level::info, std::move(text));
    out.module = "agent";
    return out;
  };
  auto by_first = line_at(1, log_level::info, "begun");
  by_first.daemon = "d0";
  coordinator.on(method::logs, [&](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto request, decode_log_request(body));
    log_reply out;
    out.collected = 1;
    out.next = request.after;
    if (++asked == 1) {
      out.next = 3;
      out.lines = {by_first, by_agent(2, "one"), by_agent(3, "two")};
    } else if (request.after == 3 && asked > 2) {
      // Another one, which has not collected yet what daemons have.
      folder["log.txt"] = in_file(1, "[info] begun")
                          + in_file(4, "[warning] unseen")
                          + in_file(10, "[info] goes-on");
      out.anew = true;
      out.next = 1000;
      out.lines = {line_at(10, log_level::info, "goes-on")};
    } else if (request.after == 1000) {
      out.next = 1001;
      out.lines = {by_agent(2, "one"), by_agent(3, "two"),
                   by_agent(3, "as-soon"), by_agent(2, "late"),
                   by_agent(11, "three")};
    }
    return encode(out);
  });
  const auto got = user.runs("logs --follow --json");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK(texts_in(got.output)
              == "begun one two unseen goes-on as-soon late three ");
}

CATCH_TEST_CASE(
  "lines are printed by time, and those of a daemon in their order",
  "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  tell_of_run(coordinator);
  const auto by = [](const char* daemon, int second, std::string text) {
    auto out = line_at(second, log_level::info, std::move(text));
    out.daemon = daemon;
    out.module = "agent";
    return out;
  };
  // All that there was is collected from one daemon after the other.
  const std::vector<std::vector<log_line>> pages{
    {by("d1", 3, "b"), by("d1", 9, "f"), by("d1", 1, "set-back")},
    {by("d1", 12, "h"), by("d2", 2, "a"), by("d2", 4, "d")},
    {by("d2", 10, "g"), by("d3", 3, "c")},
  };
  std::atomic<std::size_t> fails_at{pages.size() + 1};
  coordinator.on(method::logs, [&](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto request, decode_log_request(body));
    if (request.after >= fails_at)
      return fail(ec::io, "the disk is broken");
    log_reply out;
    out.collected = 1;
    out.next = request.after;
    if (request.after < pages.size()) {
      out.lines = pages[request.after];
      out.next = request.after + 1;
      out.more = true;
    }
    return encode(out);
  });
  files folder{{"log.txt", in_file(5, "[info] e")}};
  serve_files(coordinator, folder);
  for (const auto* command : {"logs --json", "logs --follow --json"})
    CATCH_CHECK(texts_in(user.runs(command).output)
                == "a b c d e f set-back g h ");
  // What came before an answer that does not come is not lost.
  fails_at = 1;
  const auto got = user.runs("logs --json");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.output, contains("\"text\":\"b\""));
  CATCH_CHECK_THAT(got.errors, contains("the disk is broken"));
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

CATCH_TEST_CASE("a run without events is told of", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  tell_of_run(coordinator);
  coordinator.on(method::events, [](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto request, decode_events_request(body));
    events_reply out;
    out.next = request.after;
    return encode(out);
  });
  for (const auto* command : {"events good-1", "events good-1 --follow"}) {
    const auto got = user.runs(command);
    CATCH_CHECK(got.code == 0);
    CATCH_CHECK_THAT(got.errors, contains("no events of run good-1"));
  }
  CATCH_CHECK(user.runs("events").errors.empty());
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
