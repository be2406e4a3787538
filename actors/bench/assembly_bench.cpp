#include "actors/bench/bench_graph.hpp"
#include "pipelines/flow/assembly.hpp"
#include "pipelines/flow/batch_needs.hpp"

#include <cstring>

namespace graphmill {

namespace {

constexpr int assembly_rounds = 8;

/// The limit: what a counting sort must do for each edge, count it and put it
/// in its place, with the places known beforehand.
double time_counting(const csr& forward, const csr& transposed,
                     const std::shared_ptr<buffer_pool>& pool) {
  const auto edges = transposed.columns.size();
  pod_vector<std::int32_t> counters{pool};
  pod_vector<local_id> places{pool};
  pod_vector<local_id> out{pool};
  const auto clear = [&counters, &transposed] {
    counters.resize(transposed.indptr.size());
    std::memset(counters.data(), 0, counters.span().size_bytes());
  };
  clear();
  places.resize(edges);
  for (std::size_t i = 0; i < edges; ++i) {
    const auto row = static_cast<std::size_t>(forward.columns[i]);
    places[i] = static_cast<local_id>(transposed.indptr[row] + counters[row]++);
  }
  clear();
  out.resize(edges);
  std::memset(out.data(), 0, out.span().size_bytes());
  const auto seconds = seconds_of([&counters, &places, &out, &forward, edges] {
    for (std::size_t i = 0; i < edges; ++i)
      ++counters[static_cast<std::size_t>(forward.columns[i])];
    for (std::size_t i = 0; i < edges; ++i)
      out[static_cast<std::size_t>(places[i])] = static_cast<local_id>(i);
  });
  keep(counters[0]);
  keep(out[0]);
  return seconds;
}

} // namespace

result<std::vector<bench_figure>> bench_assembly(const bench_context& context) {
  GRAPHMILL_TRY(const auto on, open_bench_graph(context));
  const auto& info = on.graph.info();
  const auto pool = buffer_pool::make(std::size_t{1} << 30);
  const batch_needs needs{true, false, true}; // Transposed for all layers.
  best_times best;
  for (int round = 0; round <= assembly_rounds; ++round) {
    fetched_batch fetched;
    GRAPHMILL_TRY(fetched.graph, sample(on.graph, on.shards, bench_scheme(info),
                                        bench_key(context, round),
                                        bench_seeds(on.graph, round), pool));
    const auto start = std::chrono::steady_clock::now();
    GRAPHMILL_TRY(const auto batch,
                  assemble(std::move(fetched), needs, info, pool));
    const auto seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
        .count();
    const auto& relation = batch.relations[0];
    double edges = 0;
    double limit = 0;
    for (const auto& transposed : relation.transposed) {
      edges += double(transposed.columns.size());
      limit += time_counting(relation.forward, transposed, pool);
    }
    if (round == 0)
      continue; // It has paid for the page faults.
    best.add(seconds, limit, edges);
  }
  return std::vector{best.figure("assembly", "million edges/s", 1e6)};
}

} // namespace graphmill
