#pragma once

#include "messages/base/error.hpp"

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace graphmill::sqlite {

/// The failure that a connection had last.
error failure(sqlite3* database, const std::filesystem::path& file,
              std::string_view doing);

/// Runs statements that give no rows.
result<void> execute(sqlite3* database, const char* sql,
                     const std::filesystem::path& file);

/// Makes a connection trust nothing that the file says of itself: no triggers,
/// no views, no functions in its schema that could do more than compute, and
/// sizes within a page are checked before they are used.
result<void> distrust(sqlite3* database, const std::filesystem::path& file);

/// Refuses a file in which anything but these statements has made a table or an
/// index: a check or an index of others could compute for ever. Triggers may be
/// there, for they are never carried out. Fails with `invalid_data`.
result<void> check_schema(sqlite3* database,
                          std::initializer_list<std::string_view> statements,
                          const std::filesystem::path& file);

/// For as long as this lives, a connection computes no longer than it may:
/// then its statements fail with `timeout`. A damaged file that was too large
/// to be checked may lead in circles. One at a time for each connection.
class time_limit {
public:
  time_limit(sqlite3* database, std::chrono::milliseconds longest);
  ~time_limit();
  time_limit(const time_limit&) = delete;
  time_limit& operator=(const time_limit&) = delete;

private:
  static int is_over(void* self);

  sqlite3* database_;
  std::chrono::steady_clock::time_point end_;
};

/// Whether the pages of a file hang together, by SQLite's `quick_check`. Takes
/// about a second per GB; a larger file is left to the checks of single reads.
/// Fails with `invalid_data`.
result<void> check_pages(sqlite3* database, const std::filesystem::path& file);

/// A number that a PRAGMA or a query of one value gives.
result<std::int64_t> query_number(sqlite3* database, const char* sql,
                                  const std::filesystem::path& file);

/// A prepared statement. Values are bound in order, columns read by position.
class statement {
public:
  static result<statement> prepare(sqlite3* database, const char* sql,
                                   const std::filesystem::path& file);

  statement& bind(std::string_view text);
  statement& bind(std::int64_t number);

  /// @returns whether there is a row; false at the end.
  result<bool> step();

  std::string text(int column) const;
  std::int64_t number(int column) const;

private:
  struct finalizer {
    void operator()(sqlite3_stmt* statement) const {
      sqlite3_finalize(statement);
    }
  };

  statement(sqlite3* database, sqlite3_stmt* handle,
            const std::filesystem::path& file)
    : database_(database), handle_(handle), file_(&file) {}

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, finalizer> handle_;
  const std::filesystem::path* file_;
  int bound_ = 0;
  int bind_result_ = SQLITE_OK; ///< The first failure.
};

} // namespace graphmill::sqlite
