#include "pipelines/results/run_folder.hpp"
#include "tests/actors/cluster/history/histories.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tiny_disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

using namespace graphmill;
using namespace graphmill::test;

namespace {

std::optional<ec> ok_or_code(const result<void>& outcome) {
  return outcome ? std::nullopt : std::optional{outcome.error().code};
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
    auto history = value_of(open_history(file));
    CATCH_CHECK(value_of(history.list(10)).runs.empty());
    CATCH_CHECK(!value_of(history.get("r1")));
    value_of(put(history, run, "dataset: cora\n"));
    run.state = run_state::failed;
    run.ended = unix_time{1700000000789};
    run.message = "it's a 'quote'; DROP TABLE runs; \xff";
    run.summary = R"({"test_accuracy": null})";
    value_of(put(history, run));
  }
  auto history = value_of(open_history(file));
  const auto got = value_of(history.get("r1"));
  CATCH_REQUIRE(got);
  check_same(got->record, run);
  CATCH_CHECK(got->definition == "dataset: cora\n");
  const auto records = value_of(history.list(10)).runs;
  CATCH_REQUIRE(records.size() == 1);
  check_same(records[0], run);
}

CATCH_TEST_CASE("a history is its owner's alone", "[run_history]") {
  temp_folder folder;
  const auto mask = ::umask(0);
  auto history = value_of(open_history(folder / "runs.sqlite"));
  value_of(put(history, run_of("a", 1)));
  ::umask(mask);
  for (const auto& name : names_in(folder.path())) {
    CATCH_INFO(name);
    struct stat about {};
    CATCH_REQUIRE(::stat((folder / name).c_str(), &about) == 0);
    CATCH_CHECK((about.st_mode & 0777) == 0600u);
  }
}

CATCH_TEST_CASE("the latest runs come first", "[run_history]") {
  temp_folder folder;
  auto history = value_of(open_history(folder / "runs.sqlite"));
  for (const auto* id : {"b", "d", "a", "c"})
    value_of(put(history, run_of(id, id[0] == 'a' ? 9 : 5)));
  std::string order;
  for (const auto& run : value_of(history.list(3)).runs)
    order += run.id;
  CATCH_CHECK(order == "adc");
  CATCH_CHECK(value_of(history.list(0)).runs.empty());
}

CATCH_TEST_CASE("runs are listed page by page", "[run_history]") {
  temp_folder folder;
  auto history = value_of(open_history(folder / "runs.sqlite"));
  for (const auto* id : {"b", "d", "a", "c"})
    value_of(put(history, run_of(id, id[0] == 'a' ? 9 : 5)));
  std::string order;
  std::string before;
  for (auto more = true; more;) {
    const auto page = value_of(history.list(3, before));
    for (const auto& run : page.runs)
      order += run.id;
    order += page.more ? "|" : ".";
    more = page.more;
    before = page.runs.back().id;
  }
  CATCH_CHECK(order == "adc|b.");
  const auto last = value_of(history.list(1, "b"));
  CATCH_CHECK(last.runs.empty());
  CATCH_CHECK(!last.more);
  CATCH_CHECK(!value_of(history.list(1, "c")).more);
  CATCH_CHECK(error_of(history.list(1, "x")).code == ec::not_found);
}

CATCH_TEST_CASE("of the runs that are over the latest are kept",
                "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  const auto ids = [](run_history& history) {
    std::string out;
    for (const auto& run : value_of(history.list(100)).runs)
      out += run.id;
    return out;
  };
  {
    auto history = value_of(open_history(file, 3));
    value_of(put(history, run_of("a", 1, run_state::running)));
    for (const auto* id : {"b", "c", "d", "e"})
      value_of(put(history, run_of(id, id[0])));
    // What is not over is not counted, and stays.
    CATCH_CHECK(ids(history) == "edca");
    // Submitted first, but over last: whoever waited for it finds it.
    auto last = run_of("a", 1);
    last.ended = unix_time{1000};
    value_of(put(history, last));
    CATCH_CHECK(ids(history) == "eda");
  }
  auto history = value_of(open_history(file, 2));
  CATCH_CHECK(ids(history) == "ea");
}

CATCH_TEST_CASE("feeds, which have no definition, push out no other run",
                "[run_history]") {
  temp_folder folder;
  auto history = value_of(open_history(folder / "runs.sqlite", 1000));
  value_of(put(history, run_of("trained", 1), "dataset: cora\n"));
  for (int n = 0; n < 200; ++n)
    value_of(put(history, run_of("f" + std::to_string(1000 + n), n + 2)));
  const auto left = value_of(history.list(500)).runs;
  CATCH_REQUIRE(left.size() == 101);
  CATCH_CHECK(left.front().id == "f1199");
  CATCH_CHECK(left.back().id == "trained");
}

