#pragma once

#include "partition/dataset/dataset.hpp"
#include "partition/files/block_tree.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

struct label_meaning;

/// The version of `partitions.json` this build writes; it reads up to it.
inline constexpr int partitions_format_version = 1;

/// The largest number of parts of a dataset: the digests of all parts fit into
/// the message with which a daemon joins a cluster.
inline constexpr part_id most_parts = 1 << 14;

/// The level of an edge: 0 if all may see it, as those of training, 1 if a task
/// holds it out for validation, and 2 for its test. Sampling sees the edges up
/// to a level.
using edge_level = std::int32_t;
/// The highest level: sees all edges.
inline constexpr edge_level all_levels = 2;
/// Fails with `invalid_argument` unless it is a level.
result<void> check_level(edge_level level);

/// Node ids of 4 or 8 bytes each, as in a file or a message. Owns nothing.
struct id_span {
  const std::byte* data = nullptr;
  std::int64_t size = 0;
  bool wide = false; ///< true: int64; false: int32.

  node_id operator[](std::int64_t i) const {
    return wide ? reinterpret_cast<const std::int64_t*>(data)[i]
                : reinterpret_cast<const std::int32_t*>(data)[i];
  }
};

/// The arrays of a part with one row for each node whose content can be proved:
/// each has a tree of digests beside it.
enum class proved_array : std::uint8_t { features, labels, original_ids };
inline constexpr std::array<proved_array, 3> all_proved_arrays{
  proved_array::features, proved_array::labels, proved_array::original_ids};
/// "order/paper.npy", of the map from original to global ids of a node type,
/// within the folder of a partitioned dataset; and "originals/paper.npy", of
/// its inverse.
std::string order_file(const node_type_info& type);
std::string originals_file(const node_type_info& type);

/// "times/paper.npy", of the times of a node type by global id, likewise.
std::string node_times_file(const node_type_info& type);

/// "features.npy". The tree beside it is "features.blocks.npy".
std::string file_of(proved_array which);
std::string tree_file_of(proved_array which);

/// Features of a part's nodes as compressed rows. Owns nothing.
struct sparse_view {
  std::span<const std::int64_t> indptr; ///< [owned + 1]; empty: there are none.
  std::span<const std::int32_t> columns; ///< Ascending in each row.
  const std::byte* values = nullptr;     ///< [columns] of the type's dtype.
};

/// One node type of a part. Rows are local: global id - `begin`.
struct node_shard {
  node_id begin = 0;                     ///< First global id it owns.
  node_id end = 0;                       ///< One past the last.
  std::span<const node_id> original_ids; ///< Empty: original == global.
  const std::byte* features = nullptr;   ///< [end - begin, width] or null.
  /// Empty if the type has no labels, or no label of it is known.
  std::span<const std::int64_t> labels;
  /// [end - begin, label_bytes()] For nodes with rows of labels; then `labels`
  /// is empty.
  std::span<const std::uint8_t> label_rows;
  /// The trees, by `proved_array`. Empty if the part has none.
  std::array<std::span<const block_digest>, 3> trees;
  sparse_view sparse;    ///< Instead of `features`.
  bool keeps_ids = true; ///< Whether all global ids are the original ones.
  /// Original ids of all nodes of the type, by global id: what a part may need
  /// to know of nodes that it does not own. Empty: they are the same, or,
  /// unless `keeps_ids`, the folder does not say it.
  id_span all_originals;

  bool has_features() const {
    return features != nullptr || !sparse.indptr.empty();
  }
  node_id original(node_id global) const {
    return original_ids.empty() ? global : original_ids[global - begin];
  }
};

