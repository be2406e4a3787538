#include "partition/partitioners/parts_writer.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"
#include "partition/partitioners/array_writer.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_part_info = std::size_t{1} << 28;

/// Parts that are written in one pass over the dataset: as many as a word has
/// bits, for the halo, and each has a file open and a buffer.
constexpr part_id parts_per_pass = 64;
constexpr std::size_t part_buffer_bytes = std::size_t{1} << 18;

/// Rows between two calls of the monitor.
constexpr std::int64_t tell_written_rows = std::int64_t{1} << 14;

dtype index_type_for(std::int64_t nodes) {
  return nodes <= std::numeric_limits<std::int32_t>::max() ? dtype::int32
                                                           : dtype::int64;
}

/// How many seeds a type has, or one of its label sets.
std::array<std::int64_t, 3>& split_counts_of(node_type_info& type,
                                             std::string_view set) {
  const auto at = find_label_set(type, set);
  return at ? type.label_sets[*at].split_counts : type.split_counts;
}

/// One part in the making.
struct part_output {
  fs::path folder;
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
  result<void> write(part_id first, part_id last, const fs::path& folder) {
    first_ = first;
    outputs_.clear();
    std::fill(seen_by_.begin(), seen_by_.end(), 0);
    for (auto p = first; p < last; ++p)
      outputs_.push_back(
        {.folder = folder / fmt::format("part-{}", p), .info = graph_.info()});
    for (node_type_id t = 0; t < std::ssize(graph_.info().node_types); ++t) {
      GRAPHMILL_TRYV(write_nodes(t));
    }
    for (const auto& edges : graph_.relations()) {
      GRAPHMILL_TRYV(write_edges(edges));
    }
    if (auto fault = mapped_file::first_fault())
      return std::move(*fault);
    for (auto p = first; p < last; ++p) {
      GRAPHMILL_TRY(const auto trees, write_trees(at(p).folder, at(p).info));
      at(p).written.blocks = trees.roots;
      GRAPHMILL_TRYV(write_info(p, trees));
      GRAPHMILL_TRYV(watch_.check());
      GRAPHMILL_TRYV(measure(at(p)));
    }
    return ok();
  }

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

  result<void> write_nodes(node_type_id type) {
    const auto folder = [&, type](const fs::path& part) {
      return node_folder(part, graph_.info(), type);
    };
    for (auto& part : outputs_) {
      GRAPHMILL_TRYV(make_folders(folder(part.folder)));
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const auto owned = numbers_.owned(type, first_ + static_cast<part_id>(i));
      outputs_[i].info.node_types[type].count = owned;
      outputs_[i].written.row.nodes.push_back(owned);
    }
    GRAPHMILL_TRYV(write_array(
      folder, "original_ids.npy", dtype_of<node_id>(), {}, [&, type] {
        return for_each_row(type, [](part_output& part, node_id row) {
          return part.arrays.append_one(row);
        });
      }));
    const auto& from = graph_.data().nodes(type);
    if (from.features) {
      GRAPHMILL_TRYV(
        write_selected(folder, "features.npy", type, *from.features));
    }
    if (from.sparse) {
      GRAPHMILL_TRYV(write_sparse(folder, type, *from.sparse));
    }
    for (const auto& of : labels_in(graph_.data(), type)) {
      if (of.arrays.labels) {
        GRAPHMILL_TRYV(
          write_selected(folder, labels_file(of.set), type, *of.arrays.labels));
      }
      for (auto which : all_splits) {
        GRAPHMILL_TRYV(write_split(folder, type, which, of));
      }
    }
    return ok();
  }

  /// The rows of an array of a node type, whatever their type.
  template <class FolderOf>
  result<void> write_selected(FolderOf folder, std::string_view name,
                              node_type_id type, const npy_array& from) {
    const std::vector<std::int64_t> row_shape{from.shape().begin() + 1,
                                              from.shape().end()};
    auto row_bytes = size_of(from.type());
    for (auto extent : row_shape)
      row_bytes *= static_cast<std::size_t>(extent);
    from.file().advise_sequential();
    return write_array(folder, name, from.type(), row_shape, [&, type] {
      return for_each_row(type, [&](part_output& part, std::int64_t row) {
        return part.arrays.append(
          std::span{from.data() + row * row_bytes, row_bytes});
      });
    });
  }

  /// Sparse features: of each row its end, then its columns, then its values.
  template <class FolderOf>
  result<void> write_sparse(FolderOf folder, node_type_id type,
                            const dataset::sparse_arrays& from) {
    GRAPHMILL_TRY(const auto indptr, from.rows());
    GRAPHMILL_TRYV(write_array(
      folder, sparse_indptr_file, dtype_of<std::int64_t>(), {},
      [&]() -> result<void> {
        for (auto& part : outputs_) {
          part.info.node_types[type].feature_entries = 0;
          GRAPHMILL_TRYV(part.arrays.append_one(std::int64_t{0}));
        }
        return for_each_row(type, [&](part_output& part, std::int64_t row) {
          auto& end = part.info.node_types[type].feature_entries;
          end += indptr[row + 1] - indptr[row];
          return part.arrays.append_one(end);
        });
      }));
    for (const auto& [name, array] :
         {std::pair{sparse_indices_file, &from.indices},
          std::pair{sparse_values_file, &from.values}}) {
      const auto size = size_of(array->type());
      const auto* bytes = array->data(); // Clang 14 captures no binding.
      array->file().advise_sequential();
      GRAPHMILL_TRYV(write_array(folder, name, array->type(), {}, [&] {
        return for_each_row(type, [&](part_output& part, std::int64_t row) {
          return part.arrays.append(std::span{
            bytes + static_cast<std::size_t>(indptr[row]) * size,
            static_cast<std::size_t>(indptr[row + 1] - indptr[row]) * size});
        });
      }));
    }
    return ok();
  }