CATCH_TEST_CASE("changes are put together or not at all", "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  {
    auto history = value_of(open_history(file));
    const std::vector<run_history::entry> both{{run_of("a", 1), "x"},
                                               {run_of("b", 2), "y"}};
    value_of(history.put(both));
  }
  auto history = value_of(open_history(file));
  // The second one is longer than a history takes.
  const std::vector<run_history::entry> both{
    {run_of("a", 1, run_state::failed), {}},
    {run_of("c", 3), std::string((std::size_t{64} << 20) + 1, 'x')}};
  CATCH_CHECK(!history.put(both));
  CATCH_CHECK(value_of(history.get("a"))->record.state == run_state::finished);
  value_of(put(history, run_of("a", 1, run_state::failed)));
  CATCH_CHECK(value_of(history.get("a"))->record.state == run_state::failed);
}

CATCH_TEST_CASE("a full disk is an error, and then it goes on",
                "[run_history]") {
  temp_folder folder;
  const auto code = code_of_child([&folder] {
    if (!mount_tiny_disk(folder.path(), std::size_t{512} << 10))
      return 77;
    auto history = value_of(open_history(folder / "runs.sqlite"));
    value_of(put(history, run_of("a", 1, run_state::running)));
    const auto filler = folder / "filler";
    std::ofstream{filler} << std::string(std::size_t{1} << 20, 'x');
    auto failed = ok_or_code(put(history, run_of("a", 1)));
    for (auto i = 0; i < 1000 && !failed; ++i) // What SQLite has left.
      failed = ok_or_code(put(history, run_of("a", 1), std::string(4096, 'd')));
    if (failed != ec::no_space)
      return 1;
    history.touch(); // Needs no space.
    if (!value_of(history.get("a")))
      return 2;
    std::filesystem::remove(filler);
    auto last = run_of("a", 1, run_state::failed);
    last.message = "what became of it";
    value_of(put(history, last));
    return value_of(history.get("a"))->record.message == last.message ? 0 : 3;
  });
  if (code == 77)
    CATCH_WARN("skipped: a tiny disk cannot be mounted here");
  else
    CATCH_CHECK(code == 0);
}

