#include "actors/bench/bench_graph.hpp"
#include "actors/cluster/health/health_keeper.hpp"
#include "actors/http/api/api_answer.hpp"
#include "pipelines/figures/status_json.hpp"
#include "pipelines/health/verdict.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

constexpr int status_rounds = 8;
constexpr int status_daemons = 200;
constexpr int status_actors = 50; ///< Of each.
constexpr int kinds_of_actors = 14;

/// How a run on many daemons is: actors of all kinds, none of whose figures is
/// short to write.
run_health large_run() {
  run_health out;
  out.run = "20261123-070000";
  out.progress = run_progress{.epochs = 10, .loss = 0.123456789};
  for (int d = 0; d < status_daemons; ++d) {
    auto& daemon = out.daemons.emplace_back();
    daemon.daemon = fmt::format("daemon-{}", d);
    daemon.run = out.run;
    daemon.window = 5;
    for (int a = 0; a < status_actors; ++a) {
      auto& actor = daemon.actors.emplace_back();
      actor.kind = static_cast<actor_kind>(1 + a % kinds_of_actors);
      actor.state = actor_state::running;
      actor.batch.emplace();
      actor.busy = 1.0 / (3 + a);
      actor.starved = 1.0 / (7 + a);
      actor.items = std::uint64_t{1'000'003} * unsigned(1 + a + d);
      actor.items_per_second = 1e4 / (3 + a);
      actor.answers = actor.items;
      actor.mean_latency = 1e-3 / (3 + a);
      actor.median_latency = 1e-3 / (7 + a);
      actor.p99_latency = 1e-2 / (3 + a);
    }
  }
  return out;
}

/// The best time of some rounds. @param ask Makes the answer.
template <class Ask>
result<bench_figure> status_figure(const char* name, const Ask& ask) {
  auto whole = std::numeric_limits<double>::max();
  auto text = whole;
  for (int round = 0; round < status_rounds; ++round) {
    std::uint64_t bytes = 0;
    whole = std::min(whole, seconds_of([&] {
                       const auto run = ask();
                       bytes += encode(run).byte_size();
                       bytes += api_text(run_status_json(run)).size();
                     }));
    const auto document = run_status_json(ask());
    text =
      std::min(text, seconds_of([&] { bytes += api_text(document).size(); }));
    if (bytes == 0)
      return fail(ec::internal, "a status of 10,000 actors took no bytes");
  }
  return bench_figure{name, whole * 1e3, "ms/status", text * 1e3, whole / text};
}

} // namespace

/// What the coordinator does for an answer about a run of 10,000 actors: the
/// verdict on all of them, and the message and the document of /api/runs/RUN
/// about as many as it tells of at once; and the same about all of them. The
/// limit: that document's text, once all its values are in place.
result<std::vector<bench_figure>> bench_status(const bench_context&) {
  auto run = large_run();
  const auto now = health_keeper::clock::now();
  health_keeper keeper;
  std::vector<std::string> names;
  for (const auto& daemon : run.daemons)
    names.push_back(daemon.daemon);
  keeper.begin(run.run, std::move(names), 1, status_daemons);
  keeper.led(nullptr, now);
  for (const auto& daemon : run.daemons)
    keeper.take(daemon, now);
  const auto answer = [&] { return keeper.tell({}, now); };
  const auto all = [&] {
    run.verdict = verdict_of(run);
    return run;
  };
  GRAPHMILL_TRY(auto told, status_figure("status", answer));
  GRAPHMILL_TRY(auto whole, status_figure("status_whole", all));
  return std::vector{std::move(told), std::move(whole)};
}

} // namespace graphmill
