#include "messages/wire/codecs/codec_support.hpp"
#include "messages/wire/codecs/health_values.hpp"
#include "messages/wire/trace.capnp.h"
#include "messages/wire/trace.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace graphmill {

using namespace wire;

namespace {

bool is_trace_time(std::int64_t when) {
  return when >= 0 && when <= trace_limits::latest;
}

/// Whether it began before it ended, and is of an actor that there is.
bool is_in_trace(const trace_reply& reply, const auto& span) {
  return is_trace_time(span.begin) && is_trace_time(span.end)
         && span.begin <= span.end && span.actor < reply.actors.size();
}

/// Each is a thread in what is drawn of it.
bool has_too_many_workers(const std::vector<trace_actor>& actors) {
  std::uint64_t all = 0;
  for (const auto& actor : actors)
    all += actor.workers;
  return all > trace_limits::workers;
}

/// Steps are told from 1 on.
bool is_traced_batch(const std::optional<batch_place>& batch) {
  return !batch || (batch->epoch >= 0 && is_trace_time(batch->step));
}

bool are_workers_in_trace(const trace_reply& reply,
                          const std::vector<trace_span>& spans) {
  return std::ranges::all_of(spans, [&reply](const trace_span& span) {
    return is_in_trace(reply, span) && is_traced_batch(span.batch)
           && span.worker < reply.actors[span.actor].workers;
  });
}

} // namespace

result<void> trace_reply::check() const {
  if (daemons.size() > trace_limits::daemons
      || actors.size() > trace_limits::actors
      || spans.size() + requests.size() > trace_limits::spans
      || now.size() > trace_limits::now || has_too_many_workers(actors))
    return fail(ec::invalid_data,
                "a trace with {} actors and their workers, {} spans and {} "
                "requests is too large",
                actors.size(), spans.size(), requests.size());
  const auto is_long = [](const std::string& name) {
    return name.size() > trace_limits::text;
  };
  if (is_long(run) || is_long(daemon) || std::ranges::any_of(daemons, is_long)
      || std::ranges::any_of(actors, [](const trace_actor& actor) {
           return actor.peer.size() > trace_limits::peer;
         }))
    return fail(ec::invalid_data, "a trace has names that are too long");
  if (!is_trace_time(asked) || !is_trace_time(came) || !is_trace_time(left)
      || !is_trace_time(answered) || first > next
      || !are_workers_in_trace(*this, spans)
      || !are_workers_in_trace(*this, now)
      || !std::ranges::all_of(requests, [this](const trace_call& call) {
           return is_in_trace(*this, call);
         }))
    return fail(ec::invalid_data, "a trace says what cannot be");
  return ok();
}

GRAPHMILL_LISTED_CODEC(trace_request, TraceRequest, "a request for a trace")
GRAPHMILL_LISTED_CODEC(trace_reply, TraceReply, "a trace")

} // namespace graphmill
