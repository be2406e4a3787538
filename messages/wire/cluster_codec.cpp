#include "messages/definition/definition_codec.hpp"
#include "messages/wire/cluster.capnp.h"
#include "messages/wire/cluster.hpp"
#include "messages/wire/codec_support.hpp"

namespace graphmill {

using namespace wire;

// The values are the schema's.
template <>
inline constexpr int wire_offset<run_state> = 0;
static_assert(static_cast<int>(schema::RunState::CANCELLED)
              == static_cast<int>(run_state::cancelled));

namespace {

void fill(const run_news& from, schema::RunNews::Builder to) {
  if (!from.metrics.empty()) {
    to.setMetrics(from.metrics);
    return;
  }
  auto progress = to.initProgress();
  progress.setWhat(from.what);
  progress.setDone(from.done);
  progress.setTotal(from.total);
}

run_news news_of(schema::RunNews::Reader in) {
  if (in.isMetrics())
    return {text(in.getMetrics()), {}, 0, 0};
  if (!in.isProgress())
    return {};
  const auto progress = in.getProgress();
  return {
    {}, text(progress.getWhat()), progress.getDone(), progress.getTotal()};
}

} // namespace

std::string_view to_string(run_state what) {
  switch (what) {
  case run_state::queued:
    return "queued";
  case run_state::running:
    return "running";
  case run_state::finished:
    return "finished";
  case run_state::failed:
    return "failed";
  case run_state::cancelled:
    return "cancelled";
  }
  return "unknown";
}

payload encode_definition_body(const definition& def) {
  return body<schema::SubmitRequest>(
    [&def](schema::SubmitRequest::Builder out) {
      encode_definition(def, out.initDefinition());
    });
}

result<definition> decode_definition_body(const payload& from) {
  return read<schema::SubmitRequest>(
    from, "a definition", [](schema::SubmitRequest::Reader in) {
      return decode_definition(in.getDefinition());
    });
}

payload encode_run_id(const std::string& run) {
  return body<schema::SubmitReply>(
    [&run](schema::SubmitReply::Builder out) { out.setRun(run); });
}

result<std::string> decode_run_id(const payload& from) {
  return read<schema::SubmitReply>(
    from, "the name of a run",
    [](schema::SubmitReply::Reader in) -> result<std::string> {
      return text(in.getRun());
    });
}

payload encode(const plan_reply& what) {
  return body_of<schema::PlanReply>(what);
}

result<plan_reply> decode_plan_reply(const payload& from) {
  return read_body<schema::PlanReply, plan_reply>(from, "a placement");
}

payload encode(const runs_request& what) {
  return body_of<schema::RunsRequest>(what);
}

result<runs_request> decode_runs_request(const payload& from) {
  return read_body<schema::RunsRequest, runs_request>(from,
                                                      "a request for runs");
}

payload encode(const runs_reply& what) {
  return body_of<schema::RunsReply>(what);
}

result<runs_reply> decode_runs_reply(const payload& from) {
  return read_body<schema::RunsReply, runs_reply>(from, "a list of runs");
}

payload encode(const watch_request& what) {
  return body_of<schema::WatchRequest>(what);
}

result<watch_request> decode_watch_request(const payload& from) {
  return read_body<schema::WatchRequest, watch_request>(
    from, "a request to watch a run");
}

payload encode(const watch_reply& what) {
  return body<schema::WatchReply>([&what](schema::WatchReply::Builder out) {
    out.setNext(what.next);
    auto events = out.initEvents(static_cast<unsigned>(what.events.size()));
    for (unsigned i = 0; i < events.size(); ++i)
      fill(what.events[i], events[i]);
    run_record::fields(what.record, field_writer{out.initRecord()});
  });
}

result<watch_reply> decode_watch_reply(const payload& from) {
  return read<schema::WatchReply>(
    from, "news of a run",
    [](schema::WatchReply::Reader in) -> result<watch_reply> {
      watch_reply out;
      out.next = in.getNext();
      for (auto one : in.getEvents())
        out.events.push_back(news_of(one));
      TRY(out.record, read_fields<run_record>(in.getRecord()));
      return out;
    });
}

payload encode(const cancel_request& what) {
  return body_of<schema::CancelRequest>(what);
}

result<cancel_request> decode_cancel_request(const payload& from) {
  return read_body<schema::CancelRequest, cancel_request>(from,
                                                          "a cancellation");
}

payload encode(const file_request& what) {
  return body_of<schema::FileRequest>(what);
}

result<file_request> decode_file_request(const payload& from) {
  return read_body<schema::FileRequest, file_request>(from,
                                                      "a request for a file");
}

payload encode(const file_reply& what) {
  auto out = body_of<schema::FileReply>(what);
  out.bulk = cut(what.bytes);
  return out;
}

result<file_reply> decode_file_reply(const payload& from) {
  TRY(auto out,
      read_body<schema::FileReply, file_reply>(from, "a piece of a file"));
  for (const auto& piece : from.bulk)
    out.bytes.insert(out.bytes.end(), piece.bytes().begin(),
                     piece.bytes().end());
  return out;
}

} // namespace graphmill
