#pragma once

#include <cstdint>

namespace graphmill {

/// What the system counts of this process. 0 where it does not tell.
struct process_figures {
  double cpu_seconds = 0;
  std::uint32_t threads = 0;
  std::uint32_t descriptors = 0;
  std::uint32_t most_descriptors = 0; ///< That it may have open.
  std::uint64_t disk_read = 0;        ///< Bytes from disks, so far.
  std::uint64_t disk_written = 0;     ///< Bytes to disks, so far.
};

/// Reads /proc: some system calls, and one for each descriptor.
process_figures read_process_figures();

} // namespace graphmill
