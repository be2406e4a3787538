#include "actors/cluster/history/sqlite.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
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

error failure(sqlite3* database, const std::filesystem::path& file,
              std::string_view doing) {
  const auto reason = sqlite3_system_errno(database);
  if ((sqlite3_extended_errcode(database) & 0xff) == SQLITE_CANTOPEN
      && reason != 0)
    return fail_errno(reason, "cannot {} {}", doing, file.string());
  return fail(code_of(sqlite3_extended_errcode(database)), "cannot {} {}: {}",
              doing, file.string(), sqlite3_errmsg(database));
}

result<void> execute(sqlite3* database, const char* sql,
                     const std::filesystem::path& file) {
  if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure(database, file, "use the run history");
  return ok();
}

result<void> distrust(sqlite3* database, const std::filesystem::path& file) {
  for (const auto& [option, value] : distrustful)
    if (sqlite3_db_config(database, option, value, static_cast<int*>(nullptr))
        != SQLITE_OK)
      return failure(database, file, "open the run history");
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, longest_value);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, longest_statement);
  return execute(database, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0",
                 file);
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

result<void> check_pages(sqlite3* database, const std::filesystem::path& file) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(file, unknown);
  if (!unknown && size > largest_checked)
    return ok();
  GRAPHMILL_TRY(auto query,
                statement::prepare(database, "PRAGMA quick_check(1)", file));
  GRAPHMILL_TRY(const auto found, query.step());
  auto said = found ? query.text(0) : std::string{"no answer"};
  std::ranges::replace(said, '\n', ' ');
  if (said != "ok")
    return fail(ec::invalid_data, "{} is damaged: {}", file.string(), said);
  return ok();
}

result<void> check_schema(sqlite3* database,
                          std::initializer_list<std::string_view> statements,
                          const std::filesystem::path& file) {
  GRAPHMILL_TRY(
    auto rows,
    statement::prepare(database, "SELECT sql FROM sqlite_schema", file));
  std::size_t ours = 0;
  for (;;) {
    GRAPHMILL_TRY(const auto found, rows.step());
    if (!found)
      break;
    const auto sql = rows.text(0);
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

result<std::int64_t> query_number(sqlite3* database, const char* sql,
                                  const std::filesystem::path& file) {
  GRAPHMILL_TRY(auto query, statement::prepare(database, sql, file));
  GRAPHMILL_TRY(const auto found, query.step());
  return found ? query.number(0) : 0;
}

result<statement> statement::prepare(sqlite3* database, const char* sql,
                                     const std::filesystem::path& file) {
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &handle, nullptr) != SQLITE_OK)
    return failure(database, file, "use the run history");
  return statement{database, handle, file};
}

statement& statement::bind(std::string_view text) {
  const auto done =
    sqlite3_bind_text64(handle_.get(), ++bound_, text.data(), text.size(),
                        SQLITE_TRANSIENT, SQLITE_UTF8);
  if (bind_result_ == SQLITE_OK)
    bind_result_ = done;
  return *this;
}

statement& statement::bind(std::int64_t number) {
  const auto done = sqlite3_bind_int64(handle_.get(), ++bound_, number);
  if (bind_result_ == SQLITE_OK)
    bind_result_ = done;
  return *this;
}

result<bool> statement::step() {
  if (bind_result_ != SQLITE_OK)
    return failure(database_, *file_, "write to the run history");
  switch (sqlite3_step(handle_.get())) {
  case SQLITE_ROW:
    return true;
  case SQLITE_DONE:
    return false;
  default:
    return failure(database_, *file_, "use the run history");
  }
}

std::string statement::text(int column) const {
  const auto* bytes = sqlite3_column_text(handle_.get(), column);
  const auto size = sqlite3_column_bytes(handle_.get(), column);
  if (bytes == nullptr || size <= 0)
    return {};
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

std::int64_t statement::number(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

} // namespace graphmill::sqlite
