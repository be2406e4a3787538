#include "partition/dataset/shard.hpp"

#include "partition/dataset/chosen_task.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/partition_book.hpp"
#include "partition/dataset/proved_arrays.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/files/content_hash.hpp"

#include <algorithm>
#include <numeric>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

bool same_label_sets(const node_type_info& a, const node_type_info& b) {
  return std::ranges::equal(
    a.label_sets, b.label_sets,
    [](const label_set_info& x, const label_set_info& y) {
      return x.name == y.name && x.class_count == y.class_count
             && x.labels == y.labels;
    });
}

result<std::vector<node_id>> read_seeds(const fs::path& path,
                                        const node_type_info& type,
                                        std::int64_t size) {
  if (size == 0)
    return std::vector<node_id>{};
  GRAPHMILL_TRY(const auto array, npy_array::open(path));
  GRAPHMILL_TRYV(array.expect_shape({size}));
  GRAPHMILL_TRY(const auto ids, array.as<std::int64_t>());
  std::vector<node_id> seeds{ids.begin(), ids.end()};
  for (auto id : seeds)
    if (id < 0 || id >= type.count)
      return fail(ec::invalid_data, "{}: {} is no node: \"{}\" has {} nodes",
                  path.string(), id, type.name, type.count);
  return seeds;
}

/// Of a label set; empty: of the type's own labels.
result<std::array<std::vector<node_id>, 3>>
read_splits(const fs::path& folder, const node_type_info& type,
            std::string_view set) {
  std::array<std::vector<node_id>, 3> out;
  for (auto which : all_splits) {
    const auto i = static_cast<std::size_t>(which);
    GRAPHMILL_TRY(out[i], read_seeds(folder / seeds_file(which, set), type,
                                     type.split_counts[i]));
  }
  return out;
}

/// Whether the folder of a part belongs to the graph: its types and counts are
/// compared with those of the book. (Its arrays have been compared with its own
/// counts when it was opened.)
result<void> check_part(const dataset_info& part, const dataset_info& whole,
                        std::span<const std::vector<node_id>> offsets,
                        part_id number, const fs::path& folder) {
  const auto alien = [&folder](std::string_view name) {
    return fail(ec::invalid_data,
                "{} is not a part of this graph: {}: partition the dataset "
                "again",
                folder.string(), name);
  };
  if (part.node_types.size() != whole.node_types.size()
      || part.edge_types.size() != whole.edge_types.size())
    return alien("it has other types");
  for (std::size_t t = 0; t < whole.node_types.size(); ++t) {
    const auto& mine = part.node_types[t];
    const auto& type = whole.node_types[t];
    if (mine.name != type.name || mine.feature_width != type.feature_width
        || mine.feature_type != type.feature_type
        || mine.sparse_features != type.sparse_features
        || mine.most_row_entries != type.most_row_entries
        || mine.class_count != type.class_count || mine.labels != type.labels
        || !same_label_sets(mine, type))
      return alien(fmt::format("node type {} differs", t));
    if (mine.count != offsets[t][number + 1] - offsets[t][number])
      return alien(
        fmt::format("it has {} nodes of type \"{}\"", mine.count, type.name));
  }
  for (std::size_t e = 0; e < whole.edge_types.size(); ++e) {
    const auto& mine = part.edge_types[e];
    const auto& type = whole.edge_types[e];
    if (mine.name != type.name || mine.source != type.source
        || mine.destination != type.destination
        || mine.weighted != type.weighted || mine.leveled != type.leveled
        || mine.timed != type.timed || mine.feature_width != type.feature_width
        || mine.feature_type != type.feature_type)
      return alien(fmt::format("edge type {} differs", e));
  }
  return ok();
}

/// The mappings behind a shard.
struct opened_part {
  dataset data;
  std::vector<npy_array> more; ///< Arrays that only parts have.

