#include "actors/cluster/client/fetch_trace.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

using namespace std::chrono_literals;

/// Questions to each daemon that compare clocks; the one that took least
/// counts.
constexpr int clock_questions = 5;

/// Answers of one daemon that are asked for without looking at others: twice as
/// many as it can have spans for.
constexpr int most_pages = 2 * (1 << 16) / int{trace_limits::spans} + 2;

/// How often daemons are asked while steps are waited for. The last spans are
/// overwritten much later.
constexpr auto trace_interval = 200ms;

/// What viewers can still show, and some hundred MB here.
constexpr std::size_t most_spans = std::size_t{1} << 20;

class trace_collector {
public:
  trace_collector(cluster_client& client, const trace_wish& wish,
                  signal_watch& signals)
    : client_(client), wish_(wish), signals_(signals) {
    out_.run = wish.run;
  }

  result<void> begin() {
    GRAPHMILL_TRY(const auto known, client_.trace({wish_.run, {}, 0, 0}));
    for (const auto& name : known.daemons)
      GRAPHMILL_TRYV(meet(name));
    if (out_.daemons.empty())
      return fail(ec::not_found,
                  "no daemon has traces of run {}: each keeps those of the "
                  "latest run that it was part of{}",
                  wish_.run,
                  out_.missing.empty() ? "" : ", and some did not answer");
    return collect();
  }

  /// The steps after those that are known, or the last ones of a run that ends.
  result<void> wait_for_steps() {
    before_ = steps_in(out_);
    while (steps_in(out_) < before_ + wish_.steps && !is_over()
           && size() < most_spans)
      GRAPHMILL_TRYV(look_again());
    // A thread may be about to write what was over before.
    return is_over() ? ok() : look_again();
  }

  /// Which step to begin with.
  std::size_t first_step() const {
    const auto known = steps_in(out_);
    return std::min(before_, known > wish_.steps ? known - wish_.steps : 0);
  }

  run_trace take() { return std::move(out_); }

private:
  /// Compares clocks with a daemon, if it has something to tell.
  result<void> meet(const std::string& name) {
    std::vector<clock_probe> probes;
    for (int i = 0; i < clock_questions; ++i) {
      const auto told = client_.trace({wish_.run, name, 0, 0});
      if (!told)
        return pass_over(name, told.error());
      const auto& times = told.value();
      probes.push_back({times.asked, times.came, times.left, times.answered});
    }
    const auto clock = offset_by(probes);
    if (!clock) { // It answers before it is asked: others can be compared.
      out_.missing.push_back(name);
      return ok();
    }
    daemon_trace daemon;
    daemon.name = name;
    daemon.clock = *clock;
    out_.daemons.push_back(std::move(daemon));
    return ok();
  }

  /// A daemon that was no part of the run, or cannot be asked, is left out.
  result<void> pass_over(const std::string& name, const error& why) {
    if (why.code == ec::cancelled)
      return why;
    if (why.code != ec::not_found)
      out_.missing.push_back(name);
    return ok();
  }

  result<void> look_again() {
    signals_.wait(trace_interval);
    if (signals_.count() != 0)
      return fail(ec::cancelled, "interrupted; nothing is written");
    return collect();
  }

  result<void> collect() {
    for (auto& daemon : out_.daemons)
      if (!daemon.over)
        GRAPHMILL_TRYV(collect(daemon));
    return ok();
  }

  /// What it has told by now stays, if it cannot be asked any more.
  result<void> collect(daemon_trace& daemon) {
    for (int page = 0; page < most_pages && size() < most_spans; ++page) {
      auto told = client_.trace(
        {wish_.run, daemon.name, daemon.next, trace_limits::spans});
      if (!told) {
        daemon.over = true;
        return pass_over(daemon.name, told.error());
      }
      const auto more = told.value().more;
      daemon.take(std::move(told).value());
      if (!more)
        return ok();
    }
    return ok();
  }

  bool is_over() const {
    return std::ranges::all_of(out_.daemons, &daemon_trace::over);
  }
  std::size_t size() const {
    std::size_t out = 0;
    for (const auto& daemon : out_.daemons)
      out += daemon.size();
    return out;
  }

  cluster_client& client_;
  const trace_wish& wish_;
  signal_watch& signals_;
  run_trace out_;
  std::size_t before_ = 0; ///< Steps that were known at first.
};

} // namespace

result<run_trace> fetch_trace(cluster_client& client, const trace_wish& wish,
                              signal_watch& signals) {
  trace_collector collector{client, wish, signals};
  GRAPHMILL_TRYV(collector.begin());
  if (wish.steps != 0)
    GRAPHMILL_TRYV(collector.wait_for_steps());
  const auto first = collector.first_step();
  auto out = collector.take();
  out.align();
  if (wish.steps != 0)
    keep_steps(out, first, wish.steps);
  else
    keep_last(out, std::chrono::nanoseconds{wish.last}.count());
  return out;
}

} // namespace graphmill
