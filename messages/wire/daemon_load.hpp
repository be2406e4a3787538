#pragma once

#include "messages/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace graphmill {

/// What a daemon's process takes, whatever runs are on; in a second, about.
struct daemon_load {
  double cores = 0; ///< Processors in use.
  std::uint64_t memory_bytes = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t mapped_bytes = 0;
  std::uint32_t threads = 0;
  std::uint32_t descriptors = 0;
  std::uint32_t most_descriptors = 0;
  double disk_read_per_second = 0;
  double disk_written_per_second = 0;
  double sent_per_second = 0;
  double received_per_second = 0;
  /// Figures without a member, by the field of their row in
  /// pipelines/figures/figure_tables.hpp.
  std::map<std::string, double> further{};
  static constexpr std::size_t most_further = 32;

  /// Fails on amounts that are none.
  result<void> check() const;

  static void fields(auto& of, auto visit) {
    visit("cores", of.cores);
    visit("memoryBytes", of.memory_bytes);
    visit("peakMemoryBytes", of.peak_memory_bytes);
    visit("mappedBytes", of.mapped_bytes);
    visit("threads", of.threads);
    visit("descriptors", of.descriptors);
    visit("mostDescriptors", of.most_descriptors);
    visit("diskReadPerSecond", of.disk_read_per_second);
    visit("diskWrittenPerSecond", of.disk_written_per_second);
    visit("sentPerSecond", of.sent_per_second);
    visit("receivedPerSecond", of.received_per_second);
    visit("further", of.further);
  }
};

} // namespace graphmill
