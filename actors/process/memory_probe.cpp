#include "actors/process/memory_probe.hpp"

#include <ctime>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace graphmill {

namespace {

/// The kilobytes behind `label`; 0 if it is not there.
std::uint64_t kilobytes(std::string_view text, std::string_view label) {
  auto at = text.find(label);
  if (at == std::string_view::npos)
    return 0;
  at = text.find_first_of("0123456789", at + label.size());
  if (at == std::string_view::npos)
    return 0;
  std::uint64_t value = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

} // namespace

memory_probe::memory_probe()
  : status_(open("/proc/self/status", O_RDONLY | O_CLOEXEC)) {}

memory_probe::~memory_probe() {
  if (status_ >= 0)
    close(status_);
}

std::uint64_t memory_probe::sample() {
  if (status_ < 0)
    return 0;
  std::array<char, 4096> content{};
  const auto size = pread(status_, content.data(), content.size(), 0);
  if (size <= 0)
    return 0;
  const std::string_view text{content.data(), static_cast<std::size_t>(size)};
  const auto bytes =
    1024 * (kilobytes(text, "RssAnon:") + kilobytes(text, "RssShmem:"));
  peak_ = std::max(peak_, bytes);
  mapped_ = 1024 * kilobytes(text, "RssFile:");
  return bytes;
}

double process_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

} // namespace graphmill