/// One edge type of a part: all in-edges of its nodes.
struct edge_shard {
  std::span<const std::int64_t> indptr; ///< [owned destinations + 1]
  id_span indices;                      ///< Global source ids, in list order.
  /// Original edge id of each owned destination's first in-edge; the rest of
  /// its list follows consecutively. Empty: it is `indptr` itself.
  std::span<const edge_id> original_begin;
  std::span<const std::int32_t> in_degrees;  ///< [owned destinations]
  std::span<const std::int32_t> out_degrees; ///< [owned sources]
  /// Weights, in the order of `indices`: finite and not negative. Empty if the
  /// type has none, and so are their sums over the whole graph.
  std::span<const float> weights;
  std::span<const float> in_weights;  ///< [owned destinations]
  std::span<const float> out_weights; ///< [owned sources]
  /// [owned destinations, 2] How many edges of a list stand at its front that
  /// are of level 0, and of level 0 or 1. Empty if all are of level 0.
  std::span<const std::int32_t> visible;
  /// In the order of `indices`, ascending in each list within a level. Empty if
  /// the type has none.
  std::span<const std::int64_t> times;
  /// [indices, feature width of the type] in the order of `indices`, or null.
  const std::byte* features = nullptr;

  /// Whether lists have edges beyond `level`.
  bool hides(edge_level level) const {
    return level < all_levels && !visible.empty();
  }
  /// [owned destinations] `visible`, row by row.
  std::span<const std::array<std::int32_t, 2>> seen_counts() const {
    return {
      reinterpret_cast<const std::array<std::int32_t, 2>*>(visible.data()),
      visible.size() / 2};
  }
  /// How many edges at the front of a list are of `level` or below. Of a
  /// damaged file it may be anything. @pre hides(level)
  std::int64_t seen(std::size_t row, edge_level level) const {
    return visible[2 * row + static_cast<std::size_t>(level)];
  }
};

/// One part of a graph, mapped. Owns the mappings behind its spans, which live
/// as long as it does. It never changes, so any number of threads may read it.
/// Opening does not check the content of the arrays: code that follows a list
/// checks its bounds first (see `sample_neighbours`).
class shard {
public:
  part_id part() const { return part_; }
  const node_shard& nodes(node_type_id type) const { return nodes_[type]; }
  const edge_shard& edges(edge_type_id type) const { return edges_[type]; }
  const dataset_info& info() const { return *info_; }

private:
  friend class partitioned_graph;
  friend class shard_builder; ///< Tests build shards from vectors.
  part_id part_ = 0;
  std::shared_ptr<const dataset_info> info_; ///< Of the whole graph.
  std::shared_ptr<const void> owner_;        ///< Keeps the arrays mapped.
  std::vector<node_shard> nodes_;
  std::vector<edge_shard> edges_;
};

/// A graph as the pipeline sees it: a book of who owns which global ids, the
/// seeds, and the parts. Opens a partitioned dataset (`partitions.json`) or a
/// plain one (`dataset.json`), which counts as one part with unchanged ids. The
/// book is in memory, and a part is mapped only when it is opened, so that a
/// daemon needs no more than the parts that it serves. It never changes, and
/// any number of threads may ask it.
///
/// Layout of a partitioned dataset:
///   partitions.json             format_version, parts, method, seed, dataset
///                               (the dataset.json of the whole graph),
///                               source_digest, part_digests [parts], offsets
///                               {node type: [parts + 1]}, seed_digests,
///                               order_digests, report, block_digests [parts]
///                               {array: root}
///   seeds/<type>/{train,val,test}.npy   global ids in the original seed order
///   seeds/<type>/{train,val,test}.<set>.npy   those of label sets
///   order/<type>.npy            [nodes] global ids, by original id
///   originals/<type>.npy        [nodes] original ids, by global id
///   times/<type>.npy            [nodes] times, by global id, of types that
///                               have some
///   part-<p>/                   a dataset folder whose destinations are the
///                               owned nodes, with global ids in indices.npy,
///                               and
///     nodes/<type>/original_ids.npy     [owned] int64
///     nodes/<type>/{features,labels,original_ids}.blocks.npy
///                                       [digests, 32] uint8
///     edges/<edge type>/original_begin.npy [owned destinations] int64
class partitioned_graph {
public:
  /// Reads and checks the book and the seeds. Maps no part.
  static result<partitioned_graph> open(const std::filesystem::path& folder);

  /// The same graph with a label set of its target: `info`, `seeds` and the
  /// labels of its parts are those of the set. Opens no file. An empty name
  /// means the target's own labels. Fails if there is no such set.
  result<partitioned_graph> with_labels(std::string_view set) const;

