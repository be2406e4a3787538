#include "partition/dataset/inspection/early_edges.hpp"

#include "messages/base/ids.hpp"
#include "messages/base/pluralized.hpp"
#include "partition/dataset/shard.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <span>

namespace graphmill {

namespace {

using tick_span = std::span<const std::int64_t>;

/// Of nodes or edges; empty: they have none.
result<tick_span> times_in(const std::optional<npy_array>& times) {
  return times ? times->as<std::int64_t>() : result<tick_span>{tick_span{}};
}

} // namespace

result<std::int64_t> count_early_edges(const dataset& data, edge_type_id type) {
  const auto& about = data.info().edge_types[static_cast<std::size_t>(type)];
  const auto& arrays = data.edges(type);
  GRAPHMILL_TRY(const auto times, times_in(arrays.times));
  GRAPHMILL_TRY(const auto of_sources,
                times_in(data.nodes(about.source).times));
  GRAPHMILL_TRY(const auto of_destinations,
                times_in(data.nodes(about.destination).times));
  if (times.empty() || (of_sources.empty() && of_destinations.empty()))
    return 0;
  GRAPHMILL_TRY(const auto begin, arrays.indptr.as<std::int64_t>());
  const id_span sources{arrays.indices.data(), arrays.indices.size(),
                        arrays.indices.type() == dtype::int64};
  const auto is_after = [](tick_span nodes, node_id node, std::int64_t time) {
    return node >= 0 && node < std::ssize(nodes)
           && nodes[static_cast<std::size_t>(node)] > time;
  };
  std::int64_t early = 0;
  auto own = of_sources.empty(); // Whether there is a time of no source.
  for (std::size_t d = 0; d + 1 < begin.size(); ++d)
    for (auto e = begin[d]; e < begin[d + 1]; ++e) {
      const auto time = times[static_cast<std::size_t>(e)];
      const auto source = sources[e];
      own = own
            || (source >= 0 && source < std::ssize(of_sources)
                && of_sources[static_cast<std::size_t>(source)] != time);
      early += is_after(of_sources, source, time)
                   || is_after(of_destinations, static_cast<node_id>(d), time)
                 ? 1
                 : 0;
    }
  return own ? early : 0;
}

result<std::vector<std::string>> notes_on_early_edges(const dataset& data) {
  std::vector<std::string> out;
  for (edge_type_id type = 0; type < std::ssize(data.info().edge_types);
       ++type) {
    GRAPHMILL_TRY(const auto early, count_early_edges(data, type));
    if (early > 0)
      out.push_back(fmt::format(
        "{}: {} of {} edges are before the time of one of their nodes, which "
        "sampling by time finds although it does not exist yet; compare the "
        "times of nodes with those of edges",
        data.info().edge_type_name(type), early,
        data.info().edge_types[static_cast<std::size_t>(type)].count));
  }
  return out;
}

} // namespace graphmill
