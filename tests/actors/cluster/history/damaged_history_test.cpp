#include "actors/cluster/history/sqlite.hpp"
#include "tests/actors/cluster/history/histories.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <chrono>
#include <fstream>

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("a damaged history is set aside, and a new one begins",
                "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  {
    auto history = value_of(open_history(file));
    CATCH_CHECK(history.set_aside().empty());
    for (int i = 0; i < 100; ++i)
      value_of(put(history, run_of("r" + std::to_string(i), i),
                   std::string(500, 'd')));
  }
  const auto overwrite = [&file](std::streamoff at, std::size_t size) {
    std::fstream out{file, std::ios::in | std::ios::out | std::ios::binary};
    out.seekp(at);
    out << std::string(size, '\xff');
  };
  CATCH_SECTION("a page of the table") {
    overwrite(4096, 100);
  }
  CATCH_SECTION("the size of pages") {
    overwrite(16, 2);
  }
  CATCH_SECTION("cut short") {
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  }
  CATCH_SECTION("no table") {
    run_sql(file, "DROP TABLE runs");
  }
  CATCH_SECTION("a view in place of the table") {
    run_sql(file, "ALTER TABLE runs RENAME TO r; "
                  "CREATE VIEW runs AS SELECT * FROM r");
  }
  CATCH_SECTION("an index that computes") {
    run_sql(file, "CREATE INDEX i ON runs (name LIKE '%a%a%a%a%a%b')");
  }
  CATCH_SECTION("a partial index") {
    run_sql(file, "CREATE INDEX i ON runs (name) WHERE state = 'failed'");
  }
  CATCH_SECTION("another table") {
    run_sql(file, "CREATE TABLE t (a)");
  }
  CATCH_SECTION("a view beside the table") {
    run_sql(file, "CREATE VIEW v AS SELECT * FROM v");
  }
  CATCH_SECTION("a check that computes") {
    run_sql(file, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
                  "replace(sql, 'name       TEXT NOT NULL', 'name TEXT NOT "
                  "NULL CHECK (name LIKE ''%a%a%a%a%a%b'')')");
  }
  CATCH_SECTION("an index that says to be a trigger") {
    run_sql(file, "CREATE INDEX i ON runs (name LIKE '%a%a%a%a%a%b'); "
                  "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type "
                  "= 'trigger' WHERE name = 'i'");
  }
  CATCH_SECTION("no journal") {
    run_sql(file, "DROP TABLE open_runs");
  }
  CATCH_SECTION("a journal that computes") {
    run_sql(file, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
                  "replace(sql, 'home       TEXT NOT NULL', 'home TEXT NOT "
                  "NULL CHECK (home LIKE ''%a%a%a%a%a%b'')')");
  }
  CATCH_SECTION("a history of the first version with other tables") {
    run_sql(file, "PRAGMA user_version = 1");
  }
  CATCH_SECTION("a version that there never was") {
    run_sql(file, "PRAGMA user_version = 0");
  }
  CATCH_SECTION("one table less") {
    run_sql(file, "DROP INDEX runs_by_time");
  }
  auto history = value_of(open_history(file));
  CATCH_INFO(history.set_aside());
  CATCH_CHECK(has(history.set_aside(), file.string() + ".damaged, and"));
  CATCH_CHECK(std::filesystem::exists(file.string() + ".damaged"));
  CATCH_CHECK(value_of(history.list(10)).runs.empty());
  value_of(put(history, run_of("a", 1)));
  CATCH_CHECK(value_of(history.list(10)).runs.size() == 1);
}

CATCH_TEST_CASE("what would be computed for ever is ended", "[run_history]") {
  SQLite::Database raw{":memory:", SQLITE_OPEN_READWRITE};
  const auto number_of = [&raw](const char* sql) {
    return sqlite::guarded(&raw, "f", [&]() -> result<std::int64_t> {
      return std::int64_t{raw.execAndGet(sql).getInt64()};
    });
  };
  const char* endless = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT "
                        "x + 1 FROM c) SELECT count(*) FROM c";
  {
    const sqlite::time_limit limit{raw.getHandle(),
                                   std::chrono::milliseconds{0}};
    CATCH_CHECK(error_of(number_of(endless)).code == ec::timeout);
  }
  const char* some = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 "
                     "FROM c LIMIT 100000) SELECT count(*) FROM c";
  CATCH_CHECK(value_of(number_of(some)) == 100000);
}

CATCH_TEST_CASE("a second damaged history does not replace the first",
                "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  for (const auto* name : {"runs.sqlite.damaged", "runs.sqlite.damaged-2"}) {
    value_of(open_history(file));
    run_sql(file, "DROP TABLE runs");
    CATCH_CHECK(has(value_of(open_history(file)).set_aside(),
                    (folder / name).string() + ", and"));
  }
}

CATCH_TEST_CASE("what a history says of itself is not carried out",
                "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  make_history(file, "a");
  run_sql(file, "CREATE TRIGGER t AFTER INSERT ON runs "
                "BEGIN DELETE FROM runs WHERE id = 'a'; END");
  auto history = value_of(open_history(file));
  value_of(put(history, run_of("b", 2)));
  CATCH_CHECK(value_of(history.list(10)).runs.size() == 2);
}
