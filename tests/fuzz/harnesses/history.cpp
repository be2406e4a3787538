#include "actors/cluster/history/run_history.hpp"
#include "tests/fuzz/registry.hpp"

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

// The runs of a coordinator: the SQLite file as it lies on disk, and its rows,
// which may have any values of any type.

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

void read_history_rows(std::string_view input) {
  static const auto sound = sound_file();
  clear_history();
  put_file(history_file(), sound);
  sqlite3* database = nullptr;
  require(sqlite3_open(history_file().c_str(), &database) == SQLITE_OK,
          "the history does not open");
  sqlite3_exec(database, "PRAGMA synchronous = OFF; BEGIN", nullptr, nullptr,
               nullptr);
  cursor from{input};
  for (int row = 0; row < 5 && !from.empty(); ++row) {
    statement_handle insert = nullptr;
    sqlite3_prepare_v2(
      database,
      "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", -1,
      &insert, nullptr);
    for (int column = 1; column <= 9; ++column)
      bind(insert, column, from);
    (void)sqlite3_step(insert); // Not null is refused, and so be it.
    sqlite3_finalize(insert);
  }
  sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  auto history = run_history::open(history_file(), 2);
  if (history)
    use(history.value());
}

std::vector<std::string> row_seeds() {
  const auto text = [](std::string_view content) {
    return std::string{'\5', static_cast<char>(content.size())}
           + std::string{content};
  };
  const auto number = [](std::uint8_t value) {
    std::string out{'\1'};
    out.push_back(static_cast<char>(value));
    return out + std::string(7, '\0');
  };
  const auto row = text("a") + text("cora") + text("finished") + number(1)
                   + number(2) + number(3) + text("why") + text("{}")
                   + text("dataset: d");
  const auto odd = text("z") + std::string{'\3', '\1', '\0'} + text("on")
                   + text("x") + std::string{'\2'} + std::string(8, '\x7f')
                   + number(3) + text("") + text("") + text("");
  return {row, row + odd};
}

} // namespace

const harness history_harness{"history", "the file of a coordinator's runs",
                              read_history, histories, 100};
const harness history_rows_harness{"history_rows",
                                   "rows of a coordinator's runs",
                                   read_history_rows, row_seeds, 100};

} // namespace graphmill::fuzz