  /// The tree over an array, if there is one.
  result<std::span<const block_digest>> open_tree(const fs::path& path,
                                                  const block_layout& layout) {
    std::error_code unreadable;
    if (!fs::exists(path, unreadable))
      return std::span<const block_digest>{};
    const auto nodes = nodes_of_tree(layout.blocks());
    GRAPHMILL_TRY(auto array, npy_array::open(path));
    GRAPHMILL_TRYV(array.expect_shape({nodes, std::ssize(block_digest{})}));
    GRAPHMILL_TRYV(array.expect_type(dtype::uint8));
    const std::span<const block_digest> digests{
      reinterpret_cast<const block_digest*>(array.data()),
      static_cast<std::size_t>(nodes)};
    more.push_back(std::move(array)); // The mapping stays where it is.
    return digests;
  }

  /// Ids of either width, if the file is there.
  result<id_span> open_ids(const fs::path& path, std::int64_t size) {
    std::error_code unreadable;
    if (!fs::exists(path, unreadable))
      return id_span{};
    GRAPHMILL_TRY(auto array, npy_array::open(path));
    GRAPHMILL_TRYV(array.expect_shape({size}));
    if (array.type() != dtype::int32)
      GRAPHMILL_TRYV(array.expect_type(dtype::int64));
    more.push_back(std::move(array)); // The mapping stays where it is.
    const auto& kept = more.back();
    return id_span{kept.data(), size, kept.type() == dtype::int64};
  }

  result<std::span<const std::int64_t>> open(const fs::path& path,
                                             std::int64_t size) {
    GRAPHMILL_TRY(auto array, npy_array::open(path));
    GRAPHMILL_TRYV(array.expect_shape({size}));
    GRAPHMILL_TRY(const auto values, array.as<std::int64_t>());
    more.push_back(std::move(array)); // The mapping stays where it is.
    return values;
  }
};

/// @param set The label set that is shown, if it is one of this type.
result<node_shard> node_view(opened_part& part, node_type_id t,
                             std::optional<std::size_t> set) {
  const auto& arrays = part.data.nodes(t);
  const auto& shown = set ? arrays.label_sets[*set]
                          : static_cast<const dataset::label_arrays&>(arrays);
  node_shard out;
  if (arrays.features)
    out.features = arrays.features->data();
  if (arrays.sparse) {
    GRAPHMILL_TRY(out.sparse.indptr, arrays.sparse->indptr.as<std::int64_t>());
    GRAPHMILL_TRY(out.sparse.columns,
                  arrays.sparse->indices.as<std::int32_t>());
    out.sparse.values = arrays.sparse->values.data();
  }
  if (shown.labels) {
    if (shown.labels->type() == dtype::int64) {
      GRAPHMILL_TRY(out.labels, shown.labels->as<std::int64_t>());
    } else {
      out.label_rows = {
        reinterpret_cast<const std::uint8_t*>(shown.labels->data()),
        shown.labels->bytes().size()};
    }
  }
  return out;
}

result<edge_shard> edge_view(opened_part& part, edge_type_id e) {
  const auto& arrays = part.data.edges(e);
  edge_shard out;
  GRAPHMILL_TRY(out.indptr, arrays.indptr.as<std::int64_t>());
  GRAPHMILL_TRY(out.in_degrees, arrays.in_degrees.as<std::int32_t>());
  GRAPHMILL_TRY(out.out_degrees, arrays.out_degrees.as<std::int32_t>());
  out.indices = {arrays.indices.data(), arrays.indices.size(),
                 arrays.indices.type() == dtype::int64};
  if (arrays.weighted) {
    GRAPHMILL_TRY(out.weights, arrays.weighted->weights.as<float>());
    GRAPHMILL_TRY(out.in_weights, arrays.weighted->in_weights.as<float>());
    GRAPHMILL_TRY(out.out_weights, arrays.weighted->out_weights.as<float>());
  }
  if (arrays.visible) {
    GRAPHMILL_TRY(out.visible, arrays.visible->as<std::int32_t>());
  }
  if (arrays.times) {
    GRAPHMILL_TRY(out.times, arrays.times->as<std::int64_t>());
  }
  if (arrays.features)
    out.features = arrays.features->data();
  return out;
}

/// Global ids by original id, from an array of either by the other.
class order_reader {
public:
  explicit order_reader(const node_type_info& type)
    : type_(type), out_(static_cast<std::size_t>(type.count), nobody),
      taken_(static_cast<std::size_t>(type.count)) {}

