#pragma once

#include "messages/cluster.hpp"
#include "messages/error.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace graphmill {

/// The runs of a coordinator, in an SQLite file that outlives it. What was put
/// is on disk when `put` returns. One process has the file at a time; calls
/// come from one thread at a time.
class run_history {
public:
  struct entry {
    run_record record;
    std::string definition; ///< YAML.
  };

  /// Opens or creates a file. Runs that were queued or on when the coordinator
  /// ended are marked as failed. Fails, and leaves the file as it is, if that
  /// is no database, one of another program or of a newer version, or one that
  /// another coordinator uses.
  static result<run_history> open(const std::filesystem::path& file);

  /// Adds a run or replaces what there is of it. Without a definition, the one
  /// that there is stays.
  result<void> put(const run_record& run, const std::string& definition = {});

  /// @returns nothing if there is no such run.
  result<std::optional<entry>> get(const std::string& id);

  /// The latest runs, the latest first, by time of submission.
  result<std::vector<run_record>> latest(std::uint32_t limit);

private:
  struct closer {
    void operator()(sqlite3* database) const;
  };
  using handle = std::unique_ptr<sqlite3, closer>;

  run_history(handle database, std::filesystem::path file)
    : file_(std::move(file)), database_(std::move(database)) {}

  std::filesystem::path file_; ///< For errors.
  handle database_;
};

} // namespace graphmill
