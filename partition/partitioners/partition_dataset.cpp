#include "partition/partitioners/partition_dataset.hpp"

#include "messages/base/pluralized.hpp"
#include "messages/words/byte_text.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/digest.hpp"
#include "partition/dataset/meaning/feature_meaning.hpp"
#include "partition/dataset/meaning/original_names.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"
#include "partition/growing/grown_arrays.hpp"
#include "partition/growing/grown_dataset.hpp"
#include "partition/partitioners/graph/monitor.hpp"
#include "partition/partitioners/methods/ldg.hpp"
#include "partition/partitioners/parts_writer.hpp"
#include "partition/writing/prepare.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::size_t largest_report = std::size_t{1} << 28;

/// Of files of seeds, of tasks or of maps of ids, by their paths within the
/// folder.
using file_digests = std::map<std::string, std::string>;

/// What identifies the content: datasets that other tools have written may lack
/// the digest.
result<std::string> digest_of(const dataset& data,
                              const progress_callback& on_progress) {
  if (!data.info().digest.empty())
    return data.info().digest;
  return content_digest(data, on_progress);
}

/// A part's edges come from nodes that other parts own.
result<void> refuse_part(const dataset& data) {
  GRAPHMILL_TRY(const auto about,
                read_json(data.folder() / "dataset.json", largest_report));
  if (about.contains("part"))
    return fail(ec::invalid_argument,
                "{} is one part of a partitioned dataset; partition the "
                "dataset that it was made of",
                data.folder().string());
  return ok();
}

result<void> write_partitions_json(
  const graph_view& graph, const renumbering& numbers,
  const std::vector<written_part>& parts, const partition_report& report,
  const std::string& source_digest, const file_digests& seeds,
  const file_digests& orders, const fs::path& folder) {
  GRAPHMILL_TRY(
    const auto source,
    read_json(graph.data().folder() / "dataset.json", largest_report));
  auto digests = json::array();
  auto blocks = json::array();
  for (const auto& part : parts) {
    digests.push_back(part.digest);
    blocks.push_back(part.blocks);
  }
  json offsets;
  for (node_type_id t = 0; t < std::ssize(graph.info().node_types); ++t)
    offsets[graph.info().node_types[t].name] = numbers.offsets[t];
  json out{{"format_version", partitions_format_version},
           {"parts", report.parts},
           {"method", to_string(report.method)},
           {"seed", report.seed},
           {"dataset", source},
           {"source_digest", source_digest},
           {"part_digests", digests},
           {"block_digests", blocks},
           {"seed_digests", seeds},
           {"order_digests", orders},
           {"offsets", offsets},
           {"report", to_json(report)}};
  out[own_digest_field] = own_digest(out);
  return write_text(folder / "partitions.json", out.dump(2) + '\n');
}

bool wants_coarsening(const partition_options& options, std::int64_t edges) {
  return options.method == partition_method::metis
         && is_coarsened(options.coarsen, edges);
}

partition_report start_report(const graph_view& graph,
                              const vertex_loads& loads,
                              const partition_options& options,
                              const assigned_parts& assigned) {
  partition_report report;
  report.parts = options.parts;
  report.method = options.method;
  report.coarsened = wants_coarsening(options, graph.edge_count());
  report.seed = options.seed;
  report.nodes = graph.vertex_count();
  report.edges = graph.edge_count();
  for (const auto& type : graph.info().node_types)
    report.node_types.push_back(type.name);
  report.balance = balance_of(loads, options.parts, assigned);
  report.notes = assigned.notes;
  for (const auto& array : unused_arrays(graph.data()))
    report.notes.push_back(
      fmt::format("{} is not carried over: nothing uses it yet", array));
  return report;
}

/// Names that nodes had before the import, for predictions.
result<void> share_names_of_nodes(const fs::path& from,
                                  const dataset_info& info,
                                  const fs::path& folder) {
  for (std::size_t t = 0; t < info.node_types.size(); ++t)
    for (const auto* name : {ids_file, "node_names.txt"}) {
      const auto type = static_cast<node_type_id>(t);
      const auto source = node_folder(from, info, type) / name;
      const auto target = node_folder(folder, info, type) / name;
      std::error_code failed;
      if (!fs::exists(source, failed))
        continue;
      fs::create_directories(target.parent_path(), failed);
      GRAPHMILL_TRYV(take_file(source, target));
    }
  return ok();
}