  /// @param path For errors.
  result<void> put(node_id original, node_id global, const fs::path& path) {
    if (original < 0 || original >= type_.count || global < 0
        || global >= type_.count
        || out_[static_cast<std::size_t>(original)] != nobody
        || taken_[static_cast<std::size_t>(global)])
      return fail(
        ec::invalid_data,
        "{} is damaged: node {} before the dataset was partitioned is "
        "node {} of {} now, which cannot be, or is another one, too: "
        "partition the dataset again",
        path.string(), original, global, type_.count);
    out_[static_cast<std::size_t>(original)] = global;
    taken_[static_cast<std::size_t>(global)] = true;
    return ok();
  }

  /// Once as many as there are nodes have been put.
  std::vector<node_id> take() { return std::move(out_); }

private:
  static constexpr node_id nobody = -1;

  const node_type_info& type_;
  std::vector<node_id> out_;
  std::vector<bool> taken_;
};

result<std::vector<node_id>> read_order(const fs::path& path,
                                        const node_type_info& type,
                                        const std::string& digest) {
  GRAPHMILL_TRY(const auto array, npy_array::open(path));
  GRAPHMILL_TRYV(array.expect_shape({type.count}));
  if (array.type() != dtype::int32)
    GRAPHMILL_TRYV(array.expect_type(dtype::int64));
  content_hash own;
  own.update(array.bytes());
  if (!digest.empty() && own.digest() != digest)
    return fail(ec::invalid_data,
                "{} is damaged: its digest is {}, but partitions.json says {}: "
                "copy it again, or partition the dataset again",
                path.string(), own.digest(), digest);
  const id_span globals{array.data(), array.size(),
                        array.type() == dtype::int64};
  order_reader out{type};
  for (node_id id = 0; id < type.count; ++id)
    GRAPHMILL_TRYV(out.put(id, globals[id], path));
  if (auto fault = mapped_file::first_fault())
    return *std::move(fault);
  return out.take();
}

} // namespace

result<void> check_level(edge_level level) {
  if (level >= 0 && level <= all_levels)
    return ok();
  return fail(ec::invalid_argument,
              "there is no level {} of edges, but 0 to {}", level, all_levels);
}

std::string order_file(const node_type_info& type) {
  return "order/" + type.name + ".npy";
}

std::string originals_file(const node_type_info& type) {
  return "originals/" + type.name + ".npy";
}

std::string node_times_file(const node_type_info& type) {
  return "times/" + type.name + ".npy";
}

std::string file_of(proved_array which) {
  switch (which) {
  case proved_array::features:
    return "features.npy";
  case proved_array::labels:
    return "labels.npy";
  case proved_array::original_ids:
    break;
  }
  return "original_ids.npy";
}

std::string tree_file_of(proved_array which) {
  return fs::path{file_of(which)}.stem().string() + ".blocks.npy";
}

result<partitioned_graph> partitioned_graph::open(const fs::path& folder) {
  const auto book_path = folder / "partitions.json";
  partitioned_graph graph;
  graph.folder_ = folder;
  std::error_code unreadable;
  graph.partitioned_ = fs::exists(book_path, unreadable);
  if (unreadable)
    return fail_errno(unreadable.value(), "cannot look into {}",
                      folder.string());
  partition_book book;
  if (graph.partitioned_) {
    GRAPHMILL_TRY(book, read_book(book_path));
  } else {
    GRAPHMILL_TRY(book.info, read_dataset_info(folder));
    for (const auto& type : book.info.node_types)
      book.offsets.push_back({0, type.count});
  }
  const auto& target = book.info.node_types[book.info.target];
  const auto seed_folder =
    folder / (graph.partitioned_ ? "seeds" : "nodes") / target.name;
  GRAPHMILL_TRY(graph.seeds_, read_splits(seed_folder, target, ""));
  for (const auto& set : target.label_sets) {
    GRAPHMILL_TRY(
      auto seeds,
      read_splits(seed_folder, with_labels_of(target, set), set.name));
    graph.set_seeds_.push_back(std::move(seeds));
  }
  for (node_type_id t = 0; t < std::ssize(book.info.node_types); ++t) {
    auto& times = graph.node_times_.emplace_back();
    const auto& type = book.info.node_types[static_cast<std::size_t>(t)];
    if (!type.timed)
      continue;
    GRAPHMILL_TRY(
      auto array,
      npy_array::open(graph.partitioned_
                        ? folder / node_times_file(type)
                        : node_folder(folder, book.info, t) / times_file));
    GRAPHMILL_TRYV(array.expect_type(dtype::int64));
    GRAPHMILL_TRYV(array.expect_shape({type.count}));
    times = std::make_shared<const npy_array>(std::move(array));
  }
  graph.parts_ = std::ssize(book.offsets[0]) - 1;
  graph.offsets_ = std::move(book.offsets);
  graph.part_digests_ = std::move(book.part_digests);
  graph.order_digests_ = std::move(book.order_digests);
  graph.roots_ = std::move(book.roots);
  graph.info_ = std::make_shared<const dataset_info>(std::move(book.info));
  return graph;
}

