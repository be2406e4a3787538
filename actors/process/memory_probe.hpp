#pragma once

#include <cstdint>

namespace graphmill {

/// Follows the memory that this process holds for itself: anonymous and shared
/// pages (RssAnon + RssShmem), without mapped files, which the kernel may drop.
/// The kernel keeps no peak of that, so it is sampled.
class memory_probe {
public:
  memory_probe();
  ~memory_probe();
  memory_probe(const memory_probe&) = delete;
  memory_probe& operator=(const memory_probe&) = delete;

  /// Takes a sample and returns it, bytes; 0 when the system does not tell.
  std::uint64_t sample();

  std::uint64_t peak_bytes() const { return peak_; }

  /// Pages of mapped files that were in memory when the last sample was taken
  /// (RssFile), bytes.
  std::uint64_t mapped_bytes() const { return mapped_; }

private:
  int status_ = -1;
  std::uint64_t peak_ = 0;
  std::uint64_t mapped_ = 0;
};

/// Seconds of processor time that this process has used.
double process_cpu_seconds();

} // namespace graphmill
