#include "actors/cluster/history/run_journal.hpp"

#include "actors/cluster/history/sqlite.hpp"
#include "messages/wire/wire.hpp"
#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <optional>
#include <utility>

namespace graphmill::run_journal {

namespace fs = std::filesystem;
using sqlite::statement;

namespace {

/// Names of daemons: as many as a cluster has, each as long as a greeting lets
/// it be; in JSON a character may take six.
constexpr std::size_t most_names = 1024;
constexpr std::size_t longest_name = max_hello_text;
constexpr std::size_t longest_names = most_names * (6 * longest_name + 4);

/// No more than are read: a run may have had trainers on ever new daemons.
std::string text_of(std::vector<std::string> names) {
  if (names.size() > most_names)
    names.resize(most_names);
  return nlohmann::json(names).dump(-1, ' ', false,
                                    nlohmann::json::error_handler_t::replace);
}

/// Nothing if it is no list of names.
std::optional<std::vector<std::string>> names_in(const std::string& text) {
  if (text.size() > longest_names)
    return std::nullopt;
  const auto parsed = parse_json(text, "names of daemons");
  if (!parsed || !parsed.value().is_array()
      || parsed.value().size() > most_names)
    return std::nullopt;
  std::vector<std::string> out;
  for (const auto& name : parsed.value()) {
    if (!name.is_string())
      return std::nullopt;
    out.push_back(name.get<std::string>());
    if (out.back().size() > longest_name)
      return std::nullopt;
  }
  return out;
}

/// A row of the two tables. Its id becomes the name of a folder. Nothing if it
/// makes no sense.
std::optional<open_run> read_row(const statement& row) {
  open_run out;
  auto& record = out.record;
  record.id = row.text(0);
  record.name = row.text(1);
  record.state =
    row.text(2) == "running" ? run_state::running : run_state::queued;
  record.submitted = unix_time{row.number(3)};
  record.started = unix_time{row.number(4)};
  record.message = row.text(5);
  out.definition = row.text(6);
  out.standing.place = row.number(7);
  const auto attempt = row.number(8);
  out.standing.home = row.text(9);
  out.standing.from_run = row.text(10);
  out.standing.checkpoint = row.text(11);
  auto names = names_in(row.text(12));
  // There must be places before and behind it.
  constexpr std::int64_t farthest =
    std::numeric_limits<std::int64_t>::max() / 2;
  // One more attempt must be possible.
  constexpr std::int64_t most_attempts =
    std::numeric_limits<std::uint32_t>::max() - 1;
  if (!is_plain_name(record.id) || !names || out.definition.empty()
      || out.definition.size() > longest_definition || attempt < 1
      || attempt > most_attempts || out.standing.place < -farthest
      || out.standing.place > farthest)
    return std::nullopt;
  out.standing.attempt = static_cast<std::uint32_t>(attempt);
  out.standing.daemons = std::move(*names);
  return out;
}

} // namespace

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.front() != '.'
         && name.find('/') == std::string::npos
         && name.find('\0') == std::string::npos;
}

result<void> put(sqlite3* database, const std::string& id,
                 const run_standing& standing, const fs::path& file) {
  GRAPHMILL_TRY(auto put, statement::prepare(database,
                                             "INSERT OR REPLACE INTO open_runs "
                                             "VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
                                             "?7)",
                                             file));
  put.bind(id).bind(standing.place).bind(std::int64_t{standing.attempt});
  put.bind(standing.home)
    .bind(standing.from_run)
    .bind(standing.checkpoint)
    .bind(text_of(standing.daemons));
  GRAPHMILL_TRYV(put.step());
  return ok();
}

result<void> remove(sqlite3* database, const std::string& id,
                    const fs::path& file) {
  GRAPHMILL_TRY(
    auto remove,
    statement::prepare(database, "DELETE FROM open_runs WHERE id = ?1", file));
  remove.bind(id);
  GRAPHMILL_TRYV(remove.step());
  return ok();
}

result<std::vector<open_run>> read(sqlite3* database, const fs::path& file) {
  GRAPHMILL_TRY(
    auto rows,
    statement::prepare(database,
                       "SELECT id, name, state, submitted, started, message, "
                       "definition, place, attempt, home, from_run, "
                       "checkpoint, daemons FROM runs JOIN open_runs USING "
                       "(id) WHERE state IN ('queued', 'running') "
                       "ORDER BY state = 'running' DESC, place, id LIMIT ?1",
                       file));
  rows.bind(static_cast<std::int64_t>(most_open_runs));
  for (std::vector<open_run> out;;) {
    GRAPHMILL_TRY(const auto found, rows.step());
    if (!found)
      return out;
    if (auto row = read_row(rows))
      out.push_back(std::move(*row));
  }
}

result<void> keep_only(sqlite3* database, const std::vector<open_run>& runs,
                       const fs::path& file) {
  GRAPHMILL_TRYV(sqlite::execute(database, "DELETE FROM open_runs", file));
  for (const auto& run : runs)
    GRAPHMILL_TRYV(put(database, run.record.id, run.standing, file));
  return ok();
}

result<office> take_office(sqlite3* database, const fs::path& file) {
  // A counter that is damaged counts as far as it can.
  GRAPHMILL_TRYV(sqlite::execute(
    database,
    "UPDATE office SET generation = max(0, CAST(generation AS INTEGER)) + 1",
    file));
  GRAPHMILL_TRY(
    auto row,
    statement::prepare(database,
                       "SELECT cluster, generation FROM office LIMIT 1", file));
  GRAPHMILL_TRY(const auto found, row.step());
  office out;
  if (found)
    out = {row.text(0), static_cast<std::uint64_t>(row.number(1))};
  if (out.cluster.size() != 32
      || out.cluster.find_first_not_of("0123456789abcdef") != std::string::npos
      || row.number(1) < 1)
    return fail(ec::invalid_data,
                "{} is damaged: it does not say which cluster it is of",
                file.string());
  return out;
}

} // namespace graphmill::run_journal