CATCH_TEST_CASE("runs that nobody knows how to go on with have failed",
                "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  // Killed in the middle: nothing is closed.
  CATCH_REQUIRE(code_of_child([&file] {
                  auto history = value_of(open_history(file));
                  value_of(put(history, run_of("a", 1, run_state::finished)));
                  value_of(put(history, run_of("b", 2, run_state::cancelled)));
                  value_of(put(history, run_of("c", 3, run_state::running)));
                  value_of(put(history, run_of("d", 4, run_state::queued)));
                  ::kill(::getpid(), SIGKILL);
                  return 0;
                })
                == -SIGKILL);
  auto history = value_of(open_history(file));
  CATCH_CHECK(history.interrupted() == std::vector<std::string>{"c", "d"});
  const auto runs = value_of(history.list(10)).runs;
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

CATCH_TEST_CASE("a run has ended when its coordinator was last known to live",
                "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  auto begun = run_of("a", 1'700'000'000'000, run_state::running);
  begun.started = unix_time{1'700'000'001'000};
  const auto late = run_of("b", 1'700'000'009'000, run_state::queued);
  // Years ago, by the file's time: `touch` sets it to now, which is too late
  // for a test that knows what comes out.
  const auto change_at = [&file](std::int64_t seconds) {
    const timespec times[2] = {{seconds, 500'000'000}, {seconds, 500'000'000}};
    CATCH_REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
  };
  const auto ends = [&](std::int64_t changed) {
    {
      auto history = value_of(open_history(file));
      value_of(put(history, begun));
      value_of(put(history, late));
    }
    change_at(changed);
    auto history = value_of(open_history(file));
    return std::pair{value_of(history.get("a"))->record.ended.count(),
                     value_of(history.get("b"))->record.ended.count()};
  };
  CATCH_CHECK(ends(1'700'000'010)
              == std::pair<std::int64_t, std::int64_t>{1'700'000'010'500,
                                                       1'700'000'010'500});
  // A clock that was wrong: never before the begin, and never after now.
  CATCH_CHECK(ends(1'600'000'000)
              == std::pair<std::int64_t, std::int64_t>{1'700'000'001'000,
                                                       1'700'000'009'000});
  const auto now = std::chrono::duration_cast<unix_time>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
  const auto future = ends(now / 1000 + 100'000);
  CATCH_CHECK(future.first >= now);
  CATCH_CHECK(future.first < now + 90'000'000);
  {
    const auto history = value_of(open_history(file));
    change_at(1'700'000'000);
    history.touch();
  }
  struct stat about {};
  CATCH_REQUIRE(::stat(file.c_str(), &about) == 0);
  CATCH_CHECK(about.st_mtim.tv_sec >= now / 1000);
}

CATCH_TEST_CASE("one coordinator has the history at a time", "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  for (auto again = 0; again < 2; ++again) {
    auto first = value_of(open_history(file));
    value_of(put(first, run_of("a", 1, run_state::running)));
    const auto refused = error_of(open_history(file));
    CATCH_CHECK(refused.code == ec::unavailable);
    CATCH_CHECK(refused.message.find("another coordinator")
                != std::string::npos);
    CATCH_CHECK(value_of(first.get("a"))->record.state == run_state::running);
  }
}

CATCH_TEST_CASE("a history does not lie where a link leads", "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  CATCH_SECTION("to another history") {
    value_of(open_history(folder / "other"));
    std::filesystem::create_symlink(folder / "other", file);
  }
  CATCH_SECTION("to nothing") {
    std::filesystem::create_symlink(folder / "made", file);
  }
  CATCH_CHECK(error_of(open_history(file)).code == ec::invalid_data);
  CATCH_CHECK_FALSE(std::filesystem::exists(folder / "made"));
  CATCH_CHECK(std::filesystem::is_symlink(file));
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
    value_of(open_history(file));
    run_sql(file, "PRAGMA journal_mode = DELETE; PRAGMA user_version = 3");
    code = ec::version_mismatch;
  }
  CATCH_SECTION("a newer version, whose header has a wrong count of pages") {
    value_of(open_history(file));
    run_sql(file, "PRAGMA user_version = 3");
    std::fstream header{file, std::ios::in | std::ios::out | std::ios::binary};
    header.seekp(24);
    header.write("\1\2\3\4\x15\0\0\5", 8); // And of changes.
    code = ec::version_mismatch;
  }
  const auto before = content_of(file);
  const auto got = error_of(open_history(file));
  CATCH_INFO(got.message);
  CATCH_CHECK(got.code == code);
  CATCH_CHECK(got.message.find(file.string()) != std::string::npos);
  CATCH_CHECK(content_of(file) == before);
}

CATCH_TEST_CASE("a page of large runs is a short one", "[run_history]") {
  temp_folder folder;
  auto history = value_of(open_history(folder / "runs.sqlite"));
  for (int i = 0; i < 3; ++i) {
    auto run = run_of("r" + std::to_string(i), i);
    run.summary.assign(run_history::most_page_bytes * 3 / 4, 's');
    value_of(put(history, run));
  }
  const auto page = value_of(history.list(3));
  CATCH_CHECK(page.runs.size() == 2);
  CATCH_CHECK(page.more);
  const auto rest = value_of(history.list(3, page.runs.back().id));
  CATCH_CHECK(rest.runs.size() == 1);
  CATCH_CHECK(!rest.more);
}

CATCH_TEST_CASE("a history that is damaged inside is an error",
                "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  make_history(file, "a");
  run_sql(file, "UPDATE runs SET state = 'paused'");
  auto history = value_of(open_history(file));
  CATCH_CHECK(error_of(history.get("a")).code == ec::invalid_data);
  CATCH_CHECK(error_of(history.list(1)).code == ec::invalid_data);
}

CATCH_TEST_CASE("a place where no history can be is an error",
                "[run_history]") {
  temp_folder folder;
  CATCH_CHECK(error_of(open_history(folder.path())).code == ec::invalid_data);
  auto got = error_of(open_history(folder / "no/such/folder"));
  CATCH_INFO(got.message);
  CATCH_CHECK(got.code == ec::not_found);

  std::filesystem::permissions(folder.path(), std::filesystem::perms{0555});
  // Root may write everywhere.
  const auto code = code_of_child([&folder] {
    if (::geteuid() == 0 && ::setuid(65534) != 0)
      return 77;
    const auto refused = open_history(folder / "runs.sqlite");
    return !refused && refused.error().code == ec::permission ? 0 : 1;
  });
  CATCH_CHECK(code == 0);
}

CATCH_TEST_CASE("a working directory that is gone is an error, no end",
                "[cluster][history]") {
  temp_folder keeps;
  const auto code = code_of_child([&keeps] {
    temp_folder gone;
    if (::chdir(gone.path().c_str()) != 0
        || !std::filesystem::remove_all(gone.path()))
      return 1;
    if (run_history::open("runs.sqlite", 1))
      return 2;
    const auto made =
      run_folder::create(keeps.path(), "run", "", {"data", {"1"}});
    return made || made.error().message.find("data") == std::string::npos ? 3
                                                                          : 0;
  });
  CATCH_CHECK(code == 0);
}
