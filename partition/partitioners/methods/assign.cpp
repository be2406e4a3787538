#include "partition/partitioners/methods/assign.hpp"

#include "partition/partitioners/graph/adjacency.hpp"
#include "partition/partitioners/graph/undirected_view.hpp"
#include "partition/partitioners/methods/ldg.hpp"
#include "partition/partitioners/methods/metis.hpp"
#include "partition/partitioners/methods/multilevel.hpp"
#include "partition/partitioners/methods/random_parts.hpp"
#include "partition/partitioners/methods/rebalance.hpp"
#include "partition/partitioners/methods/refinement.hpp"

#include <array>
#include <utility>

namespace graphmill {

namespace {

constexpr std::array<std::pair<partition_method, std::string_view>, 3> methods{
  {{partition_method::metis, "metis"},
   {partition_method::ldg, "ldg"},
   {partition_method::random, "random"}}};

constexpr std::array<std::pair<coarsening, std::string_view>, 3> coarsenings{
  {{coarsening::automatic, "auto"},
   {coarsening::always, "always"},
   {coarsening::never, "never"}}};

/// Memory for turning edges round that is worth taking, and per node.
constexpr std::uint64_t sort_bytes = std::uint64_t{32} << 20;
constexpr std::uint64_t sort_bytes_per_node = 16;

/// Vertices between two calls of the monitor.
constexpr vertex_id tell_interval = 4096;

/// One assignment in the making.
struct work {
  const graph_view& graph;
  const vertex_loads& loads;
  const assign_options& options;
  monitor& watch;
  assigned_parts out;

  result<void> place(const neighbour_lists& neighbours) {
    out.assignment =
      partition_by_ldg(neighbours, loads, options.parts, [this](vertex_id v) {
        return v % tell_interval != 0
               || watch.tell("place nodes", static_cast<std::uint64_t>(v),
                             static_cast<std::uint64_t>(loads.size()));
      });
    return watch.check();
  }

  result<void> balance(const neighbour_lists& neighbours) {
    part_loads held{loads, options.parts, out.assignment};
    const auto moves =
      rebalance(neighbours, loads, held, out.assignment,
                [this] { return watch.tell("balance parts", 0); });
    if (moves != 0)
      out.notes.push_back(
        fmt::format("{} nodes were moved to balance the parts", moves));
    return watch.check();
  }

  result<void> by_random() {
    watch.tell("deal out nodes", 0);
    out.assignment = partition_by_hash(loads, options.parts, options.seed);
    return balance(
      [](vertex_id, std::vector<neighbour>& lists) { lists.clear(); });
  }

  result<void> by_ldg() {
    const auto neighbours = graph.in_neighbours();
    GRAPHMILL_TRYV(place(neighbours));
    return balance(neighbours);
  }

  result<void> by_metis() {
    const auto constraints = metis_constraints(loads, options.parts);
    const auto is_small = loads.size() < least_units_per_part * options.parts
                          || constraints.empty();
    if (!is_small && is_coarsened(options.coarsen, graph.edge_count()))
      return by_coarse_metis(constraints);
    GRAPHMILL_TRY(const auto symmetric, build_adjacency(graph, watch));
    const auto neighbours = neighbours_of(symmetric);
    if (is_small || symmetric.entries() == 0) {
      out.notes.push_back("the graph is too small for METIS: nodes were placed "
                          "one by one beside their neighbours");
      GRAPHMILL_TRYV(place(neighbours));
      return balance(neighbours);
    }
    note_dealt(constraints);
    GRAPHMILL_TRY(auto found, partition_by_metis(symmetric, loads, constraints,
                                                 for_metis()));
    out.assignment = std::move(found.assignment);
    watch.note_memory(found.peak_memory_bytes);
    return balance(neighbours);
  }

  result<void> by_coarse_metis(const std::vector<int>& constraints) {
    note_dealt(constraints);
    const auto sort_memory =
      std::max(sort_bytes,
               sort_bytes_per_node * static_cast<std::uint64_t>(loads.size()));
    GRAPHMILL_TRY(
      const auto both_ways,
      undirected_view::make(graph, options.folder, sort_memory, watch));
    GRAPHMILL_TRY(auto found,
                  partition_by_multilevel(both_ways, loads, constraints,
                                          for_metis(), watch));
    out.assignment = std::move(found.assignment);
    watch.note_memory(found.peak_memory_bytes);
    out.notes.push_back(fmt::format(
      "METIS has cut a coarsened graph of {} nodes and {} edges, and its parts "
      "were refined",
      found.coarse_vertices, found.coarse_edges));
    GRAPHMILL_TRYV(balance(neighbours_of(both_ways)));
    // What was moved for balance may have left better places behind.
    part_loads held{loads, options.parts, out.assignment};
    GRAPHMILL_TRYV(refine(both_ways, held, out.assignment, watch));
    if (auto fault = mapped_file::first_fault())
      return std::move(*fault);
    return ok();
  }

  metis_options for_metis() {
    return {.parts = options.parts,
            .seed = options.seed,
            .memory_bytes = options.metis_memory_bytes,
            .on_wait = [this](double) { return watch.tell("METIS", 0); }};
  }

  void note_dealt(const std::vector<int>& constraints) {
    for (int c = 0; c < loads.constraints(); ++c) {
      if (std::find(constraints.begin(), constraints.end(), c)
            != constraints.end()
          || loads.total(c) == 0)
        continue;
      out.dealt.push_back(c);
      out.notes.push_back(
        fmt::format("{}: {} in {} parts are too few for METIS and were dealt "
                    "out afterwards",
                    loads.constraint_name(c), loads.total(c), options.parts));
    }
  }
};

} // namespace

std::string_view to_string(partition_method method) {
  return methods[static_cast<std::size_t>(method)].second;
}

std::optional<partition_method> method_of(std::string_view name) {
  for (const auto& [method, known] : methods)
    if (known == name)
      return method;
  return std::nullopt;
}

std::optional<coarsening> coarsening_of(std::string_view name) {
  for (const auto& [which, known] : coarsenings)
    if (known == name)
      return which;
  return std::nullopt;
}

bool is_coarsened(coarsening which, std::int64_t edges) {
  return which == coarsening::always
         || (which == coarsening::automatic && edges > largest_whole_graph);
}

result<assigned_parts> assign_parts(const graph_view& graph,
                                    const vertex_loads& loads,
                                    const assign_options& options,
                                    monitor& watch) {
  work todo{graph, loads, options, watch, {}};
  if (options.parts == 1) {
    todo.out.assignment.resize(loads.size());
  } else if (options.method == partition_method::random) {
    GRAPHMILL_TRYV(todo.by_random());
  } else if (options.method == partition_method::ldg) {
    GRAPHMILL_TRYV(todo.by_ldg());
  } else {
    GRAPHMILL_TRYV(todo.by_metis());
  }
  return std::move(todo.out);
}

} // namespace graphmill
