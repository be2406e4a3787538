#include "actors/bench/bench_graph.hpp"

#include <algorithm>

namespace graphmill {

namespace {

constexpr int sampling_rounds = 5;
constexpr int batches = 4; ///< Per round.

/// The limit: a read of 4 bytes at a place that depends on nothing before it,
/// for each sampled edge.
double time_random_reads(id_span indices, std::int64_t reads,
                         std::uint64_t seed) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(indices.data);
  const auto size =
    static_cast<std::uint64_t>(indices.size) * (indices.wide ? 2 : 1);
  std::uint32_t sum = 0;
  const auto seconds = seconds_of([&sum, words, size, reads, seed] {
    auto place = seed;
    for (std::int64_t i = 0; i < reads; ++i) {
      place += 0x9e3779b97f4a7c15ull;
      sum += words[((mix64(place) >> 32) * size) >> 32];
    }
  });
  keep(sum);
  return seconds;
}

struct totals {
  best_times times;
  double bytes = 0; ///< Of working memory per edge, at most.
};

result<void> run_round(const bench_context& context, const bench_graph& on,
                       const sampling_scheme& scheme, int round,
                       const std::shared_ptr<buffer_pool>& pool, totals& best) {
  std::int64_t edges = 0;
  double seconds = 0;
  for (int i = 0; i < batches; ++i) {
    const auto step = round * batches + i;
    const auto seeds = bench_seeds(on.graph, step);
    const auto before = pool->live_bytes();
    pool->reset_peak();
    const auto start = std::chrono::steady_clock::now();
    GRAPHMILL_TRY(const auto batch,
                  sample(on.graph, on.shards, scheme, bench_key(context, step),
                         seeds, pool));
    seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
        .count();
    const auto found = static_cast<std::int64_t>(batch.edges[0].sources.size());
    const auto extra = pool->peak_bytes() - before - batch.byte_size();
    best.bytes = std::max(best.bytes, double(extra) / double(found));
    edges += found;
  }
  const auto reading = time_random_reads(on.shards[0]->edges(0).indices, edges,
                                         bench_key(context, round));
  best.times.add(seconds, reading, double(edges));
  return ok();
}

} // namespace

result<std::vector<bench_figure>> bench_sampling(const bench_context& context) {
  GRAPHMILL_TRY(const auto on, open_bench_graph(context));
  const auto scheme = bench_scheme(on.graph.info());
  const auto pool = buffer_pool::make(std::size_t{1} << 30);
  totals best;
  GRAPHMILL_TRYV(
    run_round(context, on, scheme, 0, pool, best)); // Warms up maps and pool.
  best = {};
  for (int round = 1; round <= sampling_rounds; ++round)
    GRAPHMILL_TRYV(run_round(context, on, scheme, round, pool, best));
  return std::vector<bench_figure>{
    best.times.figure("sampling", "million edges/s", 1e6),
    {"sampling memory", best.bytes, "bytes/edge", 12, best.bytes / 12},
  };
}

} // namespace graphmill
