#include "actors/commands/options/time_text.hpp"

#include "messages/words/number_text.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
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

std::optional<unix_time> age_of(std::string_view text) {
  constexpr std::int64_t most_hours = std::int64_t{1000} * 365 * 24;
  if (text.size() < 2)
    return std::nullopt;
  const auto unit = text.back();
  const auto hours = unit == 'h'   ? 1
                     : unit == 'd' ? 24
                     : unit == 'w' ? 7 * 24
                                   : 0;
  const auto count = number_from<std::int64_t>(text.substr(0, text.size() - 1));
  if (hours == 0 || !count || *count < 0 || *count > most_hours / hours)
    return std::nullopt;
  return std::chrono::hours{*count * hours};
}

} // namespace graphmill
