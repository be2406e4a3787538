#include "actors/cluster/audit/audit_log.hpp"
#include "messages/wire/chaos.hpp"
#include "partition/files/json_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

const audit_sums::time_point start_of_audit{1h};

incoming_request request_for_audit(method which, payload data = {}) {
  incoming_request out;
  out.method = which;
  out.from = {"submit", std::string(32, 'a'), ""};
  out.data = std::move(data);
  out.host = "10.0.0.7";
  return out;
}

audit_entry refused_entry(const std::string& host, const std::string& what) {
  audit_entry out;
  out.host = host;
  out.what = what;
  out.done = false;
  out.why = "no";
  out.code = "permission";
  return out;
}

/// The lines of a file, each of them JSON.
std::vector<nlohmann::json> lines_in(const std::filesystem::path& file) {
  const auto text = value_of(read_text(file, std::size_t{1} << 26));
  std::vector<nlohmann::json> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    CATCH_REQUIRE(end != std::string::npos);
    out.push_back(value_of(parse_json(text.substr(at, end - at), "a line")));
    at = end + 1;
  }
  return out;
}

} // namespace

CATCH_TEST_CASE("what changes something is noted with its object",
                "[cluster][audit]") {
  auto entry =
    audit_of(request_for_audit(method::submit), encode_run_id("run-7"));
  CATCH_REQUIRE(entry);
  CATCH_CHECK(entry->who == "submit");
  CATCH_CHECK(entry->host == "10.0.0.7");
  CATCH_CHECK(entry->what == "submit");
  CATCH_CHECK(entry->object == "run-7");
  CATCH_CHECK(entry->done);
  entry = audit_of(
    request_for_audit(method::drain, encode(daemon_request{"gpu-1", false})),
    payload{});
  CATCH_REQUIRE(entry);
  CATCH_CHECK(entry->object == "gpu-1");
  entry = audit_of(request_for_audit(method::stop, encode(daemon_request{})),
                   fail(ec::invalid_argument, "a run is on"));
  CATCH_REQUIRE(entry);
  CATCH_CHECK(entry->object == "all daemons");
  CATCH_CHECK_FALSE(entry->done);
  CATCH_CHECK(entry->why == "a run is on");
  CATCH_CHECK(entry->code == "invalid_argument");
  entry =
    audit_of(request_for_audit(method::chaos, encode(chaos_request{"gpu-1"})),
             payload{});
  CATCH_REQUIRE(entry);
  CATCH_CHECK(entry->object == "kill gpu-1");
}

CATCH_TEST_CASE("questions are noted only if they are forbidden",
                "[cluster][audit]") {
  const auto question = request_for_audit(method::status);
  CATCH_CHECK_FALSE(audit_of(question, payload{}));
  CATCH_CHECK_FALSE(audit_of(question, fail(ec::unavailable, "busy")));
  CATCH_CHECK(audit_of(question, fail(ec::permission, "not you")));
}

CATCH_TEST_CASE("lines name the holder of a key that has a role",
                "[cluster][audit]") {
  auto asked = request_for_audit(method::submit);
  asked.from.holder = {key_role::reader, "bob", "k"};
  const auto entry = audit_of(asked, fail(ec::permission, "not you"));
  CATCH_REQUIRE(entry);
  const auto line = value_of(parse_json(json_line(*entry), "a line"));
  CATCH_CHECK(line["key"] == label_of(asked.from.holder));
  CATCH_CHECK(line["code"] == "permission");
  const auto refused =
    audit_of(access_refusal{asked.from, "10.0.0.7", method::stop, "no"});
  CATCH_CHECK(refused.key == entry->key);
  CATCH_CHECK(refused.code == "permission");
  const auto plain = audit_of(request_for_audit(method::cancel), payload{});
  CATCH_REQUIRE(plain);
  CATCH_CHECK_FALSE(
    value_of(parse_json(json_line(*plain), "a line")).contains("key"));
}

