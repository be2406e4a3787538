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
std::optional<open_run> read_row(const SQLite::Statement& row) {
  const auto text = [&row](int at) { return row.getColumn(at).getString(); };
  const auto number = [&row](int at) { return row.getColumn(at).getInt64(); };
  open_run out;
  auto& record = out.record;
  record.id = text(0);
  record.name = text(1);
  record.state = text(2) == "running" ? run_state::running : run_state::queued;
  record.submitted = unix_time{number(3)};
  record.started = unix_time{number(4)};
  record.message = text(5);
  out.definition = text(6);
  out.standing.place = number(7);
  const auto attempt = number(8);
  out.standing.home = text(9);
  out.standing.from_run = text(10);
  out.standing.checkpoint = text(11);
  auto names = names_in(text(12));
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

void put(SQLite::Database& database, const std::string& id,
         const run_standing& standing) {
  SQLite::Statement put{database, "INSERT OR REPLACE INTO open_runs VALUES "
                                  "(?1, ?2, ?3, ?4, ?5, ?6, ?7)"};
  SQLite::bind(put, id, standing.place, std::int64_t{standing.attempt},
               standing.home, standing.from_run, standing.checkpoint,
               text_of(standing.daemons));
  put.exec();
}

void remove(SQLite::Database& database, const std::string& id) {
  SQLite::Statement remove{database, "DELETE FROM open_runs WHERE id = ?1"};
  remove.bind(1, id);
  remove.exec();
}

std::vector<open_run> read(SQLite::Database& database) {
  SQLite::Statement rows{database,
                         "SELECT id, name, state, submitted, started, message, "
                         "definition, place, attempt, home, from_run, "
                         "checkpoint, daemons FROM runs JOIN open_runs USING "
                         "(id) WHERE state IN ('queued', 'running') "
                         "ORDER BY state = 'running' DESC, place, id LIMIT ?1"};
  rows.bind(1, static_cast<std::int64_t>(most_open_runs));
  std::vector<open_run> out;
  while (rows.executeStep())
    if (auto row = read_row(rows))
      out.push_back(std::move(*row));
  return out;
}

void keep_only(SQLite::Database& database, const std::vector<open_run>& runs) {
  database.exec("DELETE FROM open_runs");
  for (const auto& run : runs)
    put(database, run.record.id, run.standing);
}

result<office> take_office(SQLite::Database& database, const fs::path& file) {
  // A counter that is damaged counts as far as it can.
  database.exec(
    "UPDATE office SET generation = max(0, CAST(generation AS INTEGER)) + 1");
  SQLite::Statement row{database,
                        "SELECT cluster, generation FROM office LIMIT 1"};
  office out;
  std::int64_t generation = 0;
  if (row.executeStep()) {
    generation = row.getColumn(1).getInt64();
    out = {row.getColumn(0).getString(),
           static_cast<std::uint64_t>(generation)};
  }
  if (out.cluster.size() != 32
      || out.cluster.find_first_not_of("0123456789abcdef") != std::string::npos
      || generation < 1)
    return fail(ec::invalid_data, "{} is damaged: it does not name its cluster",
                file.string());
  return out;
}

} // namespace graphmill::run_journal
