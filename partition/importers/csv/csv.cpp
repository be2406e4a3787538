#include "partition/importers/csv/csv.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/files/file_io.hpp"
#include "partition/importers/csv/csv_edges.hpp"
#include "partition/importers/csv/csv_nodes.hpp"
#include "partition/importers/npy/npy_source.hpp"
#include "partition/importers/reverse.hpp"

#include <fcntl.h>

#include <algorithm>

namespace graphmill {

namespace {

constexpr std::size_t csv_block_edges = std::size_t{1} << 16;

struct csv_edge_type {
  csv_table table;
  std::string name;
  std::size_t source = 0; ///< In the list of node types.
  std::size_t destination = 0;
};

struct csv_graph {
  std::vector<csv_node_type> nodes;
  std::vector<csv_edge_type> edges;
};

std::size_t find_or_add(csv_graph& graph, const std::string& name) {
  const auto at = std::ranges::find(graph.nodes, name, &csv_node_type::name);
  if (at != graph.nodes.end())
    return static_cast<std::size_t>(at - graph.nodes.begin());
  graph.nodes.push_back({.name = name});
  return graph.nodes.size() - 1;
}

/// Reads tables, and ids of types without one from the edges.
result<csv_graph> read_graph(const csv_import_options& options) {
  csv_graph graph;
  for (auto table : options.nodes) {
    if (table.type.empty())
      table.type = "node";
    GRAPHMILL_TRYV(check_name(table.type, table.file.string()));
    GRAPHMILL_TRY(auto type, read_node_table(table, options));
    graph.nodes.push_back(std::move(type));
  }
  for (const auto& table : options.edges) {
    const auto name = table.type.empty() ? "node__to__node" : table.type;
    const auto parts = split_edge_type_name(name);
    if (!parts)
      return fail(ec::invalid_argument,
                  "\"{}\" is no edge type; <source>__<name>__<destination> "
                  "expected",
                  name);
    graph.edges.push_back({table, (*parts)[1], find_or_add(graph, (*parts)[0]),
                           find_or_add(graph, (*parts)[2])});
  }
  for (const auto& type : graph.edges) {
    auto& sources = graph.nodes[type.source];
    auto& destinations = graph.nodes[type.destination];
    if (sources.table && destinations.table)
      continue;
    GRAPHMILL_TRYV(for_each_csv_edge(
      type.table, options,
      [&](std::int64_t line, std::string_view source,
          std::string_view destination) -> result<void> {
        for (auto id : {source, destination})
          if (id.empty() || id.find_first_of("\r\n") != id.npos)
            return fail(ec::invalid_data,
                        "{}:{}: an id is empty or has a line break",
                        type.table.file.string(), line);
        if (!sources.table) {
          GRAPHMILL_TRYV(add_csv_id(sources, source, type.table.file, line));
        }
        if (!destinations.table) {
          GRAPHMILL_TRYV(
            add_csv_id(destinations, destination, type.table.file, line));
        }
        return ok();
      }));
  }
  return graph;
}

result<dataset_info> declare(const csv_graph& graph,
                             const csv_import_options& options) {
  if (graph.nodes.empty())
    return fail(ec::invalid_argument,
                "neither a node table nor an edge list to import");
  dataset_info info;
  const auto& first =
    (options.edges.empty() ? options.nodes : options.edges).front();
  info.name =
    options.name.empty() ? first.file.stem().stem().string() : options.name;
  info.provenance =
    fmt::format("imported from text tables ({} of nodes, {} of edges); ids in "
                "nodes/<type>/ids.txt",
                options.nodes.size(), options.edges.size());
  auto labelled = false;
  for (const auto& type : graph.nodes) {
    if (!type.class_names.empty() && !std::exchange(labelled, true))
      info.target = static_cast<node_type_id>(info.node_types.size());
    info.node_types.push_back(
      {.name = type.name,
       .count = type.ids.size(),
       .feature_width = std::ssize(type.feature_columns),
       .class_count = std::ssize(type.class_names),
       .class_names = type.class_names});
  }
  for (const auto& type : graph.edges)
    info.edge_types.push_back(
      {.source = static_cast<node_type_id>(type.source),
       .name = type.name,
       .destination = static_cast<node_type_id>(type.destination)});
  if (options.reverse)
    add_reverse_types(info);
  if (options.target.empty())
    return info;
  const auto target = info.find_node_type(options.target);
  if (!target)
    return fail(ec::invalid_argument, "the target \"{}\" is no node type",
                options.target);
  info.target = *target;
  return info;
}

/// Gathers edges of one type into blocks for a writer.
class edge_blocks {
public:
  edge_blocks(dataset_writer& writer, edge_type_id type, edge_type_id reverse)
    : writer_(writer), type_(type), reverse_(reverse) {}

