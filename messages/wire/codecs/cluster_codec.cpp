#include "messages/definition/definition_codec.hpp"
#include "messages/wire/cluster.capnp.h"
#include "messages/wire/cluster.hpp"
#include "messages/wire/codecs/codec_support.hpp"

#include <algorithm>

namespace graphmill {

using namespace wire;

// The values of `run_state` are those of the schema.
template <>
inline constexpr int wire_offset<run_state> = 0;
static_assert(static_cast<int>(schema::RunState::CANCELLED)
              == static_cast<int>(run_state::cancelled));

namespace {

void fill(const run_news& from, schema::RunNews::Builder to) {
  if (!from.metrics.empty()) {
    to.setMetrics(text(from.metrics));
    return;
  }
  auto progress = to.initProgress();
  progress.setLabel(text(from.label));
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
    {}, text(progress.getLabel()), progress.getDone(), progress.getTotal()};
}

} // namespace

std::string_view to_string(run_state state) {
  switch (state) {
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

payload encode_resumption(const definition& def, const resume_request& of) {
  return body<schema::SubmitRequest>(
    [&def, &of](schema::SubmitRequest::Builder out) {
      encode_definition(def, out.initDefinition());
      out.setResume(of.run);
      out.setCheckpoint(of.checkpoint);
      out.setWithChanges(of.with_changes);
      out.setTensorboard(of.tensorboard);
      out.setUploaded(of.uploaded);
    });
}

result<resume_request> decode_resumption(const payload& from) {
  return read<schema::SubmitRequest>(
    from, "what a run goes on with",
    [](schema::SubmitRequest::Reader in) -> result<resume_request> {
      resume_request out{text(in.getResume()), text(in.getCheckpoint()),
                         in.getWithChanges(), in.getTensorboard(),
                         in.getUploaded()};
      if (out.uploaded && !(out.run.empty() && out.checkpoint.empty()))
        return fail(ec::invalid_argument,
                    "a run goes on with run \"{}\" or with what was uploaded, "
                    "and not with both",
                    out.run);
      return out;
    });
}

payload encode_run_id(const std::string& run) {
  return body<schema::SubmitReply>(
    [&run](schema::SubmitReply::Builder out) { out.setRun(text(run)); });
}

result<std::string> decode_run_id(const payload& from) {
  return read<schema::SubmitReply>(
    from, "the name of a run",
    [](schema::SubmitReply::Reader in) -> result<std::string> {
      return text(in.getRun());
    });
}

GRAPHMILL_LISTED_CODEC(feed_state_request, FeedStateRequest,
                       "a question about a feed")

/// A code that this version does not know is an internal error.
error feed_state_reply::reason() const {
  return {code >= 1 && code <= static_cast<int>(ec::superseded)
            ? static_cast<ec>(code)
            : ec::internal,
          message};
}

GRAPHMILL_LISTED_CODEC(feed_state_reply, FeedStateReply, "the state of a feed")
GRAPHMILL_LISTED_CODEC(plan_reply, PlanReply, "a placement")
GRAPHMILL_LISTED_CODEC(runs_request, RunsRequest, "a request for runs")
GRAPHMILL_LISTED_CODEC(runs_reply, RunsReply, "a list of runs")
GRAPHMILL_LISTED_CODEC(watch_request, WatchRequest, "a request to watch a run")

payload encode(const watch_reply& reply) {
  return body<schema::WatchReply>([&reply](schema::WatchReply::Builder out) {
    out.setNext(reply.next);
    auto events = out.initEvents(static_cast<unsigned>(reply.events.size()));
    for (unsigned i = 0; i < events.size(); ++i)
      fill(reply.events[i], events[i]);
    run_record::fields(reply.record, field_writer{out.initRecord()});
  });
}

result<watch_reply> decode_watch_reply(const payload& from) {
  return read<schema::WatchReply>(
    from, "news of a run",
    [&from](schema::WatchReply::Reader in) -> result<watch_reply> {
      watch_reply out;
      out.next = in.getNext();
      const auto events = in.getEvents();
      if (const auto most = from.body.size() / sizeof(capnp::word);
          events.size() > most)
        return fail(ec::invalid_data,
                    "{} news of a run at once, at most {} in a message of its "
                    "size",
                    events.size(), most);
      for (auto event : events)
        out.events.push_back(news_of(event));
      GRAPHMILL_TRY(out.record, read_fields<run_record>(in.getRecord()));
      return out;
    });
}

GRAPHMILL_LISTED_CODEC(cancel_request, CancelRequest, "a cancellation")
GRAPHMILL_LISTED_CODEC(file_request, FileRequest, "a request for a file")

payload encode(const file_reply& reply) {
  auto out = body_of<schema::FileReply>(reply);
  out.bulk = cut(reply.bytes);
  return out;
}

result<file_reply> decode_file_reply(const payload& from,
                                     const file_request& asked) {
  GRAPHMILL_TRY(auto out, read_body<schema::FileReply, file_reply>(
                            from, "a piece of a file"));
  out.bytes = joined(from.bulk);
  if (out.bytes.empty() && asked.offset < out.size)
    return fail(ec::invalid_data,
                "the coordinator sent {} bytes of {}, which has {}: it cannot "
                "read on there",
                asked.offset, asked.file, out.size);
  return out;
}

payload encode(const upload_request& request) {
  auto out = body_of<schema::UploadRequest>(request);
  out.bulk = cut(request.bytes);
  return out;
}

result<void> upload_request::check_bytes() const {
  if (offset <= size
      && bytes.size()
           == std::min<std::uint64_t>(upload_piece_bytes, size - offset))
    return ok();
  return fail(ec::invalid_argument,
              "a piece of {} bytes at {} in a file of {}: pieces have {} bytes "
              "but for the last one",
              bytes.size(), offset, size, upload_piece_bytes);
}

result<upload_request> decode_upload_request(const payload& from) {
  GRAPHMILL_TRY(auto out, read_body<schema::UploadRequest, upload_request>(
                            from, "a piece of a checkpoint"));
  out.bytes = joined(from.bulk);
  GRAPHMILL_TRYV(out.check_bytes());
  return out;
}

} // namespace graphmill
