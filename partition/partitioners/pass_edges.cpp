#include "partition/partitioners/pass_writer.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/files/file_io.hpp"

#include <limits>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

dtype index_type_for(std::int64_t nodes) {
  return nodes <= std::numeric_limits<std::int32_t>::max() ? dtype::int32
                                                           : dtype::int64;
}

} // namespace

result<void> pass_writer::write_indptr(const graph_view::relation& edges) {
  for (auto& part : outputs_) {
    part.edges = 0;
    GRAPHMILL_TRYV(part.arrays.append_one(part.edges));
  }
  return for_each_row(edges.destination,
                      [&](part_output& part, std::int64_t row) {
                        part.edges += edges.indptr[row + 1] - edges.indptr[row];
                        return part.arrays.append_one(part.edges);
                      });
}

void pass_writer::count_source(part_output& part, vertex_id source) {
  const auto index = &part - outputs_.data();
  if (assignment_[source] == first_ + index)
    return;
  const auto bit = std::uint64_t{1} << index;
  ++part.written.row.cut_edges;
  part.written.row.halo += (seen_by_[source] & bit) == 0;
  seen_by_[source] |= bit;
}

template <class Index>
result<void> pass_writer::write_indices(const graph_view::relation& edges) {
  const auto& globals = numbers_.globals[edges.source];
  const auto first_source = graph_.type_begin()[edges.source];
  std::vector<Index> list;
  return for_each_row(
    edges.destination, [&](part_output& part, std::int64_t row) {
      list.clear();
      for (auto e = edges.indptr[row]; e < edges.indptr[row + 1]; ++e) {
        const auto source = edges.indices[e];
        list.push_back(static_cast<Index>(globals[source]));
        count_source(part, first_source + source);
      }
      return part.arrays.append(std::span<const Index>{list});
    });
}

/// Those of an owned node's list lie in one piece.
template <class FolderOf>
result<void> pass_writer::write_by_edge(FolderOf folder, std::string_view name,
                                        const graph_view::relation& edges,
                                        const npy_array& from) {
  const auto row_bytes = from.row_bytes();
  from.file().advise_sequential();
  return write_array(folder, name, from.type(), from.row_shape(), [&] {
    return for_each_row(
      edges.destination, [&](part_output& part, std::int64_t row) {
        const auto begin = static_cast<std::size_t>(edges.indptr[row]);
        const auto end = static_cast<std::size_t>(edges.indptr[row + 1]);
        return part.arrays.append(
          from.bytes().subspan(begin * row_bytes, (end - begin) * row_bytes));
      });
  });
}

template <class FolderOf>
result<void> pass_writer::write_weights(FolderOf folder,
                                        const graph_view::relation& edges,
                                        const dataset::weight_arrays& from) {
  GRAPHMILL_TRYV(write_by_edge(folder, weights_file, edges, from.weights));
  GRAPHMILL_TRYV(write_selected(folder, in_weights_file, edges.destination,
                                from.in_weights));
  return write_selected(folder, out_weights_file, edges.source,
                        from.out_weights);
}

result<void> pass_writer::write_edges(const graph_view::relation& edges) {
  const auto type = edges.type;
  const auto folder = [&, type](const fs::path& part) {
    return edge_folder(part, graph_.info(), type);
  };
  for (auto& part : outputs_) {
    GRAPHMILL_TRYV(make_folders(folder(part.folder)));
  }
  GRAPHMILL_TRYV(write_array(folder, "indptr.npy", dtype_of<std::int64_t>(), {},
                             [&] { return write_indptr(edges); }));
  const auto index_type =
    index_type_for(graph_.info().node_types[edges.source].count);
  const auto& from = graph_.data().edges(type);
  from.indices.file().advise_sequential();
  GRAPHMILL_TRYV(write_array(folder, "indices.npy", index_type, {}, [&] {
    return index_type == dtype::int32 ? write_indices<std::int32_t>(edges)
                                      : write_indices<std::int64_t>(edges);
  }));
  for (auto& part : outputs_) {
    part.info.edge_types[type].count = part.edges;
    part.info.edge_types[type].index_type = index_type;
    part.written.row.in_edges += part.edges;
  }
  GRAPHMILL_TRYV(write_selected(folder, "in_degrees.npy", edges.destination,
                                from.in_degrees));
  GRAPHMILL_TRYV(
    write_selected(folder, "out_degrees.npy", edges.source, from.out_degrees));
  if (from.weighted) {
    GRAPHMILL_TRYV(write_weights(folder, edges, *from.weighted));
  }
  if (from.visible) {
    GRAPHMILL_TRYV(
      write_selected(folder, visible_file, edges.destination, *from.visible));
  }
  if (from.features) {
    GRAPHMILL_TRYV(write_by_edge(folder, features_file, edges, *from.features));
  }
  if (from.times) {
    GRAPHMILL_TRYV(write_by_edge(folder, times_file, edges, *from.times));
  }
  return write_array(
    folder, "original_begin.npy", dtype_of<edge_id>(), {}, [&] {
      return for_each_row(
        edges.destination, [&](part_output& part, std::int64_t row) {
          return part.arrays.append_one<edge_id>(edges.indptr[row]);
        });
    });
}

} // namespace graphmill
