#include "actors/commands/options/time_text.hpp"

#include <fmt/format.h>

#include <ctime>

namespace graphmill {

std::string time_text(unix_time when) {
  if (when.count() <= 0)
    return "-";
  const auto seconds = static_cast<std::time_t>(when.count() / 1000);
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr)
    return "-";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
                     parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string duration_text(std::chrono::milliseconds time) {
  const auto seconds = time.count() / 1000;
  if (seconds < 60)
    return fmt::format("{:.1f} s", double(time.count()) * 1e-3);
  if (seconds < 3600)
    return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

} // namespace graphmill
