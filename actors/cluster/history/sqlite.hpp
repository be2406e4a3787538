#pragma once

#include "messages/base/error.hpp"

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
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
