#pragma once

#include "actors/cluster/history/run_journal.hpp"
#include "messages/base/error.hpp"
#include "messages/wire/cluster.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace SQLite {
class Database;
}

namespace graphmill {

/// The runs of a coordinator, in an SQLite file that outlives it. What was put
/// is on disk when `put` returns, so calls may take long. One process has the
/// file at a time; calls come from one thread at a time.
class run_history {
public:
  struct entry {
    run_record record;
    std::string definition; ///< YAML.
    /// Of a run that is not over: nothing leaves it as it is.
    std::optional<run_standing> standing{};
  };
  struct page {
    std::vector<run_record> runs; ///< The latest first.
    bool more = false;            ///< There are older ones.
  };

  /// Opens or creates a file, which begins another generation of coordinators.
  /// Runs that were queued or on when the last one ended are among
  /// `take_open_runs`; those of which it is not known how to go on with them,
  /// as in a history of an older version, are marked as failed at the time of
  /// the last `touch`. A history that is damaged is set aside, and a new one
  /// begins. Fails, and leaves the file as it is, if that is no database, one
  /// of another program or of a newer version, or one that another coordinator
  /// uses.
  /// @param keep Of the runs that are over, how many it keeps: the latest. Of
  /// those without a definition, which are feeds, it keeps a hundred at most.
  /// @param take_up False: nobody goes on with any run; all are marked.
  static result<run_history> open(const std::filesystem::path& file,
                                  std::uint32_t keep, bool take_up = true);

  /// What was damaged and where it lies now; empty if nothing was set aside.
  const std::string& set_aside() const { return set_aside_; }

  /// Ids of the runs that were queued or on when the last coordinator ended.
  const std::vector<std::string>& interrupted() const { return interrupted_; }

  /// Those of them that can be gone on with: the one that was on first, then
  /// the queue in its order. Once.
  std::vector<open_run> take_open_runs() {
    return std::exchange(open_runs_, {});
  }

  /// Drawn with the file: 32 hexadecimal digits.
  const std::string& cluster() const { return office_.cluster; }
  /// How many coordinators have opened the file, with this one.
  std::uint64_t generation() const { return office_.generation; }

  /// Adds runs or replaces what there is of them, all or none. Without a
  /// definition, the one that there is stays. Of a run that is over, the
  /// standing is forgotten.
  result<void> put(std::span<const entry> changes);

  /// @returns nothing if there is no such run.
  result<std::optional<entry>> get(const std::string& id);

  /// A page ends with the run that brings it above this many bytes.
  static constexpr std::uint64_t most_page_bytes = std::uint64_t{16} << 20;

  /// Runs by time of submission, the latest first.
  /// @param before Begins with those older than this run; empty: with the
  /// latest. Fails if there is no such run.
  result<page> list(std::uint32_t limit, const std::string& before = {});

  /// Notes that the coordinator lives, as the file's time of change: nothing
  /// waits for the disk, and a full one is no trouble.
  void touch() const;

private:
  struct closer {
    void operator()(SQLite::Database* database) const;
  };
  using handle = std::unique_ptr<SQLite::Database, closer>;

  static result<run_history> open_as_it_is(const std::filesystem::path& file,
                                           std::uint32_t keep, bool take_up,
                                           unix_time died);
  run_history(handle database, std::filesystem::path file, std::uint32_t keep)
    : file_(std::move(file)), keep_(keep), database_(std::move(database)) {}
  static result<handle> connect(const std::filesystem::path& file);
  result<void> begin(bool take_up, unix_time died);
  result<void> together(const std::function<result<void>()>& changes);
  result<void> take_over(bool take_up, unix_time died);
  void put_one(const entry& row);
  void drop_old();

  std::filesystem::path file_;
  std::uint32_t keep_;
  std::string set_aside_;
  std::vector<std::string> interrupted_;
  std::vector<open_run> open_runs_;
  run_journal::office office_;
  handle database_;
};

} // namespace graphmill
