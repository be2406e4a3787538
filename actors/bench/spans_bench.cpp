#include "actors/bench/bench_graph.hpp"
#include "pipelines/health/actor_gauge.hpp"

#include <algorithm>
#include <limits>

namespace graphmill {

namespace {

constexpr int span_rounds = 8;
constexpr int spans_a_round = 1'000'000;

/// Seconds for a state of one worker.
double time_states(actor_gauge& gauge) {
  return seconds_of([&gauge] {
           for (int i = 0; i < spans_a_round; ++i)
             gauge.enter(i % 2 == 0 ? actor_state::running
                                    : actor_state::starved);
         })
         / spans_a_round;
}

} // namespace

/// The limit: the same gauge, which keeps no spans.
result<std::vector<bench_figure>> bench_spans(const bench_context&) {
  gauge_board board;
  const auto kept = board.add({actor_kind::trainer});
  actor_gauge plain{{actor_kind::trainer}};
  auto with = std::numeric_limits<double>::max();
  auto without = with;
  for (int round = 0; round < span_rounds; ++round) {
    without = std::min(without, time_states(plain));
    with = std::min(with, time_states(*kept));
  }
  return std::vector{bench_figure{"spans", with * 1e9, "ns/state",
                                  without * 1e9, with / without}};
}

} // namespace graphmill
