#include "actors/process/process_figures.hpp"

#include "actors/process/memory_probe.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace graphmill {

namespace {

std::uint32_t entries_of(const char* folder) {
  std::error_code failed;
  std::filesystem::directory_iterator all{folder, failed};
  std::uint32_t count = 0;
  while (!failed && all != std::filesystem::directory_iterator{}) {
    ++count;
    all.increment(failed);
  }
  return count;
}

} // namespace

process_figures read_process_figures() {
  process_figures out;
  out.cpu_seconds = process_cpu_seconds();
  out.threads = entries_of("/proc/self/task");
  out.descriptors = entries_of("/proc/self/fd");
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
    out.most_descriptors = static_cast<std::uint32_t>(std::min<rlim_t>(
      limit.rlim_cur, std::numeric_limits<std::uint32_t>::max()));
  std::ifstream io{"/proc/self/io"};
  std::string label;
  for (std::uint64_t value = 0; io >> label >> value;) {
    if (label == "read_bytes:")
      out.disk_read = value;
    else if (label == "write_bytes:")
      out.disk_written = value;
  }
  return out;
}

} // namespace graphmill
