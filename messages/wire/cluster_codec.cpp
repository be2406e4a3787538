#include "messages/definition/definition_codec.hpp"
#include "messages/wire/cluster.capnp.h"
#include "messages/wire/cluster.hpp"
#include "messages/wire/codec_support.hpp"

#include <algorithm>

namespace graphmill {

using namespace wire;

namespace {

static_assert(static_cast<int>(schema::RunState::CANCELLED)
              == static_cast<int>(run_state::cancelled));
result<run_record> decode(schema::RunRecord::Reader in) {
  run_record out;
  out.id = text(in.getId());
  out.name = text(in.getName());
  out.state = static_cast<run_state>(in.getState());
  if (out.state < run_state::queued || out.state > run_state::cancelled)
    return fail(ec::invalid_data, "run \"{}\" is in an unknown state", out.id);
  out.submitted = unix_time{in.getSubmitted()};
  out.started = unix_time{in.getStarted()};
  out.ended = unix_time{in.getEnded()};
  out.message = text(in.getMessage());
  out.summary = text(in.getSummary());
  return out;
}

void fill(const run_record& from, schema::RunRecord::Builder to) {
  to.setId(from.id);
  to.setName(from.name);
  to.setState(static_cast<schema::RunState>(from.state));
  to.setSubmitted(from.submitted.count());
  to.setStarted(from.started.count());
  to.setEnded(from.ended.count());
  to.setMessage(from.message);
  to.setSummary(from.summary);
}

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
  return body<schema::PlanReply>([&what](schema::PlanReply::Builder out) {
    put_list(out.initDaemonOfPart(what.daemon_of_part.size()),
             what.daemon_of_part);
    put_list(out.initDaemonOfRank(what.daemon_of_rank.size()),
             what.daemon_of_rank);
    put_list(out.initSamplers(what.samplers.size()), what.samplers);
  });
}

result<plan_reply> decode_plan_reply(const payload& from) {
  return read<schema::PlanReply>(
    from, "a placement",
    [](schema::PlanReply::Reader in) -> result<plan_reply> {
      return plan_reply{get_texts(in.getDaemonOfPart()),
                        get_texts(in.getDaemonOfRank()),
                        get_texts(in.getSamplers())};
    });
}

payload encode(const runs_request& what) {
  return body<schema::RunsRequest>([&what](schema::RunsRequest::Builder out) {
    out.setRun(what.run);
    out.setLimit(what.limit);
    out.setBefore(what.before);
  });
}

result<runs_request> decode_runs_request(const payload& from) {
  return read<schema::RunsRequest>(
    from, "a request for runs",
    [](schema::RunsRequest::Reader in) -> result<runs_request> {
      return runs_request{text(in.getRun()), in.getLimit(),
                          text(in.getBefore())};
    });
}

payload encode(const runs_reply& what) {
  return body<schema::RunsReply>([&what](schema::RunsReply::Builder out) {
    put_structs(out.initRuns(what.runs.size()), what.runs,
                [](const run_record& from, schema::RunRecord::Builder to) {
                  fill(from, to);
                });
    out.setMore(what.more);
  });
}

result<runs_reply> decode_runs_reply(const payload& from) {
  return read<schema::RunsReply>(
    from, "a list of runs",
    [](schema::RunsReply::Reader in) -> result<runs_reply> {
      runs_reply out;
      TRY(out.runs, get_structs<run_record>(in.getRuns(),
                                            [](schema::RunRecord::Reader one) {
                                              return decode(one);
                                            }));
      out.more = in.getMore();
      return out;
    });
}

payload encode(const watch_request& what) {
  return body<schema::WatchRequest>([&what](schema::WatchRequest::Builder out) {
    out.setRun(what.run);
    out.setCursor(what.cursor);
    out.setWait(static_cast<std::uint32_t>(what.wait.count()));
  });
}

result<watch_request> decode_watch_request(const payload& from) {
  return read<schema::WatchRequest>(
    from, "a request to watch a run",
    [](schema::WatchRequest::Reader in) -> result<watch_request> {
      return watch_request{text(in.getRun()), in.getCursor(),
                           std::chrono::milliseconds{in.getWait()}};
    });
}

payload encode(const watch_reply& what) {
  return body<schema::WatchReply>([&what](schema::WatchReply::Builder out) {
    out.setNext(what.next);
    put_structs(out.initEvents(what.events.size()), what.events,
                [](const run_news& from, schema::RunNews::Builder to) {
                  fill(from, to);
                });
    fill(what.record, out.initRecord());
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
      TRY(out.record, decode(in.getRecord()));
      return out;
    });
}

payload encode(const cancel_request& what) {
  return body<schema::CancelRequest>(
    [&what](schema::CancelRequest::Builder out) {
      out.setRun(what.run);
      out.setNow(what.now);
    });
}

result<cancel_request> decode_cancel_request(const payload& from) {
  return read<schema::CancelRequest>(
    from, "a cancellation",
    [](schema::CancelRequest::Reader in) -> result<cancel_request> {
      return cancel_request{text(in.getRun()), in.getNow()};
    });
}

payload encode(const file_request& what) {
  return body<schema::FileRequest>([&what](schema::FileRequest::Builder out) {
    out.setRun(what.run);
    out.setFile(what.file);
    out.setOffset(what.offset);
  });
}

result<file_request> decode_file_request(const payload& from) {
  return read<schema::FileRequest>(
    from, "a request for a file",
    [](schema::FileRequest::Reader in) -> result<file_request> {
      return file_request{text(in.getRun()), text(in.getFile()),
                          in.getOffset()};
    });
}

payload encode(const file_reply& what) {
  auto out =
    body<schema::FileReply>([&what](schema::FileReply::Builder builder) {
      put_list(builder.initFiles(what.files.size()), what.files);
      builder.setSize(what.size);
    });
  out.bulk = cut(what.bytes);
  return out;
}

result<file_reply> decode_file_reply(const payload& from) {
  TRY(auto out,
      read<schema::FileReply>(
        from, "a piece of a file",
        [](schema::FileReply::Reader in) -> result<file_reply> {
          return file_reply{get_texts(in.getFiles()), in.getSize(), {}};
        }));
  for (const auto& piece : from.bulk)
    out.bytes.insert(out.bytes.end(), piece.bytes().begin(),
                     piece.bytes().end());
  return out;
}

} // namespace graphmill
