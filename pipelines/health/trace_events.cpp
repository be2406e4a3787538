#include "pipelines/health/trace_events.hpp"

#include "partition/files/file_io.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace graphmill {

namespace {

using nlohmann::json;

/// The order of threads: that of a batch's way, then who serves it.
int rank_of(actor_kind kind) {
  constexpr std::array order{
    actor_kind::dispatcher,      actor_kind::batch_proxy,
    actor_kind::sampler,         actor_kind::fetcher,
    actor_kind::batcher,         actor_kind::trainer,
    actor_kind::gradient_group,  actor_kind::sampling_service,
    actor_kind::feature_service, actor_kind::batch_link,
    actor_kind::sampling_proxy,  actor_kind::feature_proxy,
  };
  return static_cast<int>(std::ranges::find(order, kind) - order.begin());
}

/// Whose jobs are batches, by their place on the way; -1: nobody's.
int stage_of(actor_kind kind) {
  switch (kind) {
  case actor_kind::batch_proxy:
    return 0;
  case actor_kind::sampler:
    return 1;
  case actor_kind::fetcher:
    return 2;
  case actor_kind::batcher:
    return 3;
  case actor_kind::trainer:
    return 4;
  default:
    return -1;
  }
}
constexpr std::size_t trainer_stage = 4;

std::string name_of(const trace_actor& actor) {
  std::string out{to_string(actor.kind)};
  if (actor.rank >= 0)
    out += ", rank " + std::to_string(actor.rank);
  if (actor.part >= 0)
    out += ", part " + std::to_string(actor.part);
  if (!actor.peer.empty())
    out += " at " + actor.peer;
  return out;
}

/// A span, and the thread that it is drawn on.
struct drawn_span {
  const trace_span* span = nullptr;
  int pid = 0;
  std::size_t tid = 0;
};

/// A moment of a thread. Nanoseconds.
struct trace_moment {
  const drawn_span* of = nullptr;
  std::int64_t at = 0;
};

/// The spans of one batch, or of one step of a rank.
struct batch_spans {
  /// By stage, the last of each: of a batch that was begun anew, those that led
  /// to its end.
  std::array<drawn_span, trainer_stage + 1> worked{};
  drawn_span waited{}; ///< Of its trainer, for gradients.
};

/// Phase, epoch, step, rank: steps lie together.
using batch_of_trace =
  std::tuple<phase, std::int32_t, std::int64_t, std::int32_t>;

class trace_writer {
public:
  trace_writer(const run_trace& trace,
               const std::function<result<void>(std::string_view)>& out)
    : trace_(trace), out_(out) {}

  result<void> write() {
    find_begin();
    GRAPHMILL_TRYV(out_("{\"displayTimeUnit\":\"ms\",\"otherData\":"));
    GRAPHMILL_TRYV(out_(text(about())));
    GRAPHMILL_TRYV(out_(",\"traceEvents\":["));
    for (std::size_t d = 0; d < trace_.daemons.size(); ++d)
      GRAPHMILL_TRYV(write_daemon(trace_.daemons[d], static_cast<int>(d) + 1));
    GRAPHMILL_TRYV(write_batches());
    GRAPHMILL_TRYV(write_gradients());
    return out_("\n]}\n");
  }

private:
  static std::string text(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
  }

  void find_begin() {
    begin_ = std::numeric_limits<std::int64_t>::max();
    for (const auto& daemon : trace_.daemons) {
      for (const auto& span : daemon.spans)
        begin_ = std::min(begin_, span.begin);
      for (const auto& request : daemon.requests)
        begin_ = std::min(begin_, request.begin);
    }
  }

  json about() const {
    auto daemons = json::object();
    for (const auto& daemon : trace_.daemons)
      daemons[daemon.name] = {
        {"clock_error_us", microseconds(daemon.clock.error)},
        {"spans_lost", daemon.before + daemon.lost}};
    return {
      {"run", trace_.run}, {"daemons", daemons}, {"missing", trace_.missing}};
  }

  static double microseconds(std::int64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1000;
  }
  double since_begin(std::int64_t when) const {
    return microseconds(when - begin_);
  }

  /// Of a slice, in microseconds: its begin and this add up to no more than its
  /// end in floating point, too, where the next slice of the thread begins. By
  /// a digit more, that one would lie inside for viewers that add them up.
  double length_of(std::int64_t begin, std::int64_t end) const {
    auto out = end - begin;
    while (out > 0 && since_begin(begin) + microseconds(out) > since_begin(end))
      --out;
    return microseconds(out);
  }

