#pragma once

#include "messages/base/error.hpp"
#include "messages/base/unix_time.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// Bytes of the files of a run.
struct run_size {
  std::uint64_t all = 0;
  std::uint64_t checkpoints = 0; ///< Of these.
};

/// What the folder of a run takes. Links are not followed.
run_size size_of_run(const std::filesystem::path& folder);

/// How far a run has come, by its folder alone.
enum class listed_state : std::uint8_t {
  finished,   ///< It has come to its end.
  stopped,    ///< By its user; weights and metrics are saved.
  failed,     ///< It ended with an error.
  on,         ///< A process has its folder.
  unfinished, ///< Nothing says how it ended: killed, or not begun yet.
};
std::string_view to_string(listed_state which);

/// A run in a folder of runs. Value type.
struct listed_run {
  std::string name; ///< Of its folder.
  listed_state state = listed_state::unfinished;
  unix_time began{0};   ///< When its folder was made.
  unix_time changed{0}; ///< When a line was written of it last.
  run_size size;
  nlohmann::json summary; ///< Of `summary.json`; null: there is none.

  bool has_ended() const {
    return state != listed_state::on && state != listed_state::unfinished;
  }
};

/// The runs in a folder, those that began last first. Other folders in it are
/// passed over.
result<std::vector<listed_run>> list_runs(const std::filesystem::path& runs);

/// Removes the folder of a run. Fails, and leaves all of it, if it is no folder
/// of a run right in `runs`, a process has it, or a coordinator may need it:
/// one that has not ended, where `runs` is a coordinator's.
/// @param name As `listed_run` has it.
/// @returns what it has taken.
result<run_size> remove_run(const std::filesystem::path& runs,
                            const std::string& name);

} // namespace graphmill
