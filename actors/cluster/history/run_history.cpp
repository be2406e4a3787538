#include "actors/cluster/history/run_history.hpp"

#include "actors/cluster/history/history_schema.hpp"
#include "actors/cluster/history/sqlite.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/full_disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace graphmill {

namespace fs = std::filesystem;
using sqlite::statement;

namespace {

/// For opening, and for one question: as long as a very slow disk may take.
constexpr std::chrono::minutes longest_opening{5};
constexpr std::chrono::minutes longest_question{1};

constexpr const char* columns =
  "id, name, state, submitted, started, ended, message, summary";

std::optional<run_state> state_named(const std::string& name) {
  for (const auto state :
       {run_state::queued, run_state::running, run_state::finished,
        run_state::failed, run_state::cancelled})
    if (to_string(state) == name)
      return state;
  return {};
}

result<run_record> read_record(const statement& row, const fs::path& file) {
  run_record out;
  out.id = row.text(0);
  out.name = row.text(1);
  const auto state = state_named(row.text(2));
  if (!state)
    return fail(ec::invalid_data,
                "{} is damaged: run {} is in the state \"{}\"", file.string(),
                out.id, row.text(2));
  out.state = *state;
  out.submitted = unix_time{row.number(3)};
  out.started = unix_time{row.number(4)};
  out.ended = unix_time{row.number(5)};
  out.message = row.text(6);
  out.summary = row.text(7);
  return out;
}

/// When the coordinator that had a history last is known to have lived: see
/// `touch`. Never later than now.
unix_time last_life(const fs::path& file) {
  const auto now = now_unix();
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0)
    return now;
  const auto changed = std::chrono::seconds{about.st_mtim.tv_sec}
                       + std::chrono::duration_cast<unix_time>(
                         std::chrono::nanoseconds{about.st_mtim.tv_nsec});
  return std::min<unix_time>(now, changed);
}

/// Their ids. A queue has no more.
result<std::vector<std::string>> ids_of_open_runs(sqlite3* database,
                                                  const fs::path& file) {
  GRAPHMILL_TRY(auto query, statement::prepare(
                              database,
                              "SELECT id FROM runs WHERE state IN ('queued', "
                              "'running') ORDER BY id LIMIT 1000",
                              file));
  for (std::vector<std::string> out;;) {
    GRAPHMILL_TRY(const auto found, query.step());
    if (!found)
      return out;
    out.push_back(query.text(0));
  }
}

/// Runs of which nobody knows how to go on with them have failed, when their
/// leader died.
result<void> close_open_runs(sqlite3* database, const fs::path& file,
                             unix_time died) {
  GRAPHMILL_TRY(
    auto update,
    statement::prepare(database,
                       "UPDATE runs SET state = 'failed', "
                       "ended = max(?1, submitted, started), "
                       "message = 'the coordinator ended while it was ' || "
                       "CASE state WHEN 'queued' THEN 'queued' ELSE 'on' END "
                       "WHERE state IN ('queued', 'running') "
                       "AND id NOT IN (SELECT id FROM open_runs)",
                       file));
  update.bind(died.count());
  GRAPHMILL_TRYV(update.step());
  return ok();
}

constexpr std::string_view magic{"SQLite format 3\0", 16};

/// The version of its schema, as the header of a database says that has our
/// mark, whatever else it has; nothing of other files. Numbers stand there in
/// big-endian order.
std::optional<std::int32_t> version_in_header(const fs::path& file) {
  constexpr std::size_t version_at = 60;
  constexpr std::size_t mark_at = 68;
  std::array<std::byte, mark_at + 4> begin{};
  const auto opened = open_file(file, O_RDONLY);
  if (!opened || !read_some(opened.value().get(), begin, file)
      || std::memcmp(begin.data(), magic.data(), magic.size()) != 0)
    return std::nullopt;
  const auto number_at = [&begin](std::size_t at) {
    std::uint32_t number = 0;
    for (const auto byte : std::span{begin}.subspan(at, 4))
      number = number << 8 | std::to_integer<std::uint32_t>(byte);
    return number;
  };
  if (number_at(mark_at) != history_schema::application)
    return std::nullopt;
  return static_cast<std::int32_t>(number_at(version_at));
}

/// Gives a history another name, with what SQLite keeps beside it: that first,
/// for it must never be taken for a part of the next one.
/// @returns the name.
result<fs::path> put_aside(const fs::path& file) {
  std::error_code failed;
  fs::path aside;
  for (int n = 1; aside.empty(); ++n) {
    auto name = file;
    name += n == 1 ? ".damaged" : fmt::format(".damaged-{}", n);
    if (!fs::exists(fs::symlink_status(name, failed)))
      aside = std::move(name);
  }
  for (const auto* end : {"-wal", "-shm", "-journal", ""}) {
    const auto from = fs::path{file.string() + end};
    if (!fs::exists(from, failed))
      continue;
    fs::rename(from, aside.string() + end, failed);
    if (failed)
      return fail_errno(failed.value(), "cannot set the damaged {} aside",
                        from.string());
  }
  return aside;
}

