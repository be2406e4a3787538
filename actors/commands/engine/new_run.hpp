#pragma once

#include "pipelines/results/run_folder.hpp"

#include <filesystem>
#include <system_error>

namespace graphmill {

/// Takes the folder of a new run away at its own end, unless the run has begun:
/// what is refused leaves nothing behind. The folder's files may be open.
class new_run {
public:
  explicit new_run(const run_folder& folder) : path_(folder.path()) {}
  ~new_run() {
    std::error_code ignored;
    if (!begun_)
      std::filesystem::remove_all(path_, ignored);
  }
  new_run(const new_run&) = delete;
  new_run& operator=(const new_run&) = delete;

  /// All is prepared: from now on the folder stays, whatever happens.
  void begins() { begun_ = true; }

private:
  const std::filesystem::path path_;
  bool begun_ = false;
};

} // namespace graphmill