/// Decides who owns which node.
using part_chooser = std::function<result<assigned_parts>(
  const graph_view&, const vertex_loads&, monitor&)>;

/// @param first_cut As in the report.
result<partition_report> write_partitions(const dataset& data,
                                          const partition_options& options,
                                          const fs::path& folder,
                                          const part_chooser& choose,
                                          std::optional<double> first_cut) {
  GRAPHMILL_TRYV(refuse_part(data));
  const auto estimate = estimate_partition(data.info(), options);
  monitor watch{options.on_progress, options.stop, estimate.seconds};
  GRAPHMILL_TRY(const auto graph, graph_view::open(data, watch));
  GRAPHMILL_TRY(const auto source_digest, digest_of(data, options.on_progress));
  const auto loads = graph.loads();
  GRAPHMILL_TRY(const auto assigned, choose(graph, loads, watch));
  auto report = start_report(graph, loads, options, assigned);
  report.first_cut = first_cut;
  const auto numbers =
    renumber(graph.type_begin(), assigned.assignment, options.parts);
  GRAPHMILL_TRY(const auto parts, write_parts(graph, assigned.assignment,
                                              numbers, folder, watch));
  for (const auto& part : parts) {
    report.cut_edges += part.row.cut_edges;
    report.part_rows.push_back(part.row);
  }
  GRAPHMILL_TRY(auto seeds, write_seeds(graph, numbers, folder));
  GRAPHMILL_TRY(auto tasks, write_tasks(graph, numbers, folder));
  seeds.merge(tasks);
  GRAPHMILL_TRY(const auto orders, write_orders(graph, numbers, folder));
  GRAPHMILL_TRYV(write_partitions_json(graph, numbers, parts, report,
                                       source_digest, seeds, orders, folder));
  GRAPHMILL_TRY(const auto features,
                read_feature_meanings(graph.data().folder(), graph.info()));
  GRAPHMILL_TRYV(write_feature_meanings(folder, features));
  GRAPHMILL_TRY(const auto names, read_original_names(graph.data().folder()));
  GRAPHMILL_TRYV(write_original_names(folder, names));
  GRAPHMILL_TRYV(
    share_names_of_nodes(graph.data().folder(), graph.info(), folder));
  watch.tell("done", 1, 1);
  report.memory_bytes = watch.peak_memory_bytes();
  return report;
}

result<partition_report> do_partition(const dataset& data,
                                      const partition_options& options,
                                      const fs::path& folder) {
  const auto choose = [&](const graph_view& graph, const vertex_loads& loads,
                          monitor& watch) {
    return assign_parts(graph, loads,
                        {.parts = options.parts,
                         .method = options.method,
                         .coarsen = options.coarsen,
                         .seed = options.seed,
                         .metis_memory_bytes = options.metis_memory_bytes,
                         .folder = folder},
                        watch);
  };
  return write_partitions(data, options, folder, choose, std::nullopt);
}

/// Parts before they grow.
struct older_parts {
  partitioned_graph graph;
  partition_report report;
};

/// Fails unless the parts are of a dataset that has grown to this one.
result<older_parts> open_older_parts(const dataset& data,
                                     const fs::path& folder) {
  const auto path = folder / "partitions.json";
  GRAPHMILL_TRY(auto graph, partitioned_graph::open(folder));
  GRAPHMILL_TRY(const auto stored, read_json(path, largest_report));
  const auto source = stored.value("source_digest", json{});
  GRAPHMILL_TRY(const auto steps, read_growth(data.folder()));
  if (std::ranges::none_of(
        steps, [&source](const growth& step) { return source == step.before; }))
    return fail(ec::invalid_argument,
                "{} holds parts of another dataset than those that {} has "
                "grown from; partition it",
                folder.string(), data.folder().string());
  GRAPHMILL_TRY(auto report,
                report_of(stored.value("report", json{}), path.string()));
  return older_parts{std::move(graph), std::move(report)};
}

