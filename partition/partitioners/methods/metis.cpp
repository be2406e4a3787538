#include "partition/partitioners/methods/metis.hpp"

#include "messages/base/random.hpp"
#include "partition/partitioners/methods/child_process.hpp"

#include <metis.h>

#include <algorithm>
#include <limits>

namespace graphmill {

namespace {

static_assert(sizeof(idx_t) == sizeof(std::int32_t),
              "Adjacencies are built for METIS with 32-bit numbers.");
constexpr auto most_metis_entries =
  std::int64_t{std::numeric_limits<idx_t>::max()};

/// What METIS aims at: half of what is tolerated, for it often misses a little
/// when it has several constraints.
constexpr real_t aimed_imbalance = 1 + balance_tolerance / 2;

/// What METIS calls vertex weights: [vertices, constraints]. METIS adds them up
/// in 32 bits, so constraints whose sum does not fit are scaled down.
template <class Loads>
std::vector<idx_t> weights_of(const Loads& loads,
                              const std::vector<int>& constraints) {
  std::vector<idx_t> out(constraints.size() * loads.size());
  std::vector<std::int64_t> divisors;
  for (auto c : constraints)
    divisors.push_back(loads.total(c) / most_metis_entries + 1);
  for (vertex_id v = 0; v < loads.size(); ++v)
    for (const auto& [c, weight] : loads.items(v)) {
      const auto at = std::find(constraints.begin(), constraints.end(), c)
                      - constraints.begin();
      if (at < static_cast<std::ptrdiff_t>(constraints.size()))
        out[v * constraints.size() + at] =
          static_cast<idx_t>(weight / divisors[at]);
    }
  return out;
}

/// The child's work: METIS's return code.
int call_metis(const adjacency& graph, std::vector<idx_t>& weights,
               idx_t constraints, const metis_options& options,
               std::span<part_id> assignment) {
  std::vector<idx_t> begin(graph.begin.begin(), graph.begin.end());
  auto vertices = static_cast<idx_t>(graph.size());
  auto parts = static_cast<idx_t>(options.parts);
  idx_t cut = 0;
  std::vector<real_t> imbalance(constraints, aimed_imbalance);
  idx_t settings[METIS_NOPTIONS];
  METIS_SetDefaultOptions(settings);
  settings[METIS_OPTION_SEED] = static_cast<idx_t>(mix64(options.seed) >> 33);
  settings[METIS_OPTION_NUMBERING] = 0;
  // METIS takes pointers to what it only reads.
  return METIS_PartGraphKway(
    &vertices, &constraints, begin.data(),
    const_cast<idx_t*>(graph.vertices.data()), weights.data(), nullptr,
    const_cast<idx_t*>(graph.weights.data()), &parts, nullptr, imbalance.data(),
    settings, &cut, assignment.data());
}

/// METIS's codes are negative but for success, and exit codes cannot be, so
/// their signs are turned.
int exit_code_of(int metis_code) {
  return metis_code == METIS_OK ? 0 : -metis_code;
}

result<void> check_code(int exit_code) {
  if (exit_code == 0)
    return ok();
  if (exit_code == exit_code_of(METIS_ERROR_MEMORY))
    return fail(ec::out_of_memory,
                "METIS ran out of memory; free some, or take a way that needs "
                "less: --coarsen always or --method ldg");
  return fail(ec::internal, "METIS failed with code {}", -exit_code);
}

} // namespace

std::vector<int> metis_constraints(const vertex_loads& loads, part_id parts) {
  std::vector<int> large;
  for (int c = 0; c < loads.constraints(); ++c)
    if (loads.total(c) >= least_units_per_part * parts)
      large.push_back(c);
  return large;
}

template <class Loads>
result<metis_outcome> partition_by_metis(const adjacency& graph,
                                         const Loads& loads,
                                         const std::vector<int>& constraints,
                                         const metis_options& options) {
  if (graph.size() > most_metis_entries || graph.entries() > most_metis_entries)
    return fail(ec::invalid_argument,
                "{} nodes with {} neighbours are more than METIS can number "
                "({}); use --coarsen always",
                graph.size(), graph.entries(), most_metis_entries);
  GRAPHMILL_TRY(const auto memory,
                shared_memory::make(graph.size() * sizeof(part_id)));
  const auto assignment = memory.as<part_id>();
  auto weights = weights_of(loads, constraints);
  GRAPHMILL_TRY(const auto child,
                run_in_child(
                  [&] {
                    return exit_code_of(call_metis(
                      graph, weights, static_cast<idx_t>(constraints.size()),
                      options, assignment));
                  },
                  {.name = "METIS",
                   .memory_bytes = options.memory_bytes,
                   .on_wait = [&](pid_t, double seconds) {
                     return !options.on_wait || options.on_wait(seconds);
                   }}));
  GRAPHMILL_TRYV(check_code(child.exit_code));
  for (auto p : assignment)
    if (p < 0 || p >= options.parts)
      return fail(ec::internal, "METIS assigned a node to part {} of {}", p,
                  options.parts);
  return metis_outcome{{assignment.begin(), assignment.end()},
                       child.seconds,
                       child.peak_memory_bytes};
}

template result<metis_outcome> partition_by_metis(const adjacency&,
                                                  const vertex_loads&,
                                                  const std::vector<int>&,
                                                  const metis_options&);
template result<metis_outcome> partition_by_metis(const adjacency&,
                                                  const cluster_loads&,
                                                  const std::vector<int>&,
                                                  const metis_options&);

} // namespace graphmill
