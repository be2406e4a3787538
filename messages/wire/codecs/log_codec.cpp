#include "messages/wire/codecs/codec_support.hpp"
#include "messages/wire/log.capnp.h"
#include "messages/wire/log.hpp"

#include <algorithm>

namespace graphmill {

using namespace wire;

// The values are the schema's.
template <>
inline constexpr int wire_offset<log_level> = 0;
static_assert(static_cast<int>(schema::LogLevel::CRITICAL)
              == static_cast<int>(log_level::critical));

std::string_view to_string(log_level level) {
  switch (level) {
  case log_level::debug:
    return "debug";
  case log_level::info:
    return "info";
  case log_level::warn:
    return "warn";
  case log_level::error:
    return "error";
  case log_level::critical:
    return "critical";
  }
  return "unknown";
}

GRAPHMILL_LISTED_CODEC(log_request, LogRequest, "a request for lines of logs")

result<void> log_reply::check() const {
  if (lines.size() > log_limits::lines)
    return fail(ec::invalid_data, "{} lines of a log, at most {}", lines.size(),
                log_limits::lines);
  for (const auto& line : lines)
    if (line.text.size() > log_limits::text
        || std::max({line.daemon.size(), line.run.size(), line.batch.size(),
                     line.module.size()})
             > log_limits::name)
      return fail(ec::invalid_data, "a line of a log is too long");
  return ok();
}

GRAPHMILL_LISTED_CODEC(log_reply, LogReply, "lines of a log")
GRAPHMILL_LISTED_CODEC(events_request, EventsRequest, "a request for events")
GRAPHMILL_LISTED_CODEC(events_reply, EventsReply, "the events of a cluster")

} // namespace graphmill