result<partitioned_graph>
partitioned_graph::with_labels(std::string_view set) const {
  auto out = *this;
  if (set.empty())
    return out;
  GRAPHMILL_TRY(auto chosen, choose_labels(*info_, set));
  const auto& target = chosen.node_types[chosen.target];
  out.seeds_ = set_seeds_[*find_label_set(target, set)];
  out.info_ = std::make_shared<const dataset_info>(std::move(chosen));
  out.labels_ = set;
  return out;
}

result<partitioned_graph>
partitioned_graph::with_task(std::string_view name) const {
  if (task_ && info_->tasks[*info_->chosen_task].name == name)
    return *this;
  const auto& whole = task_ ? without_task_ : info_;
  GRAPHMILL_TRY(auto chosen, choose_task(*whole, name));
  GRAPHMILL_TRY(auto rows, open_task(folder_, *whole, name));
  if (unknown_)
    chosen = with_outputs_of(std::move(chosen), *unknown_);
  auto out = *this;
  out.without_task_ = whole;
  out.info_ = std::make_shared<const dataset_info>(std::move(chosen));
  out.task_ = std::make_shared<const task_arrays>(std::move(rows));
  out.seeds_ = {};
  out.set_seeds_.clear();
  return out;
}

result<partitioned_graph>
partitioned_graph::with_unknown_labels(const label_meaning& labels) const {
  auto out = *this;
  GRAPHMILL_TRY(auto shown, graphmill::with_unknown_labels(*info_, labels));
  out.info_ = std::make_shared<const dataset_info>(std::move(shown));
  out.unknown_ = std::make_shared<const label_meaning>(labels);
  out.labels_.clear();
  out.seeds_ = {};
  out.set_seeds_.clear();
  return out;
}

part_id partitioned_graph::owner(node_type_id type, node_id global) const {
  const auto& cuts = offsets_[type];
  const auto after = std::upper_bound(cuts.begin() + 1, cuts.end() - 1, global);
  return static_cast<part_id>(after - cuts.begin() - 1);
}

std::span<const std::int64_t>
partitioned_graph::node_times(node_type_id type) const {
  if (node_times_.empty() || !node_times_[static_cast<std::size_t>(type)])
    return {};
  const auto& array = *node_times_[static_cast<std::size_t>(type)];
  return {reinterpret_cast<const std::int64_t*>(array.data()),
          static_cast<std::size_t>(array.size())};
}

result<std::vector<node_id>> partitioned_graph::order(node_type_id type) const {
  const auto& about = info_->node_types[static_cast<std::size_t>(type)];
  if (!partitioned_) {
    std::vector<node_id> out(static_cast<std::size_t>(about.count));
    std::iota(out.begin(), out.end(), node_id{0});
    return out;
  }
  const auto path = folder_ / order_file(about);
  std::error_code unreadable;
  if (fs::exists(path, unreadable)) {
    const auto digest = order_digests_.find(order_file(about));
    return read_order(path, about,
                      digest == order_digests_.end() ? "" : digest->second);
  }
  order_reader out{about};
  for (part_id p = 0; p < part_count(); ++p) {
    const auto at =
      node_folder(folder_ / fmt::format("part-{}", p), *info_, type)
      / "original_ids.npy";
    if (!fs::exists(at, unreadable))
      return fail(ec::not_found,
                  "{} has no {}, which says in what order its nodes stood "
                  "before it was partitioned, and no {} to tell that by: copy "
                  "order/ from where the dataset was partitioned; if that is "
                  "from an older Graphmill and has none, partition the dataset "
                  "again",
                  folder_.string(), order_file(about),
                  at.lexically_relative(folder_).string());
    GRAPHMILL_TRY(const auto array, npy_array::open(at));
    const auto begin = offsets(type)[static_cast<std::size_t>(p)];
    GRAPHMILL_TRYV(array.expect_shape(
      {offsets(type)[static_cast<std::size_t>(p) + 1] - begin}));
    GRAPHMILL_TRY(const auto originals, array.as<node_id>());
    for (std::size_t i = 0; i < originals.size(); ++i)
      GRAPHMILL_TRYV(
        out.put(originals[i], begin + static_cast<node_id>(i), at));
    if (auto fault = mapped_file::first_fault())
      return *std::move(fault);
  }
  return out.take();
}

