#include "actors/cluster/history/run_journal.hpp"
#include "tests/actors/cluster/history/histories.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <csignal>
#include <unistd.h>

#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

run_history::entry open_entry(const std::string& id, std::int64_t place,
                              run_state state = run_state::queued) {
  return {run_of(id, 1, state), "dataset: " + id,
          run_standing{place, 1, "home", {}, {}, {}}};
}

void put_all(run_history& history,
             const std::vector<run_history::entry>& entries) {
  value_of(history.put(entries));
}

std::string ids_of(const std::vector<open_run>& runs) {
  std::string out;
  for (const auto& run : runs)
    out += run.record.id;
  return out;
}

} // namespace

CATCH_TEST_CASE("what it takes to go on with a run is there and back",
                "[run_journal]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  const run_standing standing{-3,   7,       "10.0.0.0",
                              "r0", "e1-s2", {"b", "it's \"c\""}};
  auto run = run_of("r", 1'700'000'000'123, run_state::running);
  run.started = unix_time{1'700'000'000'456};
  run.message = "why";
  {
    auto history = value_of(open_history(file));
    CATCH_CHECK(history.take_open_runs().empty());
    put_all(history, {{run, "dataset: cora\n", standing}});
  }
  auto history = value_of(open_history(file));
  const auto open = history.take_open_runs();
  CATCH_REQUIRE(open.size() == 1);
  CATCH_CHECK(open[0].record.id == "r");
  CATCH_CHECK(open[0].record.name == run.name);
  CATCH_CHECK(open[0].record.state == run_state::running);
  CATCH_CHECK(open[0].record.submitted == run.submitted);
  CATCH_CHECK(open[0].record.started == run.started);
  CATCH_CHECK(open[0].record.message == "why");
  CATCH_CHECK(open[0].definition == "dataset: cora\n");
  CATCH_CHECK((open[0].standing == standing));
  CATCH_CHECK(history.take_open_runs().empty()); // Once.
  // It is as it was until somebody says something else.
  CATCH_CHECK(value_of(history.get("r"))->record.state == run_state::running);
}

CATCH_TEST_CASE("a run may be on as many daemons as there can be",
                "[run_journal]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  auto entry = open_entry("a", 1, run_state::running);
  // The longest name, of what takes the most room in JSON.
  entry.standing->daemons.assign(1024, std::string(256, '\1'));
  {
    auto history = value_of(open_history(file));
    put_all(history, {entry});
  }
  auto history = value_of(open_history(file));
  const auto open = history.take_open_runs();
  CATCH_REQUIRE(open.size() == 1);
  CATCH_CHECK((open[0].standing == *entry.standing));
}

CATCH_TEST_CASE("a run that had more daemons than there can be is gone on with",
                "[run_journal]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  auto entry = open_entry("a", 1, run_state::running);
  entry.standing->daemons.assign(1024, "d");
  const auto most = *entry.standing;
  entry.standing->daemons.push_back("e"); // Of an attempt after many others.
  {
    auto history = value_of(open_history(file));
    put_all(history, {entry});
  }
  auto history = value_of(open_history(file));
  const auto open = history.take_open_runs();
  CATCH_REQUIRE(open.size() == 1);
  CATCH_CHECK((open[0].standing == most));
}

CATCH_TEST_CASE("the run that was on comes first, then the queue in its order",
                "[run_journal]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  // Killed right after a submission was written: nothing is closed.
  CATCH_REQUIRE(code_of_child([&file] {
                  auto history = value_of(open_history(file));
                  put_all(history, {open_entry("c", 3)});
                  put_all(history, {open_entry("a", 5)});
                  put_all(history, {open_entry("b", 4)});
                  put_all(history, {open_entry("d", 9, run_state::running)});
                  ::kill(::getpid(), SIGKILL);
                  return 0;
                })
                == -SIGKILL);
  {
    auto history = value_of(open_history(file));
    CATCH_CHECK(ids_of(history.take_open_runs()) == "dcba");
    CATCH_CHECK(history.interrupted()
                == std::vector<std::string>{"a", "b", "c", "d"});
    // Between two transactions: one run is over, another one has begun.
    put_all(history, {{run_of("d", 1, run_state::finished), {}, {}}});
    put_all(history, {{run_of("c", 1, run_state::running), {}, {}}});
  }
  auto history = value_of(open_history(file));
  CATCH_CHECK(ids_of(history.take_open_runs()) == "cba");
  CATCH_CHECK(value_of(history.get("d"))->record.state == run_state::finished);
  CATCH_CHECK(value_of(history.get("c"))->definition == "dataset: c");
}

CATCH_TEST_CASE("a clock that is set back changes no place in the queue",
                "[run_journal]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  auto early = open_entry("z", 1);
  auto late = open_entry("a", 2);
  auto begun = open_entry("m", 3, run_state::running);
  early.record.submitted = unix_time{1'700'000'000'000};
  late.record.submitted = unix_time{1'600'000'000'000};
  begun.record.submitted = unix_time{1'700'000'000'000};
  begun.record.started = unix_time{1'600'000'000'000};
  {
    auto history = value_of(open_history(file));
    put_all(history, {early, late, begun});
  }
  auto history = value_of(open_history(file));
  CATCH_CHECK(ids_of(history.take_open_runs()) == "mza");
}

