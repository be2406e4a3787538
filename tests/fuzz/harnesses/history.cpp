#include "actors/cluster/history/run_history.hpp"
#include "actors/cluster/history/run_journal.hpp"
#include "actors/cluster/history/stand_ins.hpp"
#include "actors/cluster/history/state_lock.hpp"
#include "messages/base/printable.hpp"
#include "tests/fuzz/registry.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

// The runs of a coordinator: the SQLite file as it lies on disk, and its rows,
// which may have any values of any type; and the lock beside it.

namespace graphmill::fuzz {

namespace {

namespace fs = std::filesystem;

fs::path history_file() {
  return scratch() / "history" / "runs.sqlite";
}

/// Begins with no file and none beside it.
void clear_history() {
  std::error_code ignored;
  fs::remove_all(history_file().parent_path(), ignored);
  fs::create_directory(history_file().parent_path());
}

run_history::entry entry_of(const std::string& id, std::int64_t time,
                            run_state state) {
  run_history::entry out;
  out.record = {id, "cora", state, unix_time{time}, {}, {}, "why", "{}"};
  out.definition = "dataset: d\n";
  return out;
}

/// A sound history, of one page more than it must have.
std::string sound_file() {
  clear_history();
  {
    auto history = run_history::open(history_file(), 100);
    require(history.has_value(), "no history");
    std::vector<run_history::entry> entries{
      entry_of("a", 1, run_state::finished),
      entry_of("b", 2, run_state::failed), entry_of("c", 3, run_state::queued)};
    entries[0].record.summary = std::string(300, 's');
    require(history.value().put(entries).has_value(), "no row of a history");
  }
  return get_file(history_file());
}

/// What a coordinator does with its history. Errors are fine, but for a new
/// history, which is sound.
void use(run_history& history) {
  (void)history.get("a");
  const auto latest = history.list(2);
  if (latest && latest.value().more)
    (void)history.list(2, latest.value().runs.back().id);
  const std::array entries{entry_of("a", 9, run_state::running)};
  const auto put = history.put(entries);
  if (put && !history.set_aside().empty()) {
    const auto got = history.get("a");
    require(got && got.value() && got.value()->record.submitted == unix_time{9},
            "a new history has lost what was put there");
  }
}

void read_history(std::string_view input) {
  clear_history();
  put_file(history_file(), input);
  auto history = run_history::open(history_file(), 2);
  if (history)
    use(history.value());
  else
    require(get_file(history_file()) == input
              || history.error().code != ec::version_mismatch,
            "the history of a newer version was changed");
}

std::vector<std::string> histories() {
  return {sound_file()};
}

// -- rows

using statement_handle = sqlite3_stmt*;

/// Binds a value of any type.
void bind(statement_handle to, int position, cursor& from) {
  const auto kind = from.take<std::uint8_t>();
  const auto text = [&] { return from.take_text(from.take<std::uint8_t>()); };
  switch (kind % 8) {
  case 0:
    sqlite3_bind_null(to, position);
    return;
  case 1:
    sqlite3_bind_int64(to, position, from.take<std::int64_t>());
    return;
  case 2:
    sqlite3_bind_double(to, position,
                        static_cast<double>(from.take<std::int64_t>()) * 1e100);
    return;
  case 3: {
    const auto bytes = text();
    sqlite3_bind_blob(to, position, bytes.data(),
                      static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
    return;
  }
  case 4: { // States, and what only looks like one.
    constexpr std::array names{"queued", "running", "finished", "Failed"};
    sqlite3_bind_text(to, position, names[kind / 8 % names.size()], -1,
                      SQLITE_STATIC);
    return;
  }
  default: {
    const auto bytes = text();
    sqlite3_bind_text(to, position, bytes.data(),
                      static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
  }
  }
}

/// Writes a history with rows of an input's bytes, up to five.
void write_history(std::string_view input,
                   void (*insert)(sqlite3*, int row, cursor&)) {
  static const auto sound = sound_file();
  clear_history();
  put_file(history_file(), sound);
  sqlite3* database = nullptr;
  require(sqlite3_open(history_file().c_str(), &database) == SQLITE_OK,
          "the history does not open");
  sqlite3_exec(database, "PRAGMA synchronous = OFF; BEGIN", nullptr, nullptr,
               nullptr);
  cursor from{input};
  for (int row = 0; row < 5 && !from.empty(); ++row)
    insert(database, row, from);
  sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(database);
}

void insert_run(sqlite3* database, int /*row*/, cursor& from) {
  statement_handle insert = nullptr;
  sqlite3_prepare_v2(
    database, "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    -1, &insert, nullptr);
  for (int column = 1; column <= 9; ++column)
    bind(insert, column, from);
  (void)sqlite3_step(insert); // Not null is refused, and so be it.
  sqlite3_finalize(insert);
}

void read_history_rows(std::string_view input) {
  write_history(input, insert_run);
  auto history = run_history::open(history_file(), 2);
  if (history)
    use(history.value());
}

/// Bytes that `bind` takes for a text, and for a number.
std::string text_cell(std::string_view content) {
  return std::string{'\5', static_cast<char>(content.size())}
         + std::string{content};
}

std::string number_cell(std::uint8_t value) {
  std::string out{'\1'};
  out.push_back(static_cast<char>(value));
  return out + std::string(7, '\0');
}

std::vector<std::string> row_seeds() {
  const auto row = text_cell("a") + text_cell("cora") + text_cell("finished")
                   + number_cell(1) + number_cell(2) + number_cell(3)
                   + text_cell("why") + text_cell("{}")
                   + text_cell("dataset: d");
  const auto odd = text_cell("z") + std::string{'\3', '\1', '\0'}
                   + text_cell("on") + text_cell("x") + std::string{'\2'}
                   + std::string(8, '\x7f') + number_cell(3) + text_cell("")
                   + text_cell("") + text_cell("");
  return {row, row + odd};
}

// -- what it takes to go on with runs

/// A row of each table, of the same id, which mostly is a sound one.
void insert_open_run(sqlite3* database, int number, cursor& from) {
  const auto id = from.take<std::uint8_t>() % 4 == 3
                    ? std::string{from.take_text(from.take<std::uint8_t>())}
                    : "r" + std::to_string(number);
  const auto insert = [&](const char* sql, int columns) {
    statement_handle row = nullptr;
    sqlite3_prepare_v2(database, sql, -1, &row, nullptr);
    sqlite3_bind_text(row, 1, id.data(), static_cast<int>(id.size()),
                      SQLITE_TRANSIENT);
    for (int column = 2; column <= columns; ++column)
      bind(row, column, from);
    (void)sqlite3_step(row); // Not null is refused, and so be it.
    sqlite3_finalize(row);
  };
  insert(
    "INSERT OR REPLACE INTO runs VALUES (?1, ?2, ?3, 1, ?4, 0, ?5, '', ?6)", 6);
  insert("INSERT OR REPLACE INTO open_runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
         7);
}

void check_open_run(const open_run& run) {
  const auto& standing = run.standing;
  require(run_journal::is_plain_name(run.record.id),
          "a run whose id is a path");
  require(run.record.state == run_state::queued
            || run.record.state == run_state::running,
          "a run that is over and goes on");
  require(!run.definition.empty()
            && run.definition.size() <= run_journal::longest_definition,
          "a run without a definition, or with too long a one");
  require(standing.attempt >= 1 && standing.attempt + 1 != 0,
          "a run without a next attempt");
  require(standing.daemons.size() <= 1024, "a run on too many daemons");
  for (const auto& name : standing.daemons)
    require(name.size() <= 256, "a daemon with too long a name");
}

std::vector<open_run> open_runs_of(run_history& history) {
  auto out = history.take_open_runs();
  for (const auto& run : out)
    check_open_run(run);
  // Places that are no numbers have an order of their own the first time.
  std::ranges::sort(out, {}, [](const auto& run) { return run.record.id; });
  return out;
}

void read_open_runs(std::string_view input) {
  write_history(input, insert_open_run);
  std::vector<open_run> first;
  {
    auto history = run_history::open(history_file(), 100);
    if (!history)
      return;
    first = open_runs_of(history.value());
  }
  auto again = run_history::open(history_file(), 100);
  require(again.has_value(), "a history that was opened does not open");
  const auto second = open_runs_of(again.value());
  require(first.size() == second.size(), "a run was lost, or came by itself");
  for (std::size_t i = 0; i < first.size(); ++i)
    require(first[i].record.id == second[i].record.id
              && first[i].definition == second[i].definition
              && first[i].standing == second[i].standing,
            "a run that was left alone is another one");
}

std::vector<std::string> open_run_seeds() {
  const auto row = [](std::string_view state, std::uint8_t attempt) {
    return std::string(1, '\0') + text_cell("cora") + text_cell(state)
           + number_cell(2) + text_cell("why") + text_cell("dataset: d")
           + number_cell(3) + number_cell(attempt) + text_cell("10.0.0.1")
           + text_cell("r9") + text_cell("e1-s2")
           + text_cell(R"(["a", "it's \"b\""])");
  };
  return {row("queued", 1), row("running", 4) + row("queued", 1)};
}

// -- which cluster it is of

void insert_office(sqlite3* database, int row, cursor& from) {
  if (row == 0)
    sqlite3_exec(database, "DELETE FROM office", nullptr, nullptr, nullptr);
  statement_handle insert = nullptr;
  sqlite3_prepare_v2(database, "INSERT OR REPLACE INTO office VALUES (?, ?)",
                     -1, &insert, nullptr);
  bind(insert, 1, from);
  bind(insert, 2, from);
  (void)sqlite3_step(insert); // Not null is refused, and so be it.
  sqlite3_finalize(insert);
}

void read_offices(std::string_view input) {
  write_history(input, insert_office);
  std::string cluster;
  std::uint64_t generation = 0;
  {
    const auto history = run_history::open(history_file(), 2);
    if (!history)
      return;
    cluster = history.value().cluster();
    generation = history.value().generation();
  }
  require(cluster.size() == 32 && generation >= 1,
          "a coordinator of no cluster, or of no generation");
  const auto again = run_history::open(history_file(), 2);
  require(again && again.value().cluster() == cluster
            && again.value().generation() >= generation,
          "the next coordinator is of another cluster, or an older one");
}

std::vector<std::string> office_seeds() {
  const auto row =
    text_cell("0123456789abcdef0123456789abcdef") + number_cell(3);
  return {row, row + text_cell("x") + text_cell("many")};
}

// -- the lock beside it, and who waits for it

void read_lock_note(std::string_view input) {
  const auto folder = scratch() / "lock";
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  fs::create_directory(folder, ignored);
  fs::permissions(folder, fs::perms::owner_all, ignored);
  put_file(folder / state_lock::file_name, input);
  const auto said = state_lock::holder(folder);
  require(said == printable(said), "a holder that commands a terminal");
  require(said.size() <= 2000, "a holder that fills the log");
  const auto lock = state_lock::try_take(folder);
  require(lock && lock.value(), "a lock that nobody has cannot be taken");
  require(lock.value()->check().has_value(), "a lock is lost at once");
  const auto now = state_lock::holder(folder);
  require(
    now.starts_with("process " + std::to_string(::getpid()) + " on host "),
    "a lock whose holder is another one");
}

std::vector<std::string> lock_notes() {
  return {R"({"process": 12, "host": "a", "token": "0123456789abcdef"})",
          R"({"process": -1, "host": "a\nb\u001b[2J"})", "{"};
}

void read_stand_in(std::string_view input) {
  const auto folder = scratch() / "waiting";
  const auto sign = folder / stand_in_sign::folder_name / "a";
  std::error_code ignored;
  fs::create_directories(sign.parent_path(), ignored);
  put_file(sign, input);
  {
    const auto held = open_own_file(sign, O_RDWR);
    require(held && ::flock(held.value().get(), LOCK_EX | LOCK_NB) == 0,
            "a sign cannot be held");
    const auto names = stand_ins_at(folder);
    require(names.size() <= 1, "one stands in by several names");
    for (const auto& name : names)
      require(name == printable(name) && name.size() <= 1000,
              "a name that commands a terminal, or fills it");
  }
  require(stand_ins_at(folder).empty() && !fs::exists(sign, ignored),
          "who has ended stands in");
}

std::vector<std::string> stand_in_names() {
  return {"d1", "d\x1b[2J\nforged", std::string(200, 'n')};
}

} // namespace

const harness history_harness{"history", "the file of a coordinator's runs",
                              read_history, histories, 100};
const harness history_rows_harness{"history_rows",
                                   "rows of a coordinator's runs",
                                   read_history_rows, row_seeds, 100};
const harness open_runs_harness{
  "open_runs", "rows of runs that the next coordinator goes on with",
  read_open_runs, open_run_seeds, 100};
const harness office_harness{"office", "of which cluster a history is",
                             read_offices, office_seeds, 100};
const harness stand_ins_harness{"stand_ins", "names of those who stand by",
                                read_stand_in, stand_in_names, 1000};
const harness lock_note_harness{"lock_note",
                                "what a coordinator's lock says of its holder",
                                read_lock_note, lock_notes, 1000};

} // namespace graphmill::fuzz
