#include "partition/partitioners/pass_writer.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_part_info = std::size_t{1} << 28;

/// How many seeds a type has, or one of its label sets.
std::array<std::int64_t, 3>& split_counts_of(node_type_info& type,
                                             std::string_view set) {
  const auto at = find_label_set(type, set);
  return at ? type.label_sets[*at].split_counts : type.split_counts;
}

} // namespace

template <class FolderOf>
result<void> pass_writer::write_sparse(FolderOf folder, node_type_id type,
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
result<void> pass_writer::write_split(FolderOf folder, node_type_id type,
                                      split which, const opened_labels& of) {
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

result<void> pass_writer::write_nodes(node_type_id type) {
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
  GRAPHMILL_TRYV(
    write_array(folder, "original_ids.npy", dtype_of<node_id>(), {}, [&, type] {
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

result<void> pass_writer::write_info(part_id p, const written_trees& trees) {
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

result<void> pass_writer::measure(part_output& part) {
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

result<void> pass_writer::write(part_id first, part_id last,
                                const fs::path& folder) {
  first_ = first;
  outputs_.clear();
  std::fill(seen_by_.begin(), seen_by_.end(), 0);
  for (auto p = first; p < last; ++p)
    outputs_.push_back(
      {.folder = folder / fmt::format("part-{}", p), .info = graph_.info()});
  for (auto& part : outputs_) {
    part.info.tasks.clear(); // Their rows lie beside the parts.
    for (auto& type : part.info.node_types)
      type.timed = false; // Likewise.
  }
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

} // namespace graphmill
