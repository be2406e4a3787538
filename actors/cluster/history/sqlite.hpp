#pragma once

#include "messages/base/error.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>
#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace graphmill::sqlite {

// SQLiteCpp reports failures as exceptions. Functions of this folder that take
// a `SQLite::Database` let them pass, and `guarded` makes errors of them.

/// The error that SQLiteCpp has thrown. @param database Null if none is open.
error failure(const SQLite::Exception& thrown, const SQLite::Database* database,
              const std::filesystem::path& file);

/// Calls `use`. What SQLiteCpp throws becomes an error.
template <class F>
auto guarded(const SQLite::Database* database,
             const std::filesystem::path& file, const F& use)
  -> decltype(use()) {
  try {
    return use();
  } catch (const SQLite::Exception& thrown) {
    return failure(thrown, database, file);
  }
}

/// Makes a connection trust nothing that the file says of itself: no triggers,
/// no views, no functions in its schema that could do more than compute, and
/// sizes within a page are checked before they are used.
void distrust(SQLite::Database& database);

/// Refuses a file in which anything but these statements has made a table or an
/// index: a check or an index of others could compute for ever. Triggers may be
/// there, for they are never carried out. Fails with `invalid_data`.
result<void> check_schema(SQLite::Database& database,
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
result<void> check_pages(SQLite::Database& database,
                         const std::filesystem::path& file);

} // namespace graphmill::sqlite
