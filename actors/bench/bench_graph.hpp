#pragma once

#include "actors/bench/bench.hpp"
#include "messages/base/random.hpp"
#include "partition/sampling/sampling.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// The graph that all benchmarks use: R-MAT with 2^scale nodes and 24 times as
/// many edges, 100 features and 47 classes, generated once and kept.
struct bench_graph {
  partitioned_graph graph;
  std::vector<std::shared_ptr<const shard>> shards;
};
result<bench_graph> open_bench_graph(const bench_context& context);

/// Where its dataset lies; made if it is not there.
result<std::filesystem::path> bench_dataset(const bench_context& context);

/// Fanouts 15, 10, 5.
sampling_scheme bench_scheme(const dataset_info& info);

inline constexpr std::size_t bench_batch_size = 1024;

/// The training seeds of a batch; they wrap around.
std::vector<node_id> bench_seeds(const partitioned_graph& graph,
                                 std::int64_t step);

inline std::uint64_t bench_key(const bench_context& context,
                               std::int64_t step) {
  return stream_key(context.seed, purpose::train, 0,
                    static_cast<std::uint64_t>(step));
}

/// Seconds that `work` takes.
template <class Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
    .count();
}

/// The shortest times so far of a piece of work and of its limit.
struct best_times {
  double work = std::numeric_limits<double>::max(); ///< Seconds per unit.
  double limit = std::numeric_limits<double>::max();

  void add(double work_seconds, double limit_seconds, double units) {
    work = std::min(work, work_seconds / units);
    limit = std::min(limit, limit_seconds / units);
  }

  /// Both as rates, in units of `scale` per second.
  bench_figure figure(std::string name, std::string unit, double scale) const {
    return {std::move(name), 1 / (scale * work), std::move(unit),
            1 / (scale * limit), limit / work};
  }
};

/// Makes the compiler believe that a value is used.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

} // namespace graphmill
