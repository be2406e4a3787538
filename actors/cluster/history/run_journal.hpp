#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/cluster.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace SQLite {
class Database;
}

namespace graphmill {

/// What a coordinator needs to go on with a run that is queued or on, besides
/// its record and its definition.
struct run_standing {
  std::int64_t place = 0;    ///< In the queue: the least comes first.
  std::uint32_t attempt = 1; ///< How often it has been begun, at the most.
  std::string home;          ///< What counts as the host of who submitted it.
  std::string from_run;      ///< That it goes on with; empty: none.
  std::string checkpoint;    ///< Of that run.
  /// Names of the daemons that it was on, and of those that may have kept its
  /// state, but for the coordinator's own. Of a run that has not begun: none.
  /// The first 1024 are kept, as many as a cluster has.
  std::vector<std::string> daemons;

  friend bool operator==(const run_standing&, const run_standing&) = default;
};

/// A run that was queued or on when the last coordinator ended.
struct open_run {
  run_record record;
  std::string definition; ///< YAML.
  run_standing standing;

  /// Whether it had left the queue.
  bool was_on() const { return record.state == run_state::running; }

  /// The number of the next attempt at it. If it was on, the last one may have
  /// been deployed already, or not: daemons that know it know its number.
  std::uint32_t next_attempt() const {
    return standing.attempt + (was_on() ? 1 : 0);
  }
};

/// The tables of a run history that outlive a coordinator for the next one.
/// Statements of `run_history`, which calls them within its transactions. They
/// throw what SQLiteCpp throws.
namespace run_journal {

/// A queue has no more; nor is a definition longer, in bytes.
inline constexpr std::size_t most_open_runs = 256;
inline constexpr std::size_t longest_definition = std::size_t{1} << 20;

/// Whether this names a file or folder of the folder that it is looked for in:
/// no path, nothing hidden. Ids of runs do.
bool is_plain_name(const std::string& name);

/// Adds what there is of a run, or replaces it.
void put(SQLite::Database& database, const std::string& id,
         const run_standing& standing);

/// A run is over.
void remove(SQLite::Database& database, const std::string& id);

/// The runs that can be gone on with: the one that was on first, then the queue
/// in its order. Rows that make no sense are left out.
std::vector<open_run> read(SQLite::Database& database);

/// Forgets all runs but these.
void keep_only(SQLite::Database& database, const std::vector<open_run>& runs);

/// Which cluster this is, and which coordinator of it.
struct office {
  std::string cluster; ///< 32 hexadecimal digits.
  std::uint64_t generation = 0;
};

/// Another coordinator begins. Fails with `invalid_data` if the cluster has no
/// name.
result<office> take_office(SQLite::Database& database,
                           const std::filesystem::path& file);

} // namespace run_journal

} // namespace graphmill
