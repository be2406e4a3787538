#include "actors/cluster/history/sqlite.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <system_error>

namespace graphmill::sqlite {

namespace {

ec code_of(int failure) {
  switch (failure & 0xff) {
  case SQLITE_FULL:
    return ec::no_space;
  case SQLITE_NOMEM:
    return ec::out_of_memory;
  case SQLITE_NOTADB:
  case SQLITE_CORRUPT:
  case SQLITE_TOOBIG:
    return ec::invalid_data;
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return ec::unavailable;
  case SQLITE_INTERRUPT:
    return ec::timeout;
  case SQLITE_PERM:
  case SQLITE_READONLY:
  case SQLITE_AUTH:
    return ec::permission;
  default:
    return ec::io;
  }
}

/// A definition is 1 MiB at the most, a summary not much more.
constexpr int longest_value = 64 << 20;

/// Of ours, and of what a file says of its tables.
constexpr int longest_statement = 1 << 20;

/// Steps of SQLite's between two looks at the clock: some milliseconds.
constexpr int steps_between = 100000;

constexpr std::uintmax_t largest_checked = std::uintmax_t{1} << 30;

struct setting {
  int option = 0;
  int value = 0;
};
constexpr std::array<setting, 4> distrustful{{
  {SQLITE_DBCONFIG_DEFENSIVE, 1},
  {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
  {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
  {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
}};

} // namespace

error failure(const SQLite::Exception& thrown, const SQLite::Database* database,
              const std::filesystem::path& file) {
  const auto code = thrown.getErrorCode();
  if (database != nullptr && (code & 0xff) == SQLITE_CANTOPEN)
    if (const auto reason = sqlite3_system_errno(database->getHandle());
        reason != 0)
      return fail_errno(reason, "cannot use the run history {}", file.string());
  return fail(code_of(code), "cannot use the run history {}: {}", file.string(),
              thrown.what());
}

void distrust(SQLite::Database& database) {
  auto* const handle = database.getHandle();
  for (const auto& [option, value] : distrustful)
    if (const auto done =
          sqlite3_db_config(handle, option, value, static_cast<int*>(nullptr));
        done != SQLITE_OK)
      throw SQLite::Exception{handle, done};
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, longest_value);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, longest_statement);
  database.exec("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0");
}

time_limit::time_limit(sqlite3* database, std::chrono::milliseconds longest)
  : database_(database), end_(std::chrono::steady_clock::now() + longest) {
  sqlite3_progress_handler(database_, steps_between, is_over, this);
}

time_limit::~time_limit() {
  sqlite3_progress_handler(database_, 0, nullptr, nullptr);
}

int time_limit::is_over(void* self) {
  return std::chrono::steady_clock::now()
             >= static_cast<const time_limit*>(self)->end_
           ? 1
           : 0;
}

result<void> check_pages(SQLite::Database& database,
                         const std::filesystem::path& file) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(file, unknown);
  if (!unknown && size > largest_checked)
    return ok();
  auto said = database.execAndGet("PRAGMA quick_check(1)").getString();
  std::ranges::replace(said, '\n', ' ');
  if (said != "ok")
    return fail(ec::invalid_data, "{} is damaged: {}", file.string(), said);
  return ok();
}

result<void> check_schema(SQLite::Database& database,
                          std::initializer_list<std::string_view> statements,
                          const std::filesystem::path& file) {
  SQLite::Statement rows{database, "SELECT sql FROM sqlite_schema"};
  std::size_t ours = 0;
  while (rows.executeStep()) {
    const auto sql = rows.getColumn(0).getString();
    if (std::ranges::find(statements, sql) != statements.end())
      ++ours;
    else if (!sql.starts_with("CREATE TRIGGER "))
      return fail(ec::invalid_data, "{} is damaged: it has other tables",
                  file.string());
  }
  if (ours != statements.size())
    return fail(ec::invalid_data, "{} is damaged: it lacks tables",
                file.string());
  return ok();
}

} // namespace graphmill::sqlite