/// The neighbours, in either direction, of the vertices without a part.
std::unordered_map<vertex_id, std::vector<neighbour>>
neighbours_of_new(const graph_view& graph, const std::vector<part_id>& parts) {
  std::unordered_map<vertex_id, std::vector<neighbour>> out;
  const auto& begin = graph.type_begin();
  for (const auto& edges : graph.relations())
    for (std::size_t row = 0; row + 1 < edges.indptr.size(); ++row) {
      const auto to = begin[edges.destination] + static_cast<vertex_id>(row);
      for (auto i = edges.indptr[row]; i < edges.indptr[row + 1]; ++i) {
        const auto from = begin[edges.source] + edges.indices[i];
        if (from == to)
          continue;
        if (parts[static_cast<std::size_t>(to)] < 0)
          out[to].push_back({from});
        if (parts[static_cast<std::size_t>(from)] < 0)
          out[from].push_back({to});
      }
    }
  return out;
}

/// Old nodes stay, and new ones go beside their neighbours.
result<assigned_parts> keep_parts(const older_parts& older,
                                  const graph_view& graph,
                                  const vertex_loads& loads, monitor& watch) {
  const auto& before = older.graph.info();
  const auto& info = graph.info();
  assigned_parts out;
  out.assignment.resize(static_cast<std::size_t>(loads.size()), -1);
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    const auto type = before.find_node_type(info.node_types[t].name);
    if (!type || before.node_types[*type].count > info.node_types[t].count)
      return fail(ec::invalid_data,
                  "the parts have other nodes of type {} than the dataset; "
                  "partition it",
                  info.node_types[t].name);
    GRAPHMILL_TRY(const auto globals, older.graph.order(*type));
    for (std::size_t id = 0; id < globals.size(); ++id)
      out.assignment[static_cast<std::size_t>(graph.type_begin()[t]) + id] =
        older.graph.owner(*type, globals[id]);
  }
  const auto around = neighbours_of_new(graph, out.assignment);
  const auto neighbours = [&around](vertex_id v, std::vector<neighbour>& to) {
    const auto found = around.find(v);
    to = found == around.end() ? std::vector<neighbour>{} : found->second;
  };
  place_by_ldg(neighbours, loads, older.graph.part_count(), out.assignment,
               [&watch](vertex_id) { return watch.tell("place nodes", 0); });
  GRAPHMILL_TRYV(watch.check());
  return out;
}

/// What a folder that is there already must agree with.
result<partition_report> report_there(const dataset& data,
                                      const partition_options& options,
                                      const fs::path& folder) {
  const auto path = folder / "partitions.json";
  auto stored = read_json(path, largest_report);
  if (!stored && stored.error().code == ec::not_found)
    return fail(ec::invalid_argument,
                "{} is there already and holds no partitions.json; choose "
                "another folder with --out",
                folder.string());
  if (!stored)
    return std::move(stored).error();
  const auto& there = stored.value();
  if (!there.is_object() || !there.value("format_version", json{}).is_number())
    return fail(ec::invalid_data, "{} is broken: it has no format_version",
                path.string());
  if (there["format_version"] > partitions_format_version)
    return fail(
      ec::version_mismatch, "{} has format version {}; this Graphmill knows {}",
      path.string(), there["format_version"].dump(), partitions_format_version);
  GRAPHMILL_TRY(const auto digest, digest_of(data, options.on_progress));
  if (there.value("source_digest", json{}) != digest)
    return fail(ec::invalid_argument,
                "{} holds partitions of another dataset, or of another state "
                "of this one; remove it or choose another folder with --out",
                folder.string());
  GRAPHMILL_TRY(auto report,
                report_of(there.value("report", json{}), path.string()));
  if (report.parts != options.parts || report.method != options.method
      || report.seed != options.seed)
    return fail(ec::invalid_argument,
                "{} holds {} by {} with seed {}, not {} by {} with "
                "seed {}; remove it or choose another folder with --out",
                folder.string(), pluralized(report.parts, "part"),
                to_string(report.method), report.seed,
                pluralized(options.parts, "part"), to_string(options.method),
                options.seed);
  // With `automatic`, parts are welcome however METIS made them.
  if (options.coarsen != coarsening::automatic
      && wants_coarsening(options, report.edges) != report.coarsened)
    return fail(ec::invalid_argument,
                "{} holds parts that were made with --coarsen {}; remove it or "
                "choose another folder with --out",
                folder.string(), report.coarsened ? "always" : "never");
  return report;
}

} // namespace