  template <class FolderOf>
  result<void> write_split(FolderOf folder, node_type_id type, split which,
                           const opened_labels& of) {
    const auto index = static_cast<std::size_t>(which);
    const auto& from = of.arrays.splits[index];
    if (!from)
      return ok();
    GRAPHMILL_TRY(const auto seeds, from->as<node_id>());
    const auto count = [&, type](part_output& part) -> std::int64_t& {
      return split_counts_of(part.info.node_types[type], of.set)[index];
    };
    for (auto& part : outputs_)
      count(part) = 0;
    GRAPHMILL_TRYV(write_array(
      folder, seeds_file(which, of.set), dtype_of<node_id>(), {},
      [&, type]() -> result<void> {
        for (auto id : seeds) {
          const auto v = graph_.type_begin()[type] + id;
          auto* part = owner_of(v);
          if (part == nullptr)
            continue;
          ++count(*part);
          GRAPHMILL_TRYV(part->arrays.append_one(
            numbers_.globals[type][id] - numbers_.begin(type, assignment_[v])));
        }
        return ok();
      }));
    if (type == graph_.info().target && which == split::train && of.set.empty())
      for (auto& part : outputs_)
        part.written.row.training_seeds = count(part);
    return ok();
  }

  result<void> write_edges(const graph_view::relation& edges) {
    const auto type = edges.type;
    const auto folder = [&, type](const fs::path& part) {
      return edge_folder(part, graph_.info(), type);
    };
    for (auto& part : outputs_) {
      GRAPHMILL_TRYV(make_folders(folder(part.folder)));
    }
    GRAPHMILL_TRYV(write_array(folder, "indptr.npy", dtype_of<std::int64_t>(),
                               {}, [&] { return write_indptr(edges); }));
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
    GRAPHMILL_TRYV(write_selected(folder, "out_degrees.npy", edges.source,
                                  from.out_degrees));
    return write_array(
      folder, "original_begin.npy", dtype_of<edge_id>(), {}, [&] {
        return for_each_row(
          edges.destination, [&](part_output& part, std::int64_t row) {
            return part.arrays.append_one<edge_id>(edges.indptr[row]);
          });
      });
  }

  result<void> write_indptr(const graph_view::relation& edges) {
    for (auto& part : outputs_) {
      part.edges = 0;
      GRAPHMILL_TRYV(part.arrays.append_one(part.edges));
    }
    return for_each_row(
      edges.destination, [&](part_output& part, std::int64_t row) {
        part.edges += edges.indptr[row + 1] - edges.indptr[row];
        return part.arrays.append_one(part.edges);
      });
  }

  /// Also counts what crosses the parts' borders.
  template <class Index>
  result<void> write_indices(const graph_view::relation& edges) {
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

  void count_source(part_output& part, vertex_id source) {
    const auto index = &part - outputs_.data();
    if (assignment_[source] == first_ + index)
      return;
    const auto bit = std::uint64_t{1} << index;
    ++part.written.row.cut_edges;
    part.written.row.halo += (seen_by_[source] & bit) == 0;
    seen_by_[source] |= bit;
  }

  /// `dataset.json`, with the field that says that this is a part.
  result<void> write_info(part_id p, const written_trees& trees) {
    auto& part = at(p);
    part.written.digest = part.arrays.digest();
    part.info.digest = part.written.digest;
    GRAPHMILL_TRYV(write_dataset_info(part.folder, part.info));
    const auto path = part.folder / "dataset.json";
    GRAPHMILL_TRY(auto json, read_json(path, largest_part_info));
    json["part"] = {{"number", p}, {"of", parts()}};
    auto digests = part.arrays.digests_within(part.folder);
    digests.insert(trees.digests.begin(), trees.digests.end());
    json["array_digests"] = digests;
    return write_text(path, json.dump(2) + '\n');
  }

  result<void> measure(part_output& part) {
    std::error_code failed;
    for (fs::recursive_directory_iterator at{part.folder, failed}, end;
         !failed && at != end; at.increment(failed))
      if (at->is_regular_file(failed))
        part.written.row.bytes += at->file_size(failed);
    if (failed)
      return fail_errno(failed.value(), "cannot measure {}",
                        part.folder.string());
    return ok();
  }

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

} // namespace

result<std::vector<written_part>>
write_parts(const graph_view& graph, std::span<const part_id> assignment,
            const renumbering& numbers, const fs::path& folder,
            monitor& watch) {
  pass_writer writer{graph, assignment, numbers, watch};
  const auto parts = static_cast<part_id>(numbers.offsets[0].size()) - 1;
  std::vector<written_part> written;
  for (part_id first = 0; first < parts; first += parts_per_pass) {
    GRAPHMILL_TRYV(
      writer.write(first, std::min(parts, first + parts_per_pass), folder));
    for (const auto& part : writer.outputs())
      written.push_back(part.written);
  }
  return written;
}

} // namespace graphmill
