#include "actors/cluster/run_history.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <fstream>

using namespace graphmill;
using namespace graphmill::test;

namespace {

run_record run_of(const std::string& id, std::int64_t submitted,
                  run_state state = run_state::finished) {
  run_record out;
  out.id = id;
  out.name = "cora";
  out.state = state;
  out.submitted = unix_time{submitted};
  return out;
}

void run_sql(const std::filesystem::path& file, const char* sql) {
  sqlite3* database = nullptr;
  CATCH_REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  CATCH_CHECK(sqlite3_exec(database, sql, nullptr, nullptr, nullptr)
              == SQLITE_OK);
  sqlite3_close(database);
}

void check_same(const run_record& a, const run_record& b) {
  CATCH_CHECK(a.id == b.id);
  CATCH_CHECK(a.name == b.name);
  CATCH_CHECK(a.state == b.state);
  CATCH_CHECK(a.submitted == b.submitted);
  CATCH_CHECK(a.started == b.started);
  CATCH_CHECK(a.ended == b.ended);
  CATCH_CHECK(a.message == b.message);
  CATCH_CHECK(a.summary == b.summary);
}

} // namespace

CATCH_TEST_CASE("runs are kept", "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  auto run = run_of("r1", 1700000000123, run_state::running);
  run.started = unix_time{1700000000456};
  {
    auto history = value_of(run_history::open(file));
    CATCH_CHECK(value_of(history.latest(10)).empty());
    CATCH_CHECK(!value_of(history.get("r1")));
    value_of(history.put(run, "dataset: cora\n"));
    run.state = run_state::failed;
    run.ended = unix_time{1700000000789};
    run.message = "it's a 'quote'; DROP TABLE runs; \xff";
    run.summary = R"({"test_accuracy": null})";
    value_of(history.put(run));
  }
  auto history = value_of(run_history::open(file));
  const auto got = value_of(history.get("r1"));
  CATCH_REQUIRE(got);
  check_same(got->record, run);
  CATCH_CHECK(got->definition == "dataset: cora\n");
  const auto all = value_of(history.latest(10));
  CATCH_REQUIRE(all.size() == 1);
  check_same(all[0], run);
}

CATCH_TEST_CASE("the latest runs come first", "[run_history]") {
  temp_folder folder;
  auto history = value_of(run_history::open(folder / "runs.sqlite"));
  for (const auto* id : {"b", "d", "a", "c"})
    value_of(history.put(run_of(id, id[0] == 'a' ? 9 : 5)));
  std::string order;
  for (const auto& run : value_of(history.latest(3)))
    order += run.id;
  CATCH_CHECK(order == "adc");
  CATCH_CHECK(value_of(history.latest(0)).empty());
}

CATCH_TEST_CASE("runs without their coordinator have failed", "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  // Killed in the middle: nothing is closed.
  CATCH_REQUIRE(code_of_child([&file] {
                  auto history = value_of(run_history::open(file));
                  value_of(history.put(run_of("a", 1, run_state::finished)));
                  value_of(history.put(run_of("b", 2, run_state::cancelled)));
                  value_of(history.put(run_of("c", 3, run_state::running)));
                  value_of(history.put(run_of("d", 4, run_state::queued)));
                  ::kill(::getpid(), SIGKILL);
                  return 0;
                })
                == -SIGKILL);
  auto history = value_of(run_history::open(file));
  const auto runs = value_of(history.latest(10));
  CATCH_REQUIRE(runs.size() == 4);
  CATCH_CHECK(runs[0].state == run_state::failed);
  CATCH_CHECK(runs[0].message == "the coordinator ended while it was queued");
  CATCH_CHECK(runs[1].state == run_state::failed);
  CATCH_CHECK(runs[1].message == "the coordinator ended while it was on");
  CATCH_CHECK(runs[1].ended > unix_time{0});
  CATCH_CHECK(runs[2].state == run_state::cancelled);
  CATCH_CHECK(runs[3].state == run_state::finished);
  CATCH_CHECK(runs[3].ended == unix_time{0});
}

CATCH_TEST_CASE("one coordinator has the history at a time", "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  for (auto again = 0; again < 2; ++again) {
    auto first = value_of(run_history::open(file));
    value_of(first.put(run_of("a", 1, run_state::running)));
    const auto refused = error_of(run_history::open(file));
    CATCH_CHECK(refused.code == ec::unavailable);
    CATCH_CHECK(refused.message.find("another coordinator")
                != std::string::npos);
    CATCH_CHECK(value_of(first.get("a"))->record.state == run_state::running);
  }
}

CATCH_TEST_CASE("what is no history is refused and stays as it is",
                "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  auto code = ec::invalid_data;
  CATCH_SECTION("text") {
    std::ofstream{file} << std::string(5000, 'x');
  }
  CATCH_SECTION("a short text") {
    std::ofstream{file} << "x";
  }
  CATCH_SECTION("a database of another program") {
    run_sql(file, "CREATE TABLE bookmarks (a); PRAGMA user_version = 1");
  }
  CATCH_SECTION("a newer version") {
    value_of(run_history::open(file));
    run_sql(file, "PRAGMA journal_mode = DELETE; PRAGMA user_version = 2");
    code = ec::version_mismatch;
  }
  const auto before = content_of(file);
  const auto got = error_of(run_history::open(file));
  CATCH_INFO(got.message);
  CATCH_CHECK(got.code == code);
  CATCH_CHECK(got.message.find(file.string()) != std::string::npos);
  CATCH_CHECK(content_of(file) == before);
}

CATCH_TEST_CASE("a history that is damaged inside is an error",
                "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  value_of(value_of(run_history::open(file)).put(run_of("a", 1)));
  run_sql(file, "UPDATE runs SET state = 'paused'");
  auto history = value_of(run_history::open(file));
  CATCH_CHECK(error_of(history.get("a")).code == ec::invalid_data);
  CATCH_CHECK(error_of(history.latest(1)).code == ec::invalid_data);
}

CATCH_TEST_CASE("a place where no history can be is an error",
                "[run_history]") {
  temp_folder folder;
  CATCH_CHECK(error_of(run_history::open(folder.path())).code
              == ec::invalid_data);
  auto got = error_of(run_history::open(folder / "no/such/folder"));
  CATCH_INFO(got.message);
  CATCH_CHECK(got.code == ec::not_found);

  std::filesystem::permissions(folder.path(), std::filesystem::perms{0555});
  // Root may write everywhere.
  const auto code = code_of_child([&folder] {
    if (::geteuid() == 0 && ::setuid(65534) != 0)
      return 77;
    const auto refused = run_history::open(folder / "runs.sqlite");
    return !refused && refused.error().code == ec::permission ? 0 : 1;
  });
  CATCH_CHECK(code == 0);
}