  result<void> put(const json& event) {
    GRAPHMILL_TRYV(out_(first_ ? "\n" : ",\n"));
    first_ = false;
    return out_(text(event));
  }

  result<void> name_thread(int pid, std::size_t tid, const char* what,
                           json args) {
    return put({{"ph", "M"},
                {"pid", pid},
                {"tid", tid},
                {"name", what},
                {"args", std::move(args)}});
  }

  result<void> write_daemon(const daemon_trace& daemon, int pid) {
    GRAPHMILL_TRYV(
      name_thread(pid, 0, "process_name", {{"name", daemon.name}}));
    GRAPHMILL_TRYV(
      name_thread(pid, 0, "process_sort_index", {{"sort_index", pid}}));
    const auto first = threads_of(daemon);
    for (std::size_t a = 0; a < daemon.actors.size(); ++a) {
      const auto& actor = daemon.actors[a];
      for (std::uint32_t w = 0; w < actor.workers; ++w) {
        auto name = name_of(actor);
        if (actor.workers > 1)
          name += ", worker " + std::to_string(w);
        const auto tid = first[a] + w;
        GRAPHMILL_TRYV(name_thread(pid, tid, "thread_name", {{"name", name}}));
        GRAPHMILL_TRYV(
          name_thread(pid, tid, "thread_sort_index", {{"sort_index", tid}}));
      }
    }
    for (const auto& span : daemon.spans)
      GRAPHMILL_TRYV(write_span(daemon.actors[span.actor],
                                {&span, pid, first[span.actor] + span.worker}));
    for (const auto& request : daemon.requests)
      GRAPHMILL_TRYV(write_request(daemon.actors[request.actor], request, pid,
                                   first[request.actor]));
    return ok();
  }

  /// The thread of the first worker of each actor.
  static std::vector<std::size_t> threads_of(const daemon_trace& daemon) {
    std::vector<std::size_t> order(daemon.actors.size());
    for (std::size_t a = 0; a < order.size(); ++a)
      order[a] = a;
    std::ranges::stable_sort(order, {}, [&daemon](std::size_t a) {
      const auto& actor = daemon.actors[a];
      return std::tuple{rank_of(actor.kind), actor.rank, actor.part};
    });
    std::vector<std::size_t> out(order.size());
    std::size_t next = 1;
    for (const auto a : order) {
      out[a] = next;
      next += daemon.actors[a].workers;
    }
    return out;
  }

  result<void> write_span(const trace_actor& actor, const drawn_span& drawn) {
    const auto& span = *drawn.span;
    const auto length = length_of(span.begin, span.end);
    // Some viewers end what has no length before they begin it.
    if (length == 0 && !span.batch)
      return ok();
    json event{{"ph", "X"},
               {"pid", drawn.pid},
               {"tid", drawn.tid},
               {"ts", since_begin(span.begin)},
               {"dur", length},
               {"cat", to_string(actor.kind)},
               {"name", to_string(span.state)}};
    // A dispatcher has many batches under way.
    if (const auto stage = stage_of(actor.kind); span.batch && stage >= 0) {
      const auto& batch = *span.batch;
      event["args"] = {{"phase", to_string(batch.phase)},
                       {"epoch", batch.epoch + std::int64_t{1}},
                       {"step", batch.step + 1},
                       {"rank", batch.rank}};
      note(drawn, static_cast<std::size_t>(stage));
    }
    return put(event);
  }

  /// For the flows. A trainer computes, waits and applies: the first of that is
  /// where the batch goes.
  void note(const drawn_span& drawn, std::size_t stage) {
    const auto& batch = *drawn.span->batch;
    auto& spans = batches_[{batch.phase, batch.epoch, batch.step, batch.rank}];
    if (drawn.span->state == actor_state::waiting && stage == trainer_stage)
      spans.waited = drawn;
    if (drawn.span->state != actor_state::running)
      return;
    auto& worked = spans.worked[stage];
    const auto is_later =
      worked.span != nullptr && worked.span->begin < drawn.span->begin;
    if (worked.span == nullptr || is_later == (stage != trainer_stage))
      worked = drawn;
  }