CATCH_TEST_CASE("a line is JSON whatever names are made of",
                "[cluster][audit]") {
  audit_entry entry;
  entry.who = "a\"\n\x1b[2J\xff{}";
  entry.what = "submit";
  entry.object = std::string(100'000, 'x');
  const auto line = json_line(entry);
  CATCH_CHECK(line.find('\n') == std::string::npos);
  CATCH_CHECK(line.find('\x1b') == std::string::npos);
  CATCH_CHECK(line.size() < 2000);
  const auto back = value_of(parse_json(line, "a line"));
  CATCH_CHECK(back["who"].get<std::string>() == "a\"\n\x1b[2J\xef\xbf\xbd{}");
  CATCH_CHECK(back["result"].get<std::string>() == "ok");
  CATCH_CHECK_FALSE(back.contains("times"));
}

CATCH_TEST_CASE("refusals that repeat are summed up", "[cluster][audit]") {
  audit_sums sums;
  const auto now = start_of_audit;
  CATCH_CHECK(sums.add(refused_entry("h", "submit"), now).size() == 1);
  for (int i = 0; i < 1000; ++i)
    CATCH_CHECK(sums.add(refused_entry("h", "submit"), now).empty());
  CATCH_CHECK(sums.add(refused_entry("h", "stop"), now).size() == 1);
  CATCH_CHECK(sums.add(refused_entry("other", "submit"), now).size() == 1);
  audit_entry done;
  done.what = "submit";
  CATCH_CHECK(sums.add(done, now).size() == 1); // Each of what was done.
  CATCH_CHECK(sums.add(done, now).size() == 1);
  CATCH_CHECK(sums.look(now + 9s).empty());
  const auto later = sums.look(now + 10s);
  CATCH_REQUIRE(later.size() == 1);
  CATCH_CHECK(later[0].times == 1000);
  CATCH_CHECK(later[0].what == "submit");
  CATCH_CHECK(sums.look(now + 20s).empty());
}

CATCH_TEST_CASE("refusals of very many kinds are one line",
                "[cluster][audit]") {
  audit_sums sums;
  std::size_t lines = 0;
  for (int i = 0; i < 5000; ++i)
    lines +=
      sums.add(refused_entry(std::to_string(i), "x"), start_of_audit).size();
  CATCH_CHECK(lines == 100);
  const auto later = sums.look(start_of_audit + 10s);
  CATCH_REQUIRE(later.size() == 1);
  CATCH_CHECK(later[0].times == 4900);
}

CATCH_TEST_CASE("what waits is written when the log ends", "[cluster][audit]") {
  const temp_folder folder;
  {
    audit_log log{folder.path(), [](const std::string&) {}};
    for (int i = 0; i < 100; ++i)
      log.add(*audit_of(request_for_audit(method::submit),
                        encode_run_id(std::to_string(i))));
  }
  const auto lines = lines_in(folder / "audit.jsonl");
  CATCH_REQUIRE(lines.size() == 100);
  for (int i = 0; i < 100; ++i)
    CATCH_CHECK(lines[static_cast<std::size_t>(i)]["object"].get<std::string>()
                == std::to_string(i));
}

CATCH_TEST_CASE("a disk that fails is told once, and what is missing later",
                "[cluster][audit]") {
  const temp_folder folder;
  const auto place = folder / "gone";
  std::atomic<int> told{0};
  const auto entry = *audit_of(request_for_audit(method::cancel), payload{});
  {
    audit_log log{place, [&told](const std::string&) { ++told; }};
    for (int i = 0; i < 10; ++i)
      log.add(entry);
    const auto await = [&told](int times) {
      const auto end = std::chrono::steady_clock::now() + patience;
      while (told < times && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(1ms);
      CATCH_CHECK(told == times);
    };
    await(1);
    CATCH_CHECK_FALSE(std::filesystem::exists(place));
    std::filesystem::create_directory(place);
    log.add(entry);
    await(2);
  }
  const auto lines = lines_in(place / "audit.jsonl");
  CATCH_REQUIRE(lines.size() >= 2);
  CATCH_CHECK(lines[0]["what"].get<std::string>() == "audit");
  // Some may have come when the folder was there already.
  CATCH_CHECK(lines[0].value("times", std::size_t{1}) + lines.size() == 12);
}
