#include "actors/cluster/health/report_paces.hpp"

#include "actors/base/timeouts.hpp"
#include "messages/wire/health.hpp"

namespace graphmill {

namespace {

/// As often as daemons tell, and what may come at once after a moment in which
/// nothing came through.
constexpr double reports_per_second = 1;
constexpr double reports_at_once = 5;
static_assert(timeouts::health_report >= std::chrono::seconds{1});

} // namespace

result<void> report_paces::admit(const std::string& daemon, std::size_t bytes,
                                 clock::time_point now) {
  if (bytes > health_limits::bytes)
    return fail(
      ec::invalid_data,
      "daemon \"{}\" sent a health report of {} bytes; at most {} are expected",
      daemon, bytes, health_limits::bytes);
  auto& pace = paces_.try_emplace(daemon, reports_per_second, reports_at_once)
                 .first->second;
  if (pace.level(now) < 1)
    return fail(
      ec::unavailable,
      "daemon \"{}\" sends health reports more often than once a second",
      daemon);
  pace.take(now);
  return ok();
}

} // namespace graphmill
