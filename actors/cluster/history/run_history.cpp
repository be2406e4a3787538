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

namespace {

/// For opening, and for one question: as long as a very slow disk may take.
constexpr std::chrono::minutes longest_opening{5};
constexpr std::chrono::minutes longest_question{1};

constexpr std::uint32_t kept_feeds = 100;

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

result<run_record> read_record(const SQLite::Statement& row,
                               const fs::path& file) {
  const auto text = [&row](int at) { return row.getColumn(at).getString(); };
  const auto time = [&row](int at) {
    return unix_time{row.getColumn(at).getInt64()};
  };
  run_record out;
  out.id = text(0);
  out.name = text(1);
  const auto state = state_named(text(2));
  if (!state)
    return fail(ec::invalid_data,
                "{} is damaged: run {} is in the state \"{}\"", file.string(),
                out.id, text(2));
  out.state = *state;
  out.submitted = time(3);
  out.started = time(4);
  out.ended = time(5);
  out.message = text(6);
  out.summary = text(7);
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
std::vector<std::string> ids_of_open_runs(SQLite::Database& database) {
  SQLite::Statement query{database,
                          "SELECT id FROM runs WHERE state IN ('queued', "
                          "'running') ORDER BY id LIMIT 1000"};
  std::vector<std::string> out;
  while (query.executeStep())
    out.push_back(query.getColumn(0).getString());
  return out;
}

/// Runs of which nobody knows how to go on with them have failed, when their
/// leader died.
void close_open_runs(SQLite::Database& database, unix_time died) {
  SQLite::Statement update{
    database, "UPDATE runs SET state = 'failed', "
              "ended = max(?1, submitted, started), "
              "message = 'the coordinator ended while it was ' || "
              "CASE state WHEN 'queued' THEN 'queued' ELSE 'on' END "
              "WHERE state IN ('queued', 'running') "
              "AND id NOT IN (SELECT id FROM open_runs)"};
  update.bind(1, std::int64_t{died.count()});
  update.exec();
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

/// The lock is held from the first access to the end: nobody else would know
/// which runs are on.
result<void> lock_database(SQLite::Database& database, const fs::path& file) {
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  try {
    database.exec("BEGIN EXCLUSIVE; COMMIT");
  } catch (const SQLite::Exception& thrown) {
    auto reason = sqlite::failure(thrown, &database, file);
    if (reason.code != ec::unavailable)
      return reason;
    return fail(ec::unavailable,
                "{} is in use by another coordinator: give this one another "
                "folder with --runs",
                file.string());
  }
  return ok();
}

} // namespace

void run_history::closer::operator()(SQLite::Database* database) const {
  delete database;
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
    next.value().set_aside_ =
      fmt::format("{}; it is now at {}, and a new history of runs starts: the "
                  "folders of runs are unchanged",
                  out.error().message, aside.string());
  return next;
}

result<run_history> run_history::open_as_it_is(const fs::path& file,
                                               std::uint32_t keep, bool take_up,
                                               unix_time died) {
  GRAPHMILL_TRY(auto database, connect(file));
  run_history out{std::move(database), file, keep};
  GRAPHMILL_TRYV(out.begin(take_up, died));
  return out;
}

result<void> run_history::begin(bool take_up, unix_time died) {
  auto& raw = *database_;
  return sqlite::guarded(&raw, file_, [&]() -> result<void> {
    const sqlite::time_limit limit{raw.getHandle(), longest_opening};
    sqlite::distrust(raw);
    GRAPHMILL_TRYV(lock_database(raw, file_));
    GRAPHMILL_TRYV(history_schema::prepare(raw, file_));
    GRAPHMILL_TRYV(sqlite::check_pages(raw, file_));
    raw.exec("PRAGMA journal_mode = WAL");
    raw.exec("PRAGMA synchronous = FULL");
    return together([&] { return take_over(take_up, died); });
  });
}

result<run_history::handle> run_history::connect(const fs::path& file) {
  return sqlite::guarded(nullptr, file, [&file]() -> result<handle> {
    return handle{new SQLite::Database{
      file.c_str(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                      | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE}};
  });
}

/// What the last coordinator has left is this one's.
result<void> run_history::take_over(bool take_up, unix_time died) {
  auto& raw = *database_;
  interrupted_ = ids_of_open_runs(raw);
  if (take_up)
    open_runs_ = run_journal::read(raw);
  run_journal::keep_only(raw, open_runs_);
  close_open_runs(raw, died);
  GRAPHMILL_TRY(office_, run_journal::take_office(raw, file_));
  drop_old();
  return ok();
}

result<void> run_history::put(std::span<const entry> changes) {
  return together([&]() -> result<void> {
    for (const auto& change : changes)
      put_one(change);
    drop_old();
    return ok();
  });
}

/// Does something within a transaction.
result<void>
run_history::together(const std::function<result<void>()>& changes) {
  GRAPHMILL_TRYV(room_for(file_));
  return sqlite::guarded(database_.get(), file_, [&]() -> result<void> {
    SQLite::Transaction all{*database_, SQLite::TransactionBehavior::IMMEDIATE};
    GRAPHMILL_TRYV(changes());
    all.commit();
    return ok();
  });
}

void run_history::put_one(const entry& row) {
  const auto& run = row.record;
  SQLite::Statement put{
    *database_,
    "INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) "
    "ON CONFLICT (id) DO UPDATE SET name = ?2, state = ?3, "
    "submitted = ?4, started = ?5, ended = ?6, message = ?7, summary = ?8, "
    "definition = CASE ?9 WHEN '' THEN definition ELSE ?9 END"};
  SQLite::bind(
    put, run.id, run.name, std::string{to_string(run.state)},
    std::int64_t{run.submitted.count()}, std::int64_t{run.started.count()},
    std::int64_t{run.ended.count()}, run.message, run.summary, row.definition);
  put.exec();
  if (is_over(run.state))
    run_journal::remove(*database_, run.id);
  else if (row.standing)
    run_journal::put(*database_, run.id, *row.standing);
}

/// Forgets the runs that are over and too many: those that ended first. A run
/// that has just ended stays for whoever waited for it.
/// Feeds, which have no definition, push out none that train.
void run_history::drop_old() {
  for (const auto& [those, keep] :
       {std::pair{"<> ''", keep_},
        std::pair{"= ''", std::min(keep_, kept_feeds)}}) {
    SQLite::Statement drop{
      *database_,
      fmt::format("DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE "
                  "state NOT IN ('queued', 'running') AND definition {} "
                  "ORDER BY ended DESC, id DESC LIMIT -1 OFFSET ?1)",
                  those)};
    drop.bind(1, std::int64_t{keep});
    drop.exec();
  }
}

void run_history::touch() const {
  // A time that cannot be set costs the records of a crash their precision.
  (void)::utimensat(AT_FDCWD, file_.c_str(), nullptr, 0);
}

result<std::optional<run_history::entry>>
run_history::get(const std::string& id) {
  using found = std::optional<entry>;
  return sqlite::guarded(database_.get(), file_, [&]() -> result<found> {
    const sqlite::time_limit limit{database_->getHandle(), longest_question};
    SQLite::Statement query{
      *database_,
      fmt::format("SELECT {}, definition FROM runs WHERE id = ?1", columns)};
    query.bind(1, id);
    if (!query.executeStep())
      return found{};
    entry out;
    GRAPHMILL_TRY(out.record, read_record(query, file_));
    out.definition = query.getColumn(8).getString();
    return found{std::move(out)};
  });
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
  return sqlite::guarded(database_.get(), file_, [&]() -> result<page> {
    const sqlite::time_limit bound{database_->getHandle(), longest_question};
    SQLite::Statement query{
      *database_,
      fmt::format("SELECT {} FROM runs WHERE (submitted, id) < (?1, ?2) "
                  "ORDER BY submitted DESC, id DESC LIMIT ?3",
                  columns)};
    SQLite::bind(query, submitted, before, std::int64_t{limit} + 1);
    std::uint64_t bytes = 0;
    page out;
    while (query.executeStep()) {
      out.more = out.runs.size() == limit || bytes > most_page_bytes;
      if (out.more)
        break;
      GRAPHMILL_TRY(auto record, read_record(query, file_));
      bytes += record.message.size() + record.summary.size();
      out.runs.push_back(std::move(record));
    }
    return out;
  });
}

} // namespace graphmill
