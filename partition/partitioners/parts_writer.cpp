#include "partition/partitioners/parts_writer.hpp"

#include "partition/dataset_names.hpp"
#include "partition/file_io.hpp"
#include "partition/partitioners/array_writer.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_info = std::size_t{1} << 28;

dtype index_type_for(std::int64_t nodes) {
  return nodes <= std::numeric_limits<std::int32_t>::max() ? dtype::int32
                                                           : dtype::int64;
}

/// Writes the arrays of one part after the other.
class part_writer {
public:
  part_writer(const graph_view& graph, std::span<const part_id> assignment,
              const renumbering& numbers, monitor& watch)
    : graph_(graph), assignment_(assignment), numbers_(numbers), watch_(watch),
      last_halo_(assignment.size(), -1) {}

  result<written_part> write(part_id part, const fs::path& folder) {
    part_ = part;
    folder_ = folder;
    arrays_ = array_writer{};
    out_ = {};
    info_ = graph_.info();
    for (node_type_id t = 0; t < std::ssize(info_.node_types); ++t) {
      TRYV(write_nodes(t));
    }
    for (const auto& edges : graph_.relations()) {
      TRYV(write_edges(edges));
    }
    if (auto fault = mapped_file::first_fault())
      return std::move(*fault);
    out_.digest = arrays_.digest();
    TRYV(write_info());
    TRYV(measure());
    return std::move(out_);
  }

private:
  result<void> write_nodes(node_type_id type) {
    TRYV(tell());
    auto& about = info_.node_types[type];
    const auto to = node_folder(folder_, info_, type);
    TRYV(make_folders(to));
    const auto originals = numbers_.originals_of(type, part_);
    about.count = std::ssize(originals);
    out_.row.nodes.push_back(about.count);
    TRYV(arrays_.write_values<node_id>(to / "original_ids.npy", about.count,
                                       [&](auto i) { return originals[i]; }));
    const auto& from = graph_.data().nodes(type);
    if (from.features) {
      TRYV(write_selected(to / "features.npy", *from.features, originals));
    }
    if (from.labels) {
      TRYV(write_selected(to / "labels.npy", *from.labels, originals));
    }
    for (auto which : all_splits) {
      TRYV(write_split(to, type, which));
    }
    return ok();
  }

  /// The rows of an array that belong to the part, whatever their type.
  result<void> write_selected(const fs::path& to, const npy_array& from,
                              std::span<const node_id> originals) {
    const std::vector<std::int64_t> row_shape{from.shape().begin() + 1,
                                              from.shape().end()};
    auto row_bytes = size_of(from.type());
    for (auto extent : row_shape)
      row_bytes *= static_cast<std::size_t>(extent);
    const auto row = [&](std::int64_t i) {
      return std::span{from.data() + originals[i] * row_bytes, row_bytes};
    };
    return arrays_.write_pieces(to, from.type(), row_shape,
                                std::ssize(originals), row);
  }

  result<void> write_split(const fs::path& to, node_type_id type, split which) {
    const auto seeds = graph_.seeds(type, which);
    if (!seeds)
      return ok();
    std::vector<node_id> rows;
    const auto begin = numbers_.begin(type, part_);
    const auto end = numbers_.end(type, part_);
    for (auto id : *seeds)
      if (const auto global = numbers_.globals[type][id];
          global >= begin && global < end)
        rows.push_back(global - begin);
    info_.node_types[type].split_counts[static_cast<std::size_t>(which)] =
      std::ssize(rows);
    if (type == info_.target && which == split::train)
      out_.row.training_seeds = std::ssize(rows);
    return arrays_.write_values<node_id>(
      to / fmt::format("{}.npy", file_stem(which)), std::ssize(rows),
      [&](auto i) { return rows[i]; });
  }

  result<void> write_edges(const graph_view::relation& edges) {
    TRYV(tell());
    auto& about = info_.edge_types[edges.type];
    const auto to = edge_folder(folder_, info_, edges.type);
    TRYV(make_folders(to));
    const auto rows = numbers_.originals_of(edges.destination, part_);
    about.count = 0;
    TRYV(arrays_.write_values<std::int64_t>(
      to / "indptr.npy", std::ssize(rows) + 1, [&](auto i) {
        if (i > 0)
          about.count +=
            edges.indptr[rows[i - 1] + 1] - edges.indptr[rows[i - 1]];
        return about.count;
      }));
    about.index_type =
      index_type_for(graph_.info().node_types[edges.source].count);
    TRYV(about.index_type == dtype::int32
           ? write_indices<std::int32_t>(to / "indices.npy", edges, rows)
           : write_indices<std::int64_t>(to / "indices.npy", edges, rows));
    const auto& from = graph_.data().edges(edges.type);
    TRYV(write_selected(to / "in_degrees.npy", from.in_degrees, rows));
    TRYV(write_selected(to / "out_degrees.npy", from.out_degrees,
                        numbers_.originals_of(edges.source, part_)));
    out_.row.in_edges += about.count;
    return arrays_.write_values<edge_id>(
      to / "original_begin.npy", std::ssize(rows),
      [&](auto i) { return edges.indptr[rows[i]]; });
  }

