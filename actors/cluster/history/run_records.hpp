#pragma once

#include "actors/cluster/history/run_history.hpp"
#include "messages/wire/cluster.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// The records of a coordinator's runs that are not over, or whose latest state
/// is not in the history yet. They take precedence over the history, which
/// falls behind while it cannot be written, as on a full disk. Pure: its owner
/// writes what `take_unwritten` gives, one batch at a time, and tells whether
/// it worked.
class run_records {
public:
  /// @returns null if the run is to be looked for in the history.
  const run_record* find(const std::string& id) const;

  /// Adds a run that is in the history.
  void add(run_record run);

  /// A run has changed. @pre it was added and is not over
  /// @param standing Of a run that is to go on after a restart, if that has
  /// changed, too.
  void set(run_record run, std::optional<run_standing> standing = {});

  /// What is to be written now: nothing while the last batch is on its way. A
  /// batch that failed is part of the next one.
  std::vector<run_history::entry> take_unwritten();

  /// What was taken last has been written, or not.
  /// @returns whether that is news: writing fails, or succeeds again.
  bool written(std::optional<error> failure);

  /// Why the last batch is not in the history; nothing if it is.
  const std::optional<error>& failure() const { return failure_; }

  /// All that is known is in the history.
  bool all_written() const;

  /// Replaces what the history says by what is known here.
  void correct(std::vector<run_record>& from_history) const;

private:
  struct place {
    run_record run;
    std::optional<run_standing> standing{}; ///< Until it is written.
    std::uint64_t version = 0;              ///< Counts changes,
    std::uint64_t taken = 0;   ///< up to the one that was taken last,
    std::uint64_t on_disk = 0; ///< and to the one that is written.
  };
  std::map<std::string, place> runs_;
  bool writing_ = false;
  std::optional<error> failure_;
};

} // namespace graphmill