std::optional<block_digest>
partitioned_graph::root_of(part_id part, node_type_id type,
                           proved_array which) const {
  if (!proves_rows())
    return std::nullopt;
  return roots_[static_cast<std::size_t>(part)][static_cast<std::size_t>(type)]
               [static_cast<std::size_t>(which)];
}

result<std::shared_ptr<const shard>>
partitioned_graph::open_shard(part_id part) const {
  if (part < 0 || part >= part_count())
    return fail(ec::invalid_argument, "there is no part {} of {}", part,
                part_count());
  const auto at =
    partitioned_ ? folder_ / fmt::format("part-{}", part) : folder_;
  GRAPHMILL_TRY(auto data, dataset::open(at));
  GRAPHMILL_TRY(const auto shown,
                unknown_
                  ? graphmill::with_unknown_labels(data.info(), *unknown_)
                  : choose_labels(data.info(), labels_));
  GRAPHMILL_TRYV(
    check_part(shown, task_ ? *without_task_ : *info_, offsets_, part, at));
  if (partitioned_ && data.info().digest != part_digests_[part])
    return fail(ec::invalid_data,
                "{} is of another partitioning: its digest is {}, but "
                "partitions.json says {}: partition the dataset again",
                at.string(), data.info().digest, part_digests_[part]);
  auto opened = std::make_shared<opened_part>(opened_part{std::move(data), {}});
  auto out = std::make_shared<shard>();
  out->part_ = part;
  out->info_ = info_;
  out->owner_ = opened;
  const auto& info = opened->data.info();
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    GRAPHMILL_TRY(auto nodes, node_view(*opened, t,
                                        t == info_->target ? find_label_set(
                                          info.node_types[t], labels_)
                                                           : std::nullopt));
    if ((unknown_ || task_) && t == info_->target) {
      nodes.labels = {};
      nodes.label_rows = {};
    }
    nodes.begin = offsets_[t][part];
    nodes.end = offsets_[t][part + 1];
    nodes.keeps_ids = !partitioned_;
    if (partitioned_) {
      GRAPHMILL_TRY(
        nodes.all_originals,
        opened->open_ids(folder_ / originals_file(info.node_types[t]),
                         offsets_[t].back()));
      GRAPHMILL_TRY(nodes.original_ids,
                    opened->open(node_folder(at, info, t) / "original_ids.npy",
                                 nodes.end - nodes.begin));
      for (auto which : all_proved_arrays) {
        if (!has_array(info.node_types[t], which))
          continue; // Its layout would have rows of nothing.
        const auto layout =
          layout_of(info.node_types[t], nodes.end - nodes.begin, which);
        GRAPHMILL_TRY(
          nodes.trees[static_cast<std::size_t>(which)],
          opened->open_tree(node_folder(at, info, t) / tree_file_of(which),
                            layout));
      }
    }
    out->nodes_.push_back(nodes);
  }
  for (edge_type_id e = 0; e < std::ssize(info.edge_types); ++e) {
    GRAPHMILL_TRY(auto edges, edge_view(*opened, e));
    if (partitioned_) {
      GRAPHMILL_TRY(
        edges.original_begin,
        opened->open(edge_folder(at, info, e) / "original_begin.npy",
                     std::ssize(edges.indptr) - 1));
    }
    out->edges_.push_back(edges);
  }
  return std::shared_ptr<const shard>{std::move(out)};
}

} // namespace graphmill
