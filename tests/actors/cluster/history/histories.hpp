#pragma once

#include "actors/cluster/history/run_history.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace graphmill::test {

inline run_record run_of(const std::string& id, std::int64_t submitted,
                         run_state state = run_state::finished) {
  run_record out;
  out.id = id;
  out.name = "cora";
  out.state = state;
  out.submitted = unix_time{submitted};
  return out;
}

inline result<run_history> open_history(const std::filesystem::path& file,
                                        std::uint32_t keep = 100) {
  return run_history::open(file, keep);
}

inline result<void> put(run_history& history, const run_record& run,
                        const std::string& definition = {}) {
  const run_history::entry change{run, definition};
  return history.put({&change, 1});
}

/// Makes a history of one run.
inline void make_history(const std::filesystem::path& file,
                         const std::string& id) {
  auto history = value_of(open_history(file));
  value_of(put(history, run_of(id, 1)));
}

inline void run_sql(const std::filesystem::path& file, const char* sql) {
  sqlite3* database = nullptr;
  CATCH_REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  CATCH_CHECK(sqlite3_exec(database, sql, nullptr, nullptr, nullptr)
              == SQLITE_OK);
  sqlite3_close(database);
}

} // namespace graphmill::test