  /// The same graph with a task of edges: `info` is that of `choose_task`, and
  /// there are no seeds, but rows of `task`. Hides the labels of the target's
  /// nodes. Reads and checks the rows. Fails if there is no such task.
  result<partitioned_graph> with_task(std::string_view name) const;

  /// The same graph with these labels for its target, none of them known
  /// (`graphmill::with_unknown_labels`). It hides the labels of its parts. A
  /// task that is chosen of it has these classes, and hides the labels of its
  /// rows.
  result<partitioned_graph>
  with_unknown_labels(const label_meaning& labels) const;
  bool hides_labels() const { return unknown_ != nullptr; }

  /// Counts, types and degrees of the whole graph.
  const dataset_info& info() const { return *info_; }
  part_id part_count() const { return static_cast<part_id>(parts_); }
  /// Global id offsets: part p owns [offsets[p], offsets[p + 1]) of the type.
  std::span<const node_id> offsets(node_type_id type) const {
    return offsets_[type];
  }
  /// The part that owns a node. The id is not checked. Takes O(log parts).
  part_id owner(node_type_id type, node_id global) const;

  /// Seeds of the target type, as global ids in the original order of the
  /// split.
  std::span<const node_id> seeds(split which) const {
    return seeds_[static_cast<std::size_t>(which)];
  }

  /// The rows of the task, with global ids of nodes and original ids of edges.
  /// Null: nodes are learnt.
  const std::shared_ptr<const task_arrays>& task() const { return task_; }

  /// Whether global ids are the original ones, as where nothing was cut.
  bool keeps_ids() const { return !partitioned_; }

  /// The global ids of the nodes of a type, by original id: of the order in
  /// which they stood before the graph was cut. Reads the map of the folder,
  /// and where there is none, as in those of older versions, all of its parts.
  /// Takes 8 bytes for each node. Fails with `not_found` if the folder has
  /// neither, and with `invalid_data` if what it has is no such map.
  result<std::vector<node_id>> order(node_type_id type) const;

  /// The times of the nodes of a type, by global id. Empty if it has none.
  std::span<const std::int64_t> node_times(node_type_id type) const;

  /// Maps a part. Fails if the folder belongs to another graph or another
  /// partitioning, by its digest.
  result<std::shared_ptr<const shard>> open_shard(part_id part) const;

  /// Content digests of the parts; for a plain dataset, its own digest.
  const std::vector<std::string>& part_digests() const { return part_digests_; }

  /// Whether the roots of the blocks of all parts are known.
  bool proves_rows() const { return !roots_.empty(); }
  /// The root of the tree over an array of a part. None if the array is empty,
  /// or without `proves_rows`.
  std::optional<block_digest> root_of(part_id part, node_type_id type,
                                      proved_array which) const;

private:
  friend class shard_builder; ///< Tests build graphs from vectors.
  /// Of a node type of a part, by `proved_array`.
  using array_roots = std::array<std::optional<block_digest>, 3>;

  std::filesystem::path folder_;
  bool partitioned_ = false;
  std::int64_t parts_ = 1;
  std::shared_ptr<const dataset_info> info_;
  std::vector<std::vector<node_id>> offsets_;
  std::vector<std::string> part_digests_;
  std::map<std::string, std::string> order_digests_; ///< By path.
  std::vector<std::vector<array_roots>> roots_;      ///< [part][node type]
  std::array<std::vector<node_id>, 3> seeds_;
  std::vector<std::array<std::vector<node_id>, 3>> set_seeds_; ///< By set.
  /// By node type; null: it has no times.
  std::vector<std::shared_ptr<const npy_array>> node_times_;
  std::string labels_; ///< The visible label set; empty: none.
  /// Labels that replace all others.
  std::shared_ptr<const label_meaning> unknown_;
  std::shared_ptr<const task_arrays> task_;
  std::shared_ptr<const dataset_info>
    without_task_; ///< With `task_`: its parts'.
};

} // namespace graphmill