/// Refuses what SQLite would overwrite, such as very short files, or would not
/// explain.
result<void> check_place(const fs::path& file) {
  std::error_code failed;
  const auto there = fs::symlink_status(file, failed);
  if (!fs::exists(there)) {
    const auto folder =
      file.has_parent_path() ? file.parent_path() : fs::path{"."};
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
      return fail_errno(errno, "cannot create the run history {}",
                        file.string());
    return ok();
  }
  if (!fs::is_regular_file(there))
    return fail(ec::invalid_data, "{} is no file for the run history",
                file.string());
  GRAPHMILL_TRY(const auto opened, open_file(file, O_RDONLY));
  std::array<std::byte, magic.size()> begin;
  GRAPHMILL_TRY(const auto size, read_some(opened.get(), begin, file));
  if (size != 0
      && (size != begin.size()
          || std::memcmp(begin.data(), magic.data(), size) != 0))
    return fail(ec::invalid_data,
                "{} is no database; move it away or choose another folder for "
                "runs",
                file.string());
  return ok();
}

} // namespace

void run_history::closer::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

result<run_history> run_history::open(const fs::path& file, std::uint32_t keep,
                                      bool take_up) {
  GRAPHMILL_TRYV(check_place(file));
  // SQLite mends some headers before it tells the version.
  if (const auto version = version_in_header(file))
    if (auto known = history_schema::check_version(*version, file);
        !known && known.error().code == ec::version_mismatch)
      return known.error();
  const auto died = last_life(file); // Opening may change the file.
  // SQLite gives the files beside it the same owner and rights.
  GRAPHMILL_TRYV(open_file(file, O_RDWR | O_CREAT, file_access::owner));
  auto out = open_as_it_is(file, keep, take_up, died);
  if (out || out.error().code != ec::invalid_data || !version_in_header(file))
    return out;
  GRAPHMILL_TRY(const auto aside, put_aside(file));
  GRAPHMILL_TRYV(open_file(file, O_RDWR | O_CREAT, file_access::owner));
  auto next = open_as_it_is(file, keep, take_up, died);
  if (next)
    next.value().set_aside_ = fmt::format(
      "{}; it lies at {} now, and a new history of runs begins: the folders of "
      "runs are as they were",
      out.error().message, aside.string());
  return next;
}

result<run_history> run_history::open_as_it_is(const fs::path& file,
                                               std::uint32_t keep, bool take_up,
                                               unix_time died) {
  sqlite3* raw = nullptr;
  const auto opened =
    sqlite3_open_v2(file.c_str(), &raw,
                    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                      | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                    nullptr);
  handle database{raw};
  if (raw == nullptr)
    return fail(ec::out_of_memory, "no memory for the run history {}",
                file.string());
  if (opened != SQLITE_OK)
    return sqlite::failure(raw, file, "open the run history");
  const sqlite::time_limit limit{raw, longest_opening};
  GRAPHMILL_TRYV(sqlite::distrust(raw, file));
  // The lock is held from the first access to the end: nobody else would know
  // which runs are on.
  GRAPHMILL_TRYV(sqlite::execute(raw, "PRAGMA locking_mode = EXCLUSIVE", file));
  auto ready = sqlite::execute(raw, "BEGIN EXCLUSIVE; COMMIT", file);
  if (!ready && ready.error().code == ec::unavailable)
    return fail(ec::unavailable,
                "{} is in use: another coordinator has the same folder for "
                "runs; give this one another",
                file.string());
  GRAPHMILL_TRYV(ready);
  GRAPHMILL_TRYV(history_schema::prepare(raw, file));
  GRAPHMILL_TRYV(sqlite::check_pages(raw, file));
  GRAPHMILL_TRYV(sqlite::execute(raw, "PRAGMA journal_mode = WAL", file));
  GRAPHMILL_TRYV(sqlite::execute(raw, "PRAGMA synchronous = FULL", file));
  run_history out{std::move(database), file, keep};
  GRAPHMILL_TRYV(out.together([&] { return out.take_over(take_up, died); }));
  return out;
}

/// What the last coordinator has left is this one's.
result<void> run_history::take_over(bool take_up, unix_time died) {
  auto* const raw = database_.get();
  GRAPHMILL_TRY(interrupted_, ids_of_open_runs(raw, file_));
  if (take_up) {
    GRAPHMILL_TRY(open_runs_, run_journal::read(raw, file_));
  }
  GRAPHMILL_TRYV(run_journal::keep_only(raw, open_runs_, file_));
  GRAPHMILL_TRYV(close_open_runs(raw, file_, died));
  GRAPHMILL_TRY(office_, run_journal::take_office(raw, file_));
  return drop_old();
}