  result<void> write_request(const trace_actor& actor,
                             const trace_call& request, int pid,
                             std::size_t tid) {
    json event{{"ph", "b"},
               {"pid", pid},
               {"tid", tid},
               {"id", ++requests_},
               {"cat", "request"},
               {"name", name_of(actor)},
               {"ts", since_begin(request.begin)},
               {"args", {{"bytes", request.bytes}}}};
    GRAPHMILL_TRYV(put(event));
    event["ph"] = "e";
    event["ts"] = since_begin(request.end);
    event.erase("args");
    return put(event);
  }

  // -- flows: an event of one belongs to the span of its thread around its time

  result<void> put_flow(const char* kind, char ph, const trace_moment& moment) {
    json event{{"ph", std::string(1, ph)},
               {"pid", moment.of->pid},
               {"tid", moment.of->tid},
               {"id", flows_},
               {"cat", kind},
               {"name", kind},
               {"ts", since_begin(moment.at)}};
    if (ph != 's')
      event["bp"] = "e";
    return put(event);
  }

  /// The moment within a span that is next to `wanted`, and not at its edge,
  /// where another span may begin.
  static trace_moment within(const drawn_span& drawn, std::int64_t wanted) {
    const auto& span = *drawn.span;
    const auto edge = std::min(widest_edge, (span.end - span.begin) / 2);
    return {&drawn, std::clamp(wanted, span.begin + edge, span.end - edge)};
  }

  result<void> write_batches() {
    for (const auto& [batch, spans] : batches_) {
      std::vector<trace_moment> way;
      for (const auto& drawn : spans.worked)
        if (drawn.span != nullptr)
          way.push_back(within(drawn, way.empty() ? begin_ : way.back().at));
      if (way.size() < 2)
        continue;
      ++flows_;
      for (std::size_t i = 0; i < way.size(); ++i)
        GRAPHMILL_TRYV(put_flow("batch",
                                i == 0                ? 's'
                                : i + 1 == way.size() ? 'f'
                                                      : 't',
                                way[i]));
    }
    return ok();
  }

  /// Steps lie together in `batches_`, one entry for each rank.
  result<void> write_gradients() {
    for (auto it = batches_.begin(); it != batches_.end();) {
      const auto step_of = [](const batch_of_trace& batch) {
        return std::tuple{std::get<0>(batch), std::get<1>(batch),
                          std::get<2>(batch)};
      };
      const auto first = it;
      const drawn_span* last = nullptr;
      for (;
           it != batches_.end() && step_of(it->first) == step_of(first->first);
           ++it) {
        const auto& done = it->second.worked[trainer_stage];
        if (done.span != nullptr
            && (last == nullptr || last->span->end < done.span->end))
          last = &done;
      }
      for (auto rank = first; rank != it; ++rank)
        if (last != nullptr && last != &rank->second.worked[trainer_stage]
            && rank->second.waited.span != nullptr)
          GRAPHMILL_TRYV(write_gradient(*last, rank->second.waited));
    }
    return ok();
  }

  /// By clocks that stand a little apart, a trainer may have waited no longer
  /// than the other one computed.
  result<void> write_gradient(const drawn_span& from, const drawn_span& to) {
    ++flows_;
    const auto latest = within(to, to.span->end).at;
    const auto begin = within(from, std::min(from.span->end, latest));
    GRAPHMILL_TRYV(put_flow("gradients", 's', begin));
    return put_flow("gradients", 'f', within(to, begin.at));
  }

  static constexpr std::int64_t widest_edge = 500; ///< Nanoseconds.

  const run_trace& trace_;
  const std::function<result<void>(std::string_view)>& out_;
  std::int64_t begin_ = 0;
  bool first_ = true;
  std::uint64_t requests_ = 0;
  std::uint64_t flows_ = 0;
  std::map<batch_of_trace, batch_spans> batches_;
};

} // namespace

result<void>
write_trace_events(const run_trace& trace,
                   const std::function<result<void>(std::string_view)>& out) {
  return trace_writer{trace, out}.write();
}

result<void> write_trace_file(const run_trace& trace,
                              const std::filesystem::path& path) {
  constexpr std::size_t piece = 256 * 1024;
  GRAPHMILL_TRY(auto file, scratch_file::create(path, file_access::owner));
  std::string waiting;
  const auto flush = [&] {
    auto written =
      write_all(file.fd(), std::as_bytes(std::span{waiting}), path);
    waiting.clear();
    return written;
  };
  GRAPHMILL_TRYV(
    write_trace_events(trace, [&](std::string_view text) -> result<void> {
      waiting += text;
      return waiting.size() < piece ? ok() : flush();
    }));
  GRAPHMILL_TRYV(flush());
  return file.commit();
}

} // namespace graphmill
