#pragma once

#include "actors/member_setup.hpp"
#include "messages/error.hpp"
#include "pipelines/stage_counters.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

struct local_run_config : run_setup {
  std::filesystem::path data; ///< A dataset or partitioned dataset.
  std::shared_ptr<spdlog::logger> log;
  run_observer observer; ///< Without `on_end`.
};

struct local_run_result {
  run_outcome outcome;
  std::vector<stage_report> stages;
  double seconds = 0;     ///< From the first batch to the last.
  double cpu_seconds = 0; ///< Of the process in that time.
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t peak_credit_bytes = 0; ///< Most that batches had reserved.
  std::uint64_t oversize_batches = 0;
  std::uint64_t retried_batches = 0;
};

/// Runs a definition with all its actors in this process, and waits for the
/// end. SIGINT and SIGTERM: the first lets the step finish, the second ends at
/// once; both give an outcome that is `cancelled`. Errors are those of the
/// set-up: data that does not fit the definition, files that cannot be opened.
result<local_run_result> run_locally(local_run_config config);

} // namespace graphmill
