#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/proved_arrays.hpp"
#include "partition/partitioners/array_writer.hpp"
#include "partition/partitioners/graph/graph_view.hpp"
#include "partition/partitioners/graph/monitor.hpp"
#include "partition/partitioners/parts_writer.hpp"
#include "partition/partitioners/renumbering.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace graphmill {

/// Rows between two calls of the monitor.
inline constexpr std::int64_t tell_written_rows = std::int64_t{1} << 14;

/// Of elements of a part's array that are kept until they are written.
inline constexpr std::size_t part_buffer_bytes = std::size_t{1} << 18;

/// One part in the making.
struct part_output {
  std::filesystem::path folder;
  dataset_info info; ///< Of the part, once its arrays are written.
  array_writer arrays{part_buffer_bytes};
  written_part written;
  std::int64_t edges = 0; ///< Of the edge type at hand, so far.
};

/// Writes the arrays of a few parts, one array after the other and each of all
/// these parts at once, in one pass over the dataset.
class pass_writer {
public:
  pass_writer(const graph_view& graph, std::span<const part_id> assignment,
              const renumbering& numbers, monitor& watch)
    : graph_(graph), assignment_(assignment), numbers_(numbers), watch_(watch),
      seen_by_(assignment.size()) {}

  /// Writes the parts from `first` to `last`.
  result<void> write(part_id first, part_id last,
                     const std::filesystem::path& folder);

  const std::vector<part_output>& outputs() const { return outputs_; }

private:
  part_output& at(part_id p) { return outputs_[p - first_]; }

  /// The part that owns a vertex if it is written in this pass, else null.
  part_output* owner_of(vertex_id v) {
    const auto p = assignment_[v] - first_;
    return p >= 0 && p < std::ssize(outputs_) ? &outputs_[p] : nullptr;
  }

  /// Begins an array of every part, lets `write` append to them, ends them.
  /// @param folder_of Where a part's array lies.
  template <class FolderOf, class Write>
  result<void>
  write_array(FolderOf folder_of, std::string_view name, dtype type,
              const std::vector<std::int64_t>& row_shape, Write write) {
    for (auto& part : outputs_) {
      GRAPHMILL_TRYV(
        part.arrays.begin(folder_of(part.folder) / name, type, row_shape));
    }
    GRAPHMILL_TRYV(write());
    for (auto& part : outputs_) {
      GRAPHMILL_TRYV(part.arrays.finish());
    }
    return ok();
  }

  /// Calls `visit(part, row)` for the nodes of a type that these parts own, in
  /// the order of their original ids.
  template <class Visit>
  result<void> for_each_row(node_type_id type, Visit visit) {
    const auto first = graph_.type_begin()[type];
    const auto count = graph_.type_begin()[type + 1] - first;
    for (std::int64_t row = 0; row < count; ++row) {
      if (row % tell_written_rows == 0) {
        GRAPHMILL_TRYV(tell(row, count));
      }
      if (auto* part = owner_of(first + row)) {
        GRAPHMILL_TRYV(visit(*part, row));
      }
    }
    return ok();
  }

  result<void> write_nodes(node_type_id type);

  /// The rows of an array of a node type, whatever their type.
  template <class FolderOf>
  result<void> write_selected(FolderOf folder, std::string_view name,
                              node_type_id type, const npy_array& from) {
    const auto row_bytes = from.row_bytes();
    from.file().advise_sequential();
    return write_array(folder, name, from.type(), from.row_shape(), [&, type] {
      return for_each_row(type, [&](part_output& part, std::int64_t row) {
        return part.arrays.append(
          std::span{from.data() + row * row_bytes, row_bytes});
      });
    });
  }

  /// Sparse features: of each row its end, then its columns, then its values.
  template <class FolderOf>
  result<void> write_sparse(FolderOf folder, node_type_id type,
                            const dataset::sparse_arrays& from);

  template <class FolderOf>
  result<void> write_split(FolderOf folder, node_type_id type, split which,
                           const opened_labels& of);

  result<void> write_edges(const graph_view::relation& edges);

  result<void> write_indptr(const graph_view::relation& edges);

  /// Also counts what crosses the parts' borders.
  template <class Index>
  result<void> write_indices(const graph_view::relation& edges);

  /// The weights of edges, and what they add up to.
  template <class FolderOf>
  result<void> write_weights(FolderOf folder, const graph_view::relation& edges,
                             const dataset::weight_arrays& from);

  /// The rows of an array with one for each edge, whatever their type.
  template <class FolderOf>
  result<void> write_by_edge(FolderOf folder, std::string_view name,
                             const graph_view::relation& edges,
                             const npy_array& from);

  void count_source(part_output& part, vertex_id source);

  /// `dataset.json`, with the field that says that this is a part.
  result<void> write_info(part_id p, const written_trees& trees);

  result<void> measure(part_output& part);

  part_id parts() const {
    return static_cast<part_id>(numbers_.offsets[0].size()) - 1;
  }

  result<void> tell(std::int64_t row, std::int64_t rows) {
    watch_.tell("write parts", static_cast<std::uint64_t>(row),
                static_cast<std::uint64_t>(rows));
    return watch_.check();
  }

  const graph_view& graph_;
  std::span<const part_id> assignment_;
  const renumbering& numbers_;
  monitor& watch_;
  /// [vertices] A bit per part of this pass that has it as a halo node.
  std::vector<std::uint64_t> seen_by_;

  part_id first_ = 0;
  std::vector<part_output> outputs_; ///< Parts from `first_` on.
};

} // namespace graphmill