CATCH_TEST_CASE("nobody goes on with a run that is over", "[run_journal]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  {
    auto history = value_of(open_history(file));
    put_all(history, {open_entry("a", 1), open_entry("b", 2)});
    put_all(history, {{run_of("a", 1, run_state::cancelled), {}, {}}});
  }
  {
    auto history = value_of(open_history(file));
    CATCH_CHECK(ids_of(history.take_open_runs()) == "b");
  }
  // As its user wants it.
  auto history = value_of(run_history::open(file, 100, false));
  CATCH_CHECK(history.take_open_runs().empty());
  const auto left = value_of(history.get("b"))->record;
  CATCH_CHECK(left.state == run_state::failed);
  CATCH_CHECK(left.message == "the coordinator ended while it was queued");
}

CATCH_TEST_CASE("coordinators of a state folder are counted", "[run_journal]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  std::string cluster;
  for (std::uint64_t n = 1; n <= 3; ++n) {
    const auto history = value_of(open_history(file));
    CATCH_CHECK(history.generation() == n);
    CATCH_CHECK(history.cluster().size() == 32);
    if (n > 1)
      CATCH_CHECK(history.cluster() == cluster);
    cluster = history.cluster();
  }
  const auto other = value_of(open_history(folder / "other.sqlite"));
  CATCH_CHECK(other.generation() == 1);
  CATCH_CHECK(other.cluster() != cluster);
}

CATCH_TEST_CASE("a history of the first version is taken over",
                "[run_journal]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  {
    auto history = value_of(open_history(file));
    put_all(history, {{run_of("a", 1, run_state::finished), "x", {}},
                      {run_of("b", 2, run_state::running), "y", {}},
                      {run_of("c", 3, run_state::queued), "z", {}}});
  }
  run_sql(file, "PRAGMA journal_mode = DELETE; DROP TABLE open_runs; "
                "DROP TABLE office; PRAGMA user_version = 1");
  for (std::uint64_t n = 1; n <= 2; ++n) {
    auto history = value_of(open_history(file));
    CATCH_CHECK(history.set_aside().empty());
    CATCH_CHECK(history.generation() == n);
    CATCH_CHECK(history.take_open_runs().empty());
    const auto runs = value_of(history.list(10)).runs;
    CATCH_REQUIRE(runs.size() == 3);
    CATCH_CHECK(runs[0].state == run_state::failed);
    CATCH_CHECK(runs[0].message == "the coordinator ended while it was queued");
    CATCH_CHECK(runs[1].state == run_state::failed);
    CATCH_CHECK(runs[2].state == run_state::finished);
    CATCH_CHECK(value_of(history.get("a"))->definition == "x");
  }
}

CATCH_TEST_CASE("rows that make no sense cost their runs alone",
                "[run_journal]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  {
    auto history = value_of(open_history(file));
    put_all(history, {open_entry("a", 1), open_entry("b", 2)});
  }
  CATCH_SECTION("no attempt") {
    run_sql(file, "UPDATE open_runs SET attempt = 0 WHERE id = 'a'");
  }
  CATCH_SECTION("more attempts than there can be") {
    run_sql(file, "UPDATE open_runs SET attempt = 4294967295 WHERE id = 'a'");
  }
  CATCH_SECTION("an attempt that is no number") {
    run_sql(file, "UPDATE open_runs SET attempt = 'x' WHERE id = 'a'");
  }
  CATCH_SECTION("a place with none behind it") {
    run_sql(file, "UPDATE open_runs SET place = 9223372036854775807 "
                  "WHERE id = 'a'");
  }
  CATCH_SECTION("daemons that are no list") {
    run_sql(file, "UPDATE open_runs SET daemons = '{' WHERE id = 'a'");
  }
  CATCH_SECTION("daemons without names") {
    run_sql(file, "UPDATE open_runs SET daemons = '[1]' WHERE id = 'a'");
  }
  CATCH_SECTION("a daemon with a name longer than there are") {
    run_sql(file, "UPDATE open_runs SET daemons = '[\"' || "
                  "replace(hex(zeroblob(257)), '00', 'x') || '\"]' "
                  "WHERE id = 'a'");
  }
  CATCH_SECTION("more daemons than a cluster has") {
    run_sql(file, "UPDATE open_runs SET daemons = '[\"x\"' || "
                  "replace(hex(zeroblob(1024)), '00', ',\"x\"') || ']' "
                  "WHERE id = 'a'");
  }
  CATCH_SECTION("no definition") {
    run_sql(file, "UPDATE runs SET definition = '' WHERE id = 'a'");
  }
  CATCH_SECTION("a definition that is too long") {
    run_sql(file, "UPDATE runs SET definition = "
                  "replace(hex(zeroblob(524289)), '00', 'xx') WHERE id = 'a'");
  }
  CATCH_SECTION("an id that leads out of the folder") {
    run_sql(file, "UPDATE runs SET id = '../a' WHERE id = 'a'; "
                  "UPDATE open_runs SET id = '../a' WHERE id = 'a'");
  }
  auto history = value_of(open_history(file));
  CATCH_CHECK(history.set_aside().empty());
  CATCH_CHECK(ids_of(history.take_open_runs()) == "b");
  std::string failed;
  for (const auto& run : value_of(history.list(10)).runs)
    if (run.state == run_state::failed)
      failed += run.id;
  CATCH_CHECK((failed == "a" || failed == "../a"));
}

CATCH_TEST_CASE("a history that is of no cluster is set aside",
                "[run_journal]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  make_history(file, "a");
  CATCH_SECTION("no row") {
    run_sql(file, "DELETE FROM office");
  }
  CATCH_SECTION("another name") {
    run_sql(file, "UPDATE office SET cluster = 'x'");
  }
  const auto history = value_of(open_history(file));
  CATCH_CHECK(has(history.set_aside(), "it does not name its cluster"));
  CATCH_CHECK(history.generation() == 1);
}