result<void> check_parts(const dataset_info& info, part_id parts) {
  if (parts < 1 || parts > most_parts)
    return fail(ec::invalid_argument,
                "{} parts are asked for; 1 to {} can be made", parts,
                most_parts);
  std::int64_t nodes = 0;
  for (const auto& type : info.node_types)
    nodes += type.count;
  if (nodes == 0)
    return fail(ec::invalid_argument,
                "{} has no nodes, so there is nothing to partition; import it "
                "again from tables that are not empty",
                info.name);
  if (parts > nodes)
    return fail(ec::invalid_argument,
                "{} parts are asked for, but {} has {}: ask for at most as "
                "many parts as nodes",
                parts, info.name, pluralized(nodes, "node"));
  return ok();
}

result<partition_report> partition_dataset(const dataset& data,
                                           const partition_options& options,
                                           const fs::path& folder) {
  GRAPHMILL_TRYV(check_parts(data.info(), options.parts));
  try {
    return do_partition(data, options, folder);
  } catch (const std::bad_alloc&) {
    const auto wanted = estimate_partition(data.info(), options).memory_bytes;
    return fail(ec::out_of_memory,
                "memory ran out while partitioning {} (about {} are needed); "
                "--coarsen always needs less, --method ldg least",
                data.folder().string(), byte_text(wanted));
  }
}

result<grown_partitions> grow_partitions(const dataset& data,
                                         const fs::path& parts,
                                         const progress_callback& on_progress,
                                         const std::atomic<bool>* stop) {
  grown_partitions out;
  const auto build = [&](const fs::path& partial) -> result<bool> {
    GRAPHMILL_TRY(const auto older, open_older_parts(data, parts));
    out.before = older.report;
    const partition_options options{.parts = older.graph.part_count(),
                                    .method = older.report.method,
                                    .coarsen = older.report.coarsened
                                                 ? coarsening::always
                                                 : coarsening::never,
                                    .seed = older.report.seed,
                                    .on_progress = on_progress,
                                    .stop = stop};
    const auto choose = [&older](const graph_view& graph,
                                 const vertex_loads& loads, monitor& watch) {
      return keep_parts(older, graph, loads, watch);
    };
    try {
      GRAPHMILL_TRY(
        out.report,
        write_partitions(data, options, partial, choose,
                         older.report.first_cut.value_or(older.report.cut())));
    } catch (const std::bad_alloc&) {
      return fail(ec::out_of_memory,
                  "memory ran out while the parts of {} grew", parts.string());
    }
    return true;
  };
  folder_preparation work{parts, present_folder::replace};
  GRAPHMILL_TRYV(work.run(build, on_progress, stop));
  return out;
}

result<prepared_partitions> prepare_partitions(const dataset& data,
                                               const partition_options& options,
                                               const fs::path& folder) {
  GRAPHMILL_TRYV(check_parts(data.info(), options.parts));
  prepared_partitions out;
  GRAPHMILL_TRY(out.built,
                prepare_folder(
                  folder,
                  [&](const fs::path& partial) -> result<bool> {
                    GRAPHMILL_TRY(out.report,
                                  partition_dataset(data, options, partial));
                    return true;
                  },
                  options.on_progress, options.stop));
  if (!out.built) {
    GRAPHMILL_TRY(out.report, report_there(data, options, folder));
  }
  return out;
}

} // namespace graphmill
