#include "partition/importers/rmat/rmat.hpp"

#include "messages/base/random.hpp"
#include "partition/importers/reverse.hpp"
#include "partition/importers/rmat/planted_labels.hpp"
#include "partition/importers/rmat/rmat_edges.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "partition/writing/memory_needs.hpp"

#include <algorithm>
#include <vector>

namespace graphmill {

namespace {

std::int64_t node_count(const rmat_options& options) {
  return std::int64_t{1} << options.scale;
}

std::int64_t edge_count(const rmat_options& options) {
  constexpr std::int64_t default_edges_per_node = 24;
  return options.edges != 0 ? options.edges
                            : default_edges_per_node * node_count(options);
}

dataset_info describe(const rmat_options& options) {
  dataset_info info;
  info.name =
    options.name.empty() ? fmt::format("rmat-{}", options.scale) : options.name;
  info.provenance = fmt::format(
    "R-MAT generator of graphmill: scale {}, {} edges, a {}, b {}, c {}, "
    "seed {}",
    options.scale, edge_count(options), options.a, options.b, options.c,
    options.seed);
  node_type_info nodes;
  nodes.name = "node";
  nodes.count = node_count(options);
  nodes.feature_width = options.feature_width;
  nodes.class_count = options.class_count;
  info.node_types.push_back(std::move(nodes));
  info.edge_types.push_back({.name = "links", .weighted = options.weights});
  if (options.reverse)
    add_reverse_types(info);
  return info;
}

result<void> write_features(const rmat_options& options,
                            planted_labels& planted, dataset_writer& writer,
                            const progress_callback& on_progress) {
  const auto width = static_cast<std::size_t>(options.feature_width);
  const auto total = node_count(options);
  const auto chunk = std::min<std::int64_t>(total, 4096);
  std::vector<float> rows(static_cast<std::size_t>(chunk) * width);
  for (node_id begin = 0; begin < total; begin += chunk) {
    for (node_id i = 0; i < chunk; ++i)
      planted.draw_features(
        begin + i,
        std::span{rows}.subspan(static_cast<std::size_t>(i) * width, width));
    GRAPHMILL_TRYV(writer.append_features(0, rows));
    if (on_progress)
      on_progress({"draw features", static_cast<std::uint64_t>(begin + chunk),
                   static_cast<std::uint64_t>(total), 0});
  }
  return ok();
}

/// Weights have draws of their own, so that edges are the same without.
float weight_of_edge(const rmat_options& options, std::int64_t edge) {
  constexpr std::uint64_t weight_stream = 5;
  constexpr std::uint32_t steps = std::uint32_t{1} << 16;
  random_stream draws{
    stream_key(options.seed, purpose::generate, weight_stream, 0),
    static_cast<std::uint64_t>(edge)};
  return static_cast<float>(1 + draws.below(steps)) / (steps / 2);
}

result<void> write_edges(const rmat_options& options, planted_labels& planted,
                         dataset_writer& writer,
                         const progress_callback& on_progress) {
  const rmat_edges edges{options};
  const auto total = edge_count(options);
  constexpr std::int64_t chunk = 65536;
  std::vector<node_id> sources;
  std::vector<node_id> destinations;
  std::vector<float> weights;
  for (std::int64_t begin = 0; begin < total; begin += chunk) {
    sources.clear();
    destinations.clear();
    weights.clear();
    const auto end = std::min(begin + chunk, total);
    for (auto e = begin; e < end; ++e) {
      const auto [source, destination] = edges(e);
      sources.push_back(source);
      destinations.push_back(destination);
      if (options.weights)
        weights.push_back(weight_of_edge(options, e));
    }
    // Apart from the drawing, so that cache misses of many edges overlap.
    for (std::size_t i = 0; i < sources.size(); ++i)
      planted.add_edge(sources[i], destinations[i]);
    GRAPHMILL_TRYV(append_both_ways(writer, 0, options.reverse ? 1 : -1,
                                    sources, destinations, weights));
    if (on_progress)
      on_progress({"draw edges", static_cast<std::uint64_t>(end),
                   static_cast<std::uint64_t>(total), 0});
  }
  return ok();
}

result<void> check_memory(const rmat_options& options) {
  // Sums, the order of the split or labels twice, and degrees for sorting.
  constexpr auto per_node = planted_labels::bytes_per_node + 24;
  const auto short_of =
    memory_shortage(fmt::format("scale {}", options.scale),
                    static_cast<std::uint64_t>(node_count(options)) * per_node);
  if (short_of)
    return fail(ec::out_of_memory, "{}; choose a smaller scale", *short_of);
  return ok();
}

} // namespace

result<void> validate(const rmat_options& options) {
  if (options.scale < 1 || options.scale > 30)
    return fail(ec::invalid_argument, "the scale is {}; it must be 1 to 30",
                options.scale);
  constexpr std::int64_t most_edges = std::int64_t{1} << 40;
  if (options.edges < 0 || options.edges > most_edges)
    return fail(ec::invalid_argument,
                "the number of edges is {}; it must be 1 to 2^40, or 0 for 24 "
                "per node",
                options.edges);
  // Written so that NaN fails.
  if (!(options.a >= 0 && options.b >= 0 && options.c >= 0
        && options.a + options.b + options.c <= 1 + 1e-9))
    return fail(ec::invalid_argument,
                "a = {}, b = {} and c = {} must not be negative or exceed 1 "
                "together",
                options.a, options.b, options.c);
  if (options.feature_width < 1 || options.feature_width > 65536)
    return fail(ec::invalid_argument,
                "the feature width is {}; it must be 1 to 65536",
                options.feature_width);
  if (options.class_count < 2 || options.class_count > 65536)
    return fail(ec::invalid_argument,
                "the number of classes is {}; it must be 2 to 65536",
                options.class_count);
  GRAPHMILL_TRYV(validate(options.fractions));
  return check_memory(options);
}

result<dataset_info> import_rmat(const rmat_options& options,
                                 const std::filesystem::path& folder,
                                 const progress_callback& on_progress) {
  GRAPHMILL_TRYV(validate(options));
  dataset_writer::options how;
  how.on_progress = on_progress;
  GRAPHMILL_TRY(auto writer,
                dataset_writer::create(folder, describe(options), how));
  const auto splits =
    keyed_split(node_count(options), options.fractions, options.seed);
  for (std::size_t s = 0; s < all_splits.size(); ++s)
    GRAPHMILL_TRYV(writer.set_split(0, all_splits[s], splits[s]));
  {
    planted_labels planted{node_count(options), options.feature_width,
                           options.class_count, options.seed};
    GRAPHMILL_TRYV(write_features(options, planted, writer, on_progress));
    GRAPHMILL_TRYV(write_edges(options, planted, writer, on_progress));
    GRAPHMILL_TRYV(writer.set_labels(0, planted.labels()));
  } // Frees the sums before edges are sorted.
  return writer.finish();
}

} // namespace graphmill
