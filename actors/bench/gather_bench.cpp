#include "actors/bench/bench_graph.hpp"
#include "partition/sampling/rows/gather.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#ifdef __SSE2__
#  include <immintrin.h>
#endif

namespace graphmill {

namespace {

constexpr int gather_rounds = 5;
constexpr int repetitions = 15; ///< As many looks as the limit gets.

/// Batches that are written in turn, as in a run: to the same memory again and
/// again, a large cache would spare the way to memory.
constexpr std::size_t targets = 5;

/// Copies rows one by one, asking for those `distance` further on.
template <class Copy>
double time_copies(const float* from, std::int64_t width,
                   std::span<const node_id> ids, float* out,
                   std::size_t distance, Copy copy) {
  return seconds_of([from, width, ids, out, distance, copy] {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto next = std::min(i + distance, ids.size() - 1);
      const auto* ahead = from + ids[next] * width;
      for (std::int64_t at = 0; at < width; at += 16)
        __builtin_prefetch(ahead + at);
      __builtin_prefetch(ahead + width - 1);
      copy(out + static_cast<std::int64_t>(i) * width, from + ids[i] * width,
           width);
    }
  });
}

void copy_cached(float* out, const float* from, std::int64_t width) {
  std::memcpy(out, from, static_cast<std::size_t>(width) * sizeof(float));
}

/// Past the cache. Rows of 16-byte multiples only, as those of the graph are.
void copy_streaming(float* out, const float* from, std::int64_t width) {
#ifdef __SSE2__
  for (std::int64_t at = 0; at < width; at += 4)
    _mm_stream_ps(out + at, _mm_loadu_ps(from + at));
#else
  copy_cached(out, from, width);
#endif
}

#ifdef __SSE2__
/// The same by stores of 32 bytes.
__attribute__((target("avx2"))) void
copy_streaming_wide(float* out, const float* from, std::int64_t width) {
  std::int64_t at = 0;
  if (reinterpret_cast<std::uintptr_t>(out) % 32 != 0 && width != 0) {
    _mm_stream_ps(out, _mm_loadu_ps(from));
    at = 4;
  }
  for (; at + 8 <= width; at += 8)
    _mm256_stream_ps(out + at, _mm256_loadu_ps(from + at));
  if (at < width)
    _mm_stream_ps(out + at, _mm_loadu_ps(from + at));
}
#endif

/// The limit: the fastest copy known of the same rows to memory that has been
/// written before.
template <class Target>
double time_fastest_copy(const float* from, std::int64_t width,
                         std::span<const node_id> ids, Target next_target) {
  auto best = std::numeric_limits<double>::max();
  const auto look = [&](auto copy, std::size_t distance) {
    best = std::min(
      best, time_copies(from, width, ids, next_target(), distance, copy));
  };
  for (std::size_t distance : {8, 16, 24, 30, 36}) {
    look(copy_cached, distance);
    look(copy_streaming, distance);
#ifdef __SSE2__
    if (__builtin_cpu_supports("avx2"))
      look(copy_streaming_wide, distance);
#endif
  }
  return best;
}

} // namespace

result<std::vector<bench_figure>> bench_gather(const bench_context& context) {
  GRAPHMILL_TRY(const auto on, open_bench_graph(context));
  const auto& info = on.graph.info();
  const auto pool = buffer_pool::make(std::size_t{1} << 30);
  const auto width = info.node_types[info.target].feature_width;
  best_times best;
  for (int round = 0; round <= gather_rounds; ++round) {
    const auto seeds = bench_seeds(on.graph, round);
    GRAPHMILL_TRY(const auto batch,
                  sample(on.graph, on.shards, bench_scheme(info),
                         bench_key(context, round), seeds, pool));
    const auto ids = batch.nodes[info.target].ids.span();
    std::vector<pod_vector<float>> out;
    for (std::size_t i = 0; i < targets; ++i) {
      auto& target_rows = out.emplace_back(pool);
      target_rows.resize(ids.size() * static_cast<std::size_t>(width));
      std::memset(target_rows.data(), 0, target_rows.span().size_bytes());
    }
    const auto next_target = [&out, i = std::size_t{0}]() mutable {
      return out[i++ % targets].data();
    };
    const auto bytes = double(out[0].span().size_bytes());
    const auto& nodes = on.shards[0]->nodes(info.target);
    const auto* rows = reinterpret_cast<const float*>(nodes.features);
    auto seconds = std::numeric_limits<double>::max();
    for (int i = 0; i < repetitions; ++i) {
      result<void> done = ok();
      auto* to = out[static_cast<std::size_t>(i) % targets].data();
      seconds = std::min(seconds, seconds_of([&done, &on, &info, ids, to] {
                           done = gather_features(*on.shards[0], info.target,
                                                  ids, {}, to);
                         }));
      GRAPHMILL_TRYV(std::move(done));
    }
    const auto limit = time_fastest_copy(rows, width, ids, next_target);
    keep(out[0][0]);
    if (round == 0)
      continue; // It has paid for the page faults.
    best.add(seconds, limit, bytes);
  }
  return std::vector{best.figure("gather", "GB/s", 1e9)};
}

} // namespace graphmill