result<void> run_history::put(std::span<const entry> changes) {
  return together([&]() -> result<void> {
    for (const auto& change : changes)
      GRAPHMILL_TRYV(put_one(change));
    return drop_old();
  });
}

/// Does something within a transaction.
result<void>
run_history::together(const std::function<result<void>()>& changes) {
  GRAPHMILL_TRYV(room_for(file_));
  GRAPHMILL_TRYV(sqlite::execute(database_.get(), "BEGIN IMMEDIATE", file_));
  auto done = changes();
  if (done)
    done = sqlite::execute(database_.get(), "COMMIT", file_);
  // A failure may have ended the transaction by itself.
  if (!done && sqlite3_get_autocommit(database_.get()) == 0)
    (void)sqlite::execute(database_.get(), "ROLLBACK", file_);
  return done;
}

result<void> run_history::put_one(const entry& row) {
  const auto& run = row.record;
  GRAPHMILL_TRY(
    auto put,
    statement::prepare(
      database_.get(),
      "INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) "
      "ON CONFLICT (id) DO UPDATE SET name = ?2, state = ?3, "
      "submitted = ?4, started = ?5, ended = ?6, message = ?7, summary = ?8, "
      "definition = CASE ?9 WHEN '' THEN definition ELSE ?9 END",
      file_));
  put.bind(run.id).bind(run.name).bind(to_string(run.state));
  put.bind(run.submitted.count())
    .bind(run.started.count())
    .bind(run.ended.count());
  put.bind(run.message).bind(run.summary).bind(row.definition);
  GRAPHMILL_TRYV(put.step());
  if (is_over(run.state))
    return run_journal::remove(database_.get(), run.id, file_);
  if (row.standing)
    return run_journal::put(database_.get(), run.id, *row.standing, file_);
  return ok();
}

/// Forgets the runs that are over and too many: those that ended first. A run
/// that has just ended stays for whoever waited for it.
result<void> run_history::drop_old() {
  GRAPHMILL_TRY(
    auto drop,
    statement::prepare(database_.get(),
                       "DELETE FROM runs WHERE id IN (SELECT id FROM runs "
                       "WHERE state NOT IN ('queued', 'running') "
                       "ORDER BY ended DESC, id DESC LIMIT -1 OFFSET ?1)",
                       file_));
  drop.bind(std::int64_t{keep_});
  GRAPHMILL_TRYV(drop.step());
  return ok();
}

void run_history::touch() const {
  // A time that cannot be set costs the records of a crash their precision.
  (void)::utimensat(AT_FDCWD, file_.c_str(), nullptr, 0);
}

result<std::optional<run_history::entry>>
run_history::get(const std::string& id) {
  const sqlite::time_limit limit{database_.get(), longest_question};
  const auto sql =
    fmt::format("SELECT {}, definition FROM runs WHERE id = ?1", columns);
  GRAPHMILL_TRY(auto query,
                statement::prepare(database_.get(), sql.c_str(), file_));
  query.bind(id);
  GRAPHMILL_TRY(const auto found, query.step());
  if (!found)
    return std::optional<entry>{};
  entry out;
  GRAPHMILL_TRY(out.record, read_record(query, file_));
  out.definition = query.text(8);
  return std::optional{std::move(out)};
}

result<run_history::page> run_history::list(std::uint32_t limit,
                                            const std::string& before) {
  auto submitted = std::numeric_limits<std::int64_t>::max();
  if (!before.empty()) {
    GRAPHMILL_TRY(const auto found, get(before));
    if (!found)
      return fail(ec::not_found, "there is no run \"{}\" to list others before",
                  before);
    submitted = found->record.submitted.count();
  }
  const auto sql =
    fmt::format("SELECT {} FROM runs WHERE (submitted, id) < (?1, ?2) "
                "ORDER BY submitted DESC, id DESC LIMIT ?3",
                columns);
  GRAPHMILL_TRY(auto query,
                statement::prepare(database_.get(), sql.c_str(), file_));
  query.bind(submitted).bind(before).bind(std::int64_t{limit} + 1);
  const sqlite::time_limit bound{database_.get(), longest_question};
  std::uint64_t bytes = 0;
  page out;
  for (;;) {
    GRAPHMILL_TRY(const auto found, query.step());
    if (!found)
      return out;
    out.more = out.runs.size() == limit || bytes > most_page_bytes;
    if (out.more)
      return out;
    GRAPHMILL_TRY(auto record, read_record(query, file_));
    bytes += record.message.size() + record.summary.size();
    out.runs.push_back(std::move(record));
  }
}

} // namespace graphmill