  result<void> add(node_id source, node_id destination) {
    sources_.push_back(source);
    destinations_.push_back(destination);
    return sources_.size() < csv_block_edges ? ok() : flush();
  }

  result<void> flush() {
    GRAPHMILL_TRYV(
      append_both_ways(writer_, type_, reverse_, sources_, destinations_));
    sources_.clear();
    destinations_.clear();
    return ok();
  }

private:
  dataset_writer& writer_;
  edge_type_id type_;
  edge_type_id reverse_;
  std::vector<node_id> sources_;
  std::vector<node_id> destinations_;
};

result<void> copy_edges(const csv_graph& graph, const csv_edge_type& type,
                        const csv_import_options& options, edge_blocks out) {
  const auto number = [&](std::int64_t line, const csv_node_type& nodes,
                          const char* end,
                          std::string_view id) -> result<node_id> {
    if (const auto found = nodes.ids.find(id))
      return *found;
    return fail(ec::invalid_data, "{}:{}: {} \"{}\" is not in the table of {}",
                type.table.file.string(), line, end, id, nodes.name);
  };
  GRAPHMILL_TRYV(for_each_csv_edge(
    type.table, options,
    [&](std::int64_t line, std::string_view from,
        std::string_view to) -> result<void> {
      GRAPHMILL_TRY(const auto source,
                    number(line, graph.nodes[type.source], "source", from));
      GRAPHMILL_TRY(
        const auto destination,
        number(line, graph.nodes[type.destination], "destination", to));
      return out.add(source, destination);
    }));
  return out.flush();
}

result<void> copy_nodes(const csv_node_type& type, node_type_id id,
                        const csv_import_options& options,
                        dataset_writer& writer) {
  GRAPHMILL_TRYV(copy_csv_features(type, id, options, writer));
  if (!type.class_names.empty()) {
    GRAPHMILL_TRYV(writer.set_labels(id, type.labels));
  }
  for (auto which : all_splits) {
    GRAPHMILL_TRYV(writer.set_split(
      id, which, type.splits[static_cast<std::size_t>(which)]));
  }
  return ok();
}

result<void> write_ids(const csv_node_type& type,
                       const std::filesystem::path& path) {
  GRAPHMILL_TRY(auto file, open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
  std::string pending;
  for (node_id node = 0; node < type.ids.size(); ++node) {
    pending += type.ids.name(node);
    pending += '\n';
    if (pending.size() < csv_block_edges && node + 1 < type.ids.size())
      continue;
    GRAPHMILL_TRYV(
      write_all(file.get(), std::as_bytes(std::span{pending}), path));
    pending.clear();
  }
  return ok();
}

} // namespace

result<dataset_info> import_csv(const csv_import_options& options,
                                const std::filesystem::path& folder,
                                const progress_callback& on_progress) {
  const auto tell = [&](std::string_view phase, std::size_t done,
                        std::size_t total) {
    if (on_progress)
      on_progress({.phase = phase, .done = done, .total = total});
  };
  tell("read tables", 0, 0);
  GRAPHMILL_TRY(const auto graph, read_graph(options));
  GRAPHMILL_TRY(auto info, declare(graph, options));
  GRAPHMILL_TRY(auto writer, dataset_writer::create(
                               folder, info, {.on_progress = on_progress}));
  for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
    const auto id = static_cast<node_type_id>(t);
    tell("read nodes", t, graph.nodes.size());
    GRAPHMILL_TRYV(copy_nodes(graph.nodes[t], id, options, writer));
    GRAPHMILL_TRYV(
      write_ids(graph.nodes[t], node_folder(folder, info, id) / "ids.txt"));
  }
  const auto types = static_cast<edge_type_id>(graph.edges.size());
  for (edge_type_id t = 0; t < types; ++t) {
    tell("read edges", static_cast<std::size_t>(t), graph.edges.size());
    GRAPHMILL_TRYV(copy_edges(graph, graph.edges[t], options,
                              {writer, t, options.reverse ? types + t : -1}));
  }
  return writer.finish();
}

} // namespace graphmill
