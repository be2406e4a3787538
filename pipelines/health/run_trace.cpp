#include "pipelines/health/run_trace.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

namespace graphmill {

namespace {

/// Of training, in the order of the run.
using trained_step = std::pair<std::int32_t, std::int64_t>;

bool is_of_trainer(const daemon_trace& daemon, const trace_span& span) {
  return daemon.actors[span.actor].kind == actor_kind::trainer && span.batch
         && span.batch->phase == phase::train;
}

trained_step step_of(const trace_span& span) {
  return {span.batch->epoch, span.batch->step};
}

bool has_gradients(const run_trace& trace) {
  return std::ranges::any_of(trace.daemons, [](const daemon_trace& daemon) {
    return std::ranges::any_of(daemon.actors, [](const trace_actor& actor) {
      return actor.kind == actor_kind::gradient_group;
    });
  });
}

/// Of training: steps whose gradients have arrived at a trainer. Of a loader:
/// steps whose batches the loop has received.
std::set<trained_step> steps_over(const run_trace& trace) {
  const auto last =
    has_gradients(trace) ? actor_state::waiting : actor_state::running;
  std::set<trained_step> out;
  for (const auto& daemon : trace.daemons)
    for (const auto& span : daemon.spans)
      if (is_of_trainer(daemon, span) && span.state == last)
        out.insert(step_of(span));
  return out;
}

template <class Span>
void keep_between(std::vector<Span>& spans, std::int64_t begin,
                  std::int64_t end) {
  std::erase_if(spans, [begin, end](const Span& span) {
    return span.end < begin || span.begin > end;
  });
  for (auto& span : spans) {
    span.begin = std::max(span.begin, begin);
    span.end = std::min(span.end, end);
  }
}

void keep_between(run_trace& trace, std::int64_t begin, std::int64_t end) {
  for (auto& daemon : trace.daemons) {
    // A ring has its spans in the order in which they ended.
    if (std::ranges::all_of(daemon.spans, [begin](const trace_span& span) {
          return span.end > begin;
        }))
      daemon.lost += daemon.before;
    daemon.before = 0;
    keep_between(daemon.spans, begin, end);
    keep_between(daemon.requests, begin, end);
  }
}

} // namespace

void daemon_trace::take(trace_reply page) {
  if (attempt != 0 && page.attempt != attempt) {
    *this = {.name = name, .clock = clock, .attempt = page.attempt};
    return;
  }
  attempt = page.attempt;
  if (next == 0 && size() == 0)
    before = page.first;
  else if (page.first > next)
    lost += page.first - next;
  next = page.next;
  over = page.over;
  // Actors join, and nobody leaves.
  if (page.actors.size() >= actors.size())
    actors = std::move(page.actors);
  std::ranges::move(page.spans, std::back_inserter(spans));
  std::ranges::move(page.requests, std::back_inserter(requests));
  now = std::move(page.now);
}

void run_trace::align() {
  for (auto& daemon : daemons) {
    std::ranges::move(daemon.now, std::back_inserter(daemon.spans));
    daemon.now.clear();
    for (auto& span : daemon.spans) {
      span.begin -= daemon.clock.ahead;
      span.end -= daemon.clock.ahead;
    }
    for (auto& request : daemon.requests) {
      request.begin -= daemon.clock.ahead;
      request.end -= daemon.clock.ahead;
    }
    daemon.clock.ahead = 0;
  }
}

std::size_t steps_in(const run_trace& trace) {
  return steps_over(trace).size();
}

void keep_last(run_trace& trace, std::int64_t nanoseconds) {
  constexpr auto never = std::numeric_limits<std::int64_t>::min();
  auto end = never;
  auto all_told = std::numeric_limits<std::int64_t>::max();
  for (const auto& daemon : trace.daemons) {
    auto told = never;
    for (const auto& span : daemon.spans)
      told = std::max(told, span.end);
    end = std::max(end, told);
    if (!daemon.over && told != never)
      all_told = std::min(all_told, told);
  }
  if (end == never)
    return;
  end = std::min(end, all_told);
  keep_between(trace, end - nanoseconds, end);
}

void keep_steps(run_trace& trace, std::size_t first, std::size_t steps) {
  const auto all = steps_over(trace);
  std::set<trained_step> kept;
  std::size_t number = 0;
  for (const auto& step : all)
    if (number++ >= first && kept.size() < steps)
      kept.insert(step);
  auto begin = std::numeric_limits<std::int64_t>::max();
  auto end = std::numeric_limits<std::int64_t>::min();
  for (const auto& daemon : trace.daemons)
    for (const auto& span : daemon.spans) {
      if (!span.batch || span.batch->phase != phase::train
          || !kept.contains(step_of(span))
          || daemon.actors[span.actor].kind == actor_kind::dispatcher)
        continue;
      begin = std::min(begin, span.begin);
      end = std::max(end, span.end);
    }
  if (begin <= end)
    keep_between(trace, begin, end);
}

} // namespace graphmill