  /// Also counts what crosses the part's border.
  template <class Index>
  result<void> write_indices(const fs::path& to,
                             const graph_view::relation& edges,
                             std::span<const node_id> rows) {
    std::vector<Index> list;
    const auto& globals = numbers_.globals[edges.source];
    const auto map_list = [&](std::int64_t i) {
      list.clear();
      for (auto e = edges.indptr[rows[i]]; e < edges.indptr[rows[i] + 1]; ++e) {
        const auto source = edges.indices[e];
        list.push_back(static_cast<Index>(globals[source]));
        count_source(graph_.type_begin()[edges.source] + source);
      }
      return std::span<const Index>{list};
    };
    return arrays_.write_pieces(to, dtype_of<Index>(), {}, std::ssize(rows),
                                map_list);
  }

  void count_source(vertex_id source) {
    if (assignment_[source] == part_)
      return;
    ++out_.row.cut_edges;
    if (std::exchange(last_halo_[source], part_) != part_)
      ++out_.row.halo;
  }

  /// `dataset.json`, with the field that says that this is a part.
  result<void> write_info() {
    info_.digest = out_.digest;
    TRYV(write_dataset_info(folder_, info_));
    TRY(const auto text, read_text(folder_ / "dataset.json", largest_info));
    auto json = nlohmann::json::parse(text);
    json["part"] = {{"number", part_}, {"of", parts()}};
    return write_text(folder_ / "dataset.json", json.dump(2) + '\n');
  }

  result<void> measure() {
    std::error_code failed;
    for (fs::recursive_directory_iterator at{folder_, failed}, end;
         !failed && at != end; at.increment(failed))
      if (at->is_regular_file(failed))
        out_.row.bytes += at->file_size(failed);
    if (failed)
      return fail_errno(failed.value(), "cannot measure {}", folder_.string());
    return ok();
  }

  part_id parts() const {
    return static_cast<part_id>(numbers_.offsets[0].size()) - 1;
  }

  result<void> tell() {
    watch_.tell("write parts", static_cast<std::uint64_t>(part_),
                static_cast<std::uint64_t>(parts()));
    return watch_.check();
  }

  const graph_view& graph_;
  std::span<const part_id> assignment_;
  const renumbering& numbers_;
  monitor& watch_;
  std::vector<part_id> last_halo_; ///< Part that counted a vertex last.

  part_id part_ = 0;
  fs::path folder_;
  array_writer arrays_;
  written_part out_;
  dataset_info info_; ///< Of the part, once its arrays are written.
};

} // namespace

result<std::vector<written_part>>
write_parts(const graph_view& graph, std::span<const part_id> assignment,
            const renumbering& numbers, const fs::path& folder,
            monitor& watch) {
  part_writer writer{graph, assignment, numbers, watch};
  const auto parts = static_cast<part_id>(numbers.offsets[0].size()) - 1;
  std::vector<written_part> written;
  for (part_id p = 0; p < parts; ++p) {
    TRY(auto part, writer.write(p, folder / fmt::format("part-{}", p)));
    written.push_back(std::move(part));
  }
  return written;
}

result<void> write_seeds(const graph_view& graph, const renumbering& numbers,
                         const fs::path& folder) {
  const auto& info = graph.info();
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    const auto& counts = info.node_types[t].split_counts;
    if (t != info.target && counts == decltype(node_type_info::split_counts){})
      continue;
    const auto to = folder / "seeds" / info.node_types[t].name;
    TRYV(make_folders(to));
    for (auto which : all_splits) {
      std::vector<node_id> ids;
      if (const auto seeds = graph.seeds(t, which))
        for (auto id : *seeds)
          ids.push_back(numbers.globals[t][id]);
      TRYV(
        write_npy<node_id>(to / fmt::format("{}.npy", file_stem(which)), ids));
    }
  }
  return ok();
}

} // namespace graphmill
