#include "partition/dataset/dataset.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/task_checks.hpp"

namespace graphmill {

namespace fs = std::filesystem;

namespace {

result<npy_array> open_array(const fs::path& path, dtype type,
                             const std::vector<std::int64_t>& shape) {
  GRAPHMILL_TRY(auto array, npy_array::open(path));
  GRAPHMILL_TRYV(array.expect_type(type));
  GRAPHMILL_TRYV(array.expect_shape(shape));
  return array;
}

/// @param type As the label set shows it.
/// @param set Its name; empty: the type's own labels.
result<dataset::label_arrays> open_labels(const fs::path& folder,
                                          const node_type_info& type,
                                          std::string_view set) {
  dataset::label_arrays arrays;
  if (type.class_count > 0) {
    const auto path = folder / labels_file(set);
    const auto& labels = traits_of(type.labels);
    std::vector shape{type.count};
    if (labels.rows)
      shape.push_back(type.class_count);
    GRAPHMILL_TRY(arrays.labels, open_array(path, labels.element, shape));
  }
  for (auto which : all_splits) {
    const auto i = static_cast<std::size_t>(which);
    if (type.split_counts[i] > 0) {
      GRAPHMILL_TRY(arrays.splits[i],
                    open_array(folder / seeds_file(which, set), dtype::int64,
                               {type.split_counts[i]}));
    }
  }
  return arrays;
}

/// A reader of one list must not run out of the array behind it: checks its
/// ends at least.
result<void> check_ends(const npy_array& lists, std::int64_t entries) {
  GRAPHMILL_TRY(const auto indptr, lists.as<std::int64_t>());
  if (indptr.front() != 0 || indptr.back() != entries)
    return fail(ec::invalid_data,
                "{} goes from {} to {}; from 0 to {} expected",
                lists.path().string(), indptr.front(), indptr.back(), entries);
  return ok();
}

result<dataset::sparse_arrays> open_sparse(const fs::path& folder,
                                           const node_type_info& type) {
  dataset::sparse_arrays out;
  GRAPHMILL_TRY(out.indptr, open_array(folder / sparse_indptr_file,
                                       dtype::int64, {type.count + 1}));
  GRAPHMILL_TRY(out.indices, open_array(folder / sparse_indices_file,
                                        dtype::int32, {type.feature_entries}));
  GRAPHMILL_TRY(out.values,
                open_array(folder / sparse_values_file, type.feature_type,
                           {type.feature_entries}));
  GRAPHMILL_TRYV(check_ends(out.indptr, type.feature_entries));
  return out;
}

result<dataset::node_arrays> open_nodes(const fs::path& folder,
                                        const node_type_info& type) {
  dataset::node_arrays arrays;
  if (type.feature_width > 0 && type.sparse_features) {
    GRAPHMILL_TRY(arrays.sparse, open_sparse(folder, type));
  } else if (type.feature_width > 0) {
    GRAPHMILL_TRY(arrays.features,
                  open_array(folder / "features.npy", type.feature_type,
                             {type.count, type.feature_width}));
  }
  if (type.timed) {
    GRAPHMILL_TRY(arrays.times,
                  open_array(folder / times_file, dtype::int64, {type.count}));
  }
  dataset::label_arrays& own = arrays;
  GRAPHMILL_TRY(own, open_labels(folder, type, ""));
  for (const auto& set : type.label_sets) {
    GRAPHMILL_TRY(auto opened,
                  open_labels(folder, with_labels_of(type, set), set.name));
    arrays.label_sets.push_back(std::move(opened));
  }
  return arrays;
}

result<dataset::edge_arrays> open_edges(const fs::path& folder,
                                        const edge_type_info& type,
                                        std::int64_t sources,
                                        std::int64_t destinations) {
  dataset::edge_arrays arrays;
  GRAPHMILL_TRY(arrays.indptr, open_array(folder / "indptr.npy", dtype::int64,
                                          {destinations + 1}));
  GRAPHMILL_TRY(arrays.indices, open_array(folder / "indices.npy",
                                           type.index_type, {type.count}));
  GRAPHMILL_TRY(arrays.in_degrees, open_array(folder / "in_degrees.npy",
                                              dtype::int32, {destinations}));
  GRAPHMILL_TRY(arrays.out_degrees, open_array(folder / "out_degrees.npy",
                                               dtype::int32, {sources}));
  GRAPHMILL_TRYV(check_ends(arrays.indptr, type.count));
  if (type.weighted) {
    auto& weighted = arrays.weighted.emplace();
    GRAPHMILL_TRY(weighted.weights, open_array(folder / weights_file,
                                               dtype::float32, {type.count}));
    GRAPHMILL_TRY(
      weighted.in_weights,
      open_array(folder / in_weights_file, dtype::float32, {destinations}));
    GRAPHMILL_TRY(weighted.out_weights, open_array(folder / out_weights_file,
                                                   dtype::float32, {sources}));
  }
  if (type.timed) {
    GRAPHMILL_TRY(arrays.times,
                  open_array(folder / times_file, dtype::int64, {type.count}));
  }
  if (type.leveled) {
    GRAPHMILL_TRY(arrays.visible, open_array(folder / visible_file,
                                             dtype::int32, {destinations, 2}));
  }
  if (type.feature_width > 0) {
    GRAPHMILL_TRY(arrays.features,
                  open_array(folder / features_file, type.feature_type,
                             {type.count, type.feature_width}));
  }
  return arrays;
}

} // namespace

std::vector<const npy_array*> dataset::edge_arrays::all() const {
  std::vector out{&indptr, &indices, &in_degrees, &out_degrees};
  if (weighted)
    for (const auto* array : weighted->all())
      out.push_back(array);
  if (visible)
    out.push_back(&*visible);
  if (times)
    out.push_back(&*times);
  if (features)
    out.push_back(&*features);
  return out;
}

result<std::span<const std::int64_t>> dataset::sparse_arrays::rows() const {
  GRAPHMILL_TRY(const auto ends, indptr.as<std::int64_t>());
  for (std::size_t row = 0; row + 1 < ends.size(); ++row)
    if (ends[row] < 0 || ends[row] > ends[row + 1]
        || ends[row + 1] > indices.size())
      return fail(ec::invalid_data,
                  "{}: the row of node {} goes from {} to {} of {} values",
                  indptr.path().string(), row, ends[row], ends[row + 1],
                  indices.size());
  return ends;
}

result<dataset> dataset::open(const fs::path& folder) {
  GRAPHMILL_TRY(auto info, read_dataset_info(folder));
  return open(folder, std::move(info));
}

result<dataset> dataset::open(const fs::path& folder, dataset_info info) {
  GRAPHMILL_TRYV(check_info(info, folder.string()));
  dataset opened;
  opened.folder_ = folder;
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    GRAPHMILL_TRY(auto arrays,
                  open_nodes(node_folder(folder, info, t), info.node_types[t]));
    opened.nodes_.push_back(std::move(arrays));
  }
  for (edge_type_id t = 0; t < std::ssize(info.edge_types); ++t) {
    const auto& type = info.edge_types[t];
    GRAPHMILL_TRY(auto arrays,
                  open_edges(edge_folder(folder, info, t), type,
                             info.node_types[type.source].count,
                             info.node_types[type.destination].count));
    opened.edges_.push_back(std::move(arrays));
  }
  for (const auto& task : info.tasks) {
    GRAPHMILL_TRY(auto arrays, open_task(folder, task));
    opened.tasks_.push_back(std::move(arrays));
  }
  opened.info_ = std::move(info);
  return opened;
}

std::vector<std::string> unused_arrays(const dataset& data) {
  std::vector<std::string> found;
  const auto look = [&](const fs::path& folder, const char* name) {
    std::error_code failed;
    if (fs::exists(folder / name, failed))
      found.push_back((folder / name).lexically_relative(data.folder()));
  };
  const auto& info = data.info();
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t)
    look(node_folder(data.folder(), info, t), "time.npy");
  for (edge_type_id e = 0; e < std::ssize(info.edge_types); ++e) {
    const auto& type = info.edge_types[e];
    const auto place = edge_folder(data.folder(), info, e);
    if (!type.weighted)
      look(place, weights_file);
    look(place, "time.npy");
    if (type.feature_width == 0)
      look(place, features_file);
  }
  return found;
}

} // namespace graphmill
