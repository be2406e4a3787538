#include "actors/cluster/history/history_schema.hpp"

#include "actors/cluster/history/sqlite.hpp"

#include <initializer_list>

namespace graphmill::history_schema {

namespace {

constexpr std::int64_t present_version = 2;

/// As SQLite keeps it in the file, to the letter. An index or a check of others
/// could compute for ever.
constexpr const char* create_runs = R"(CREATE TABLE runs (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    state      TEXT NOT NULL,
    submitted  INTEGER NOT NULL, -- Milliseconds since 1970, 0: not yet.
    started    INTEGER NOT NULL,
    ended      INTEGER NOT NULL,
    message    TEXT NOT NULL,
    summary    TEXT NOT NULL,    -- JSON
    definition TEXT NOT NULL     -- YAML
  ) WITHOUT ROWID)";
constexpr const char* create_index =
  "CREATE INDEX runs_by_time ON runs (submitted, id)";

// Since version 2.
constexpr const char* create_open_runs = R"(CREATE TABLE open_runs (
    id         TEXT PRIMARY KEY, -- Of a run that is queued or on.
    place      INTEGER NOT NULL, -- In the queue: the least comes first.
    attempt    INTEGER NOT NULL, -- From 1.
    home       TEXT NOT NULL,    -- What counts as the host of its user.
    from_run   TEXT NOT NULL,    -- That it goes on with; empty: none.
    checkpoint TEXT NOT NULL,    -- Of that run.
    daemons    TEXT NOT NULL     -- JSON: names of those that it was on.
  ) WITHOUT ROWID)";
constexpr const char* create_office = R"(CREATE TABLE office (
    cluster    TEXT PRIMARY KEY, -- Drawn with the table.
    generation INTEGER NOT NULL  -- How many coordinators have begun here.
  ) WITHOUT ROWID)";
constexpr const char* draw_cluster =
  "INSERT INTO office VALUES (lower(hex(randomblob(16))), 0)";

constexpr const char* mark_as_ours =
  "PRAGMA application_id = 1196257896; PRAGMA user_version = 2";
static_assert(application == 1196257896);

/// All or nothing.
void execute_together(SQLite::Database& database,
                      std::initializer_list<const char*> statements) {
  SQLite::Transaction all{database, SQLite::TransactionBehavior::IMMEDIATE};
  for (const auto* sql : statements)
    database.exec(sql);
  all.commit();
}

} // namespace

result<void> check_version(std::int64_t version,
                           const std::filesystem::path& file) {
  if (version > present_version)
    return fail(ec::version_mismatch,
                "{} was written by a newer version of Graphmill (schema {}, "
                "this one knows {}); use that one, or another folder for runs",
                file.string(), version, present_version);
  if (version < 1)
    return fail(ec::invalid_data,
                "{} is damaged: it says that it has version {} of the schema",
                file.string(), version);
  return ok();
}

result<void> prepare(SQLite::Database& database,
                     const std::filesystem::path& file) {
  const auto number_of = [&database](const char* sql) {
    return database.execAndGet(sql).getInt64();
  };
  const auto mark = number_of("PRAGMA application_id");
  const auto version = number_of("PRAGMA user_version");
  const auto tables = number_of("SELECT count(*) FROM sqlite_schema");
  if (mark == 0 && version == 0 && tables == 0) {
    execute_together(database, {create_runs, create_index, create_open_runs,
                                create_office, draw_cluster, mark_as_ours});
    return ok();
  }
  if (mark != application)
    return fail(ec::invalid_data,
                "{} is a database of another program; move it away or choose "
                "another folder for runs",
                file.string());
  GRAPHMILL_TRYV(check_version(version, file));
  if (version == 1) {
    GRAPHMILL_TRYV(
      sqlite::check_schema(database, {create_runs, create_index}, file));
    execute_together(
      database, {create_open_runs, create_office, draw_cluster, mark_as_ours});
    return ok();
  }
  return sqlite::check_schema(
    database, {create_runs, create_index, create_open_runs, create_office},
    file);
}

} // namespace graphmill::history_schema
