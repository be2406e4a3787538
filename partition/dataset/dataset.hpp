#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/edge_tasks.hpp"
#include "partition/dataset/label_kinds.hpp"
#include "partition/files/npy/npy.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// The newest version of the folder format that this build reads.
/// `format_version_of` decides the version that it writes.
inline constexpr int dataset_format_version = 7;

/// The splits of a node type. Arrays by split use this order.
enum class split : std::uint8_t { train, validation, test };
inline constexpr std::array<split, 3> all_splits{
  split::train, split::validation, split::test};
/// "train", "val", "test": the names of the files.
std::string_view file_stem(split which);

/// Other labels of the nodes of a type, with their own kind, classes and
/// splits. A definition chooses one by its name.
struct label_set_info {
  std::string name;
  /// Classes, or labels or numbers of a node.
  std::int64_t class_count = 0;
  std::vector<std::string> class_names;       ///< Empty, or one per class.
  std::array<std::int64_t, 3> split_counts{}; ///< Seeds per split.
  label_kind labels = label_kind::classes;
};

struct node_type_info {
  std::string name;
  std::int64_t count = 0;
  std::int64_t feature_width = 0;      ///< 0: the type has no features.
  dtype feature_type = dtype::float32; ///< float32 or float16.
  /// Classes, or labels or numbers of a node; 0: the type has no labels.
  std::int64_t class_count = 0;
  std::vector<std::string> class_names;       ///< Empty, or one per class.
  std::array<std::int64_t, 3> split_counts{}; ///< Seeds per split.
  std::vector<label_set_info> label_sets{};   ///< Besides its own labels.
  /// Of its own labels; label sets have kinds of their own.
  label_kind labels = label_kind::classes;
  /// Whether features are stored as compressed rows, without zeros.
  bool sparse_features = false;
  /// Whether each node has a time, before which it does not exist: times.npy.
  bool timed = false;
  std::int64_t feature_entries = 0;  ///< Values that sparse features have.
  std::int64_t most_row_entries = 0; ///< The largest number of them in a row.

  /// Whether a node has a row of labels instead of one class.
  bool has_label_rows() const { return traits_of(labels).rows; }
  /// Bytes of one node in a file of labels.
  std::uint64_t label_bytes() const {
    return traits_of(labels).bytes(class_count);
  }
  /// Bytes of a row of features.npy; 0 if the type has no such file.
  std::uint64_t dense_row_bytes() const {
    return sparse_features ? 0
                           : static_cast<std::uint64_t>(feature_width)
                               * size_of(feature_type);
  }
  /// Bytes of the arrays of its features, in their stored form.
  std::uint64_t feature_bytes() const;
};

struct edge_type_info {
  node_type_id source = 0;
  std::string name;
  node_type_id destination = 0;
  std::int64_t count = 0;
  std::int64_t max_in_degree = 0;  ///< Over the whole graph.
  dtype index_type = dtype::int64; ///< Of indices.npy: int32 or int64.
  bool weighted = false; ///< Whether each edge has a weight: weights.npy.
  /// Whether lists are sorted by level: visible.npy. So it is with types whose
  /// edges, or their reverses, a task holds out.
  bool leveled = false;
  /// Whether each edge has a time, and lists are sorted by it within a level:
  /// times.npy. Edges without times of their own have those of their sources.
  bool timed = false;
  std::int64_t feature_width = 0;      ///< 0: its edges have no features.
  dtype feature_type = dtype::float32; ///< float32 or float16.

  /// Bytes of a row of features.npy; 0 if there is no such file.
  std::uint64_t feature_row_bytes() const {
    return static_cast<std::uint64_t>(feature_width) * size_of(feature_type);
  }
};

/// The content of `dataset.json`. Value type.
struct dataset_info {
  int format_version = 1; ///< `format_version_of` decides the written version.
  std::string name;
  std::vector<node_type_info> node_types;
  std::vector<edge_type_info> edge_types;
  node_type_id target = 0; ///< The node type whose labels are learnt.
  std::vector<edge_task_info> tasks{}; ///< Of edges. Parts have none.
  /// Of a second, in all times; 1 where times have no unit, but count steps.
  std::int64_t ticks_per_second = 1'000'000;
  /// Whether nodes or edges of any type have times.
  bool has_times() const;
  /// Of `tasks`: the one whose rows are learnt, as `choose_target` shows it. In
  /// no file.
  std::optional<std::size_t> chosen_task{};
  std::string provenance; ///< Where the data came from and how it was made.
  std::string digest;     ///< Over the content of all arrays, hexadecimal.

  /// "source__name__destination": the folder, and the name for people.
  std::string edge_type_name(edge_type_id type) const;
  std::optional<node_type_id> find_node_type(std::string_view name) const;
  /// By full name, or by the middle name where that is unique.
  std::optional<edge_type_id> find_edge_type(std::string_view name) const;
  std::optional<std::size_t> find_task(std::string_view name) const;
};

/// The version for writing a dataset: 7 if edges have features, which older
/// builds would ignore; 6 if it has tasks of edges, or edges with levels, which
/// still older builds would ignore; 5 if edges have weights, which
/// still older builds would ignore; 4 if a label set has rows of labels, which
/// still older builds read as classes; 3 if a node type has sparse features or
/// rows of labels, which earlier builds cannot read; 2 if a type has label
/// sets, which they would ignore; else 1.
int format_version_of(const dataset_info& info);

/// A warning if no edge ends at a node of the target type, so that seeds have
/// no neighbours.
std::optional<std::string> note_on_reach(const dataset_info& info);

/// The warning of `note_on_reach`, and one if the target has seeds, but none
/// for training.
std::vector<std::string> notes_on_target(const dataset_info& info);

/// Reads and checks a `dataset.json`. A newer format version is refused.
result<dataset_info> read_dataset_info(const std::filesystem::path& folder);
/// The same of a text. @param where What it stands in, for errors.
result<dataset_info> parse_dataset_info(std::string_view text,
                                        std::string_view where);
result<void> write_dataset_info(const std::filesystem::path& folder,
                                const dataset_info& info);

/// An open dataset folder: every array mapped, its header checked against
/// `dataset.json`. Contents (ids in range, sorted indptr) are checked when a
/// dataset is prepared, not again at each open; `inspect` checks them on
/// demand.
class dataset {
public:
  static result<dataset> open(const std::filesystem::path& folder);
  /// Takes `info` instead of what `dataset.json` says.
  static result<dataset> open(const std::filesystem::path& folder,
                              dataset_info info);

  const std::filesystem::path& folder() const { return folder_; }
  const dataset_info& info() const { return info_; }

  struct label_arrays {
    std::optional<npy_array> labels; ///< As `label_kind` describes.
    std::array<std::optional<npy_array>, 3>
      splits; ///< int64 ids, in seed order
  };

  /// Features as compressed rows. The columns of a row ascend.
  struct sparse_arrays {
    npy_array indptr;  ///< [N + 1] int64
    npy_array indices; ///< [entries] int32, columns
    npy_array values;  ///< [entries] float32 or float16

    std::array<const npy_array*, 3> all() const {
      return {&indptr, &indices, &values};
    }
    /// `indptr`, checked: it ascends and stays within the entries.
    result<std::span<const std::int64_t>> rows() const;
  };

  struct node_arrays : label_arrays {     ///< With the type's own labels.
    std::optional<npy_array> features;    ///< [N, F] float32 or float16
    std::vector<label_arrays> label_sets; ///< As in `node_type_info`.
    std::optional<sparse_arrays> sparse;  ///< In place of `features`.
    std::optional<npy_array> times;       ///< [N] int64; not in parts.

    bool has_features() const { return features || sparse; }
  };

  /// Of edges that have weights: float32, finite and not negative.
  struct weight_arrays {
    npy_array weights;     ///< [E], in the order of `indices`
    npy_array in_weights;  ///< [N_destination] sums over the full graph
    npy_array out_weights; ///< [N_source] sums over the full graph

    std::array<const npy_array*, 3> all() const {
      return {&weights, &in_weights, &out_weights};
    }
  };

  struct edge_arrays {
    npy_array indptr;      ///< [N_destination + 1] int64
    npy_array indices;     ///< [E] int32 or int64 source ids
    npy_array in_degrees;  ///< [N_destination] int32, over the full graph
    npy_array out_degrees; ///< [N_source] int32, over the full graph
    std::optional<weight_arrays> weighted; ///< If the type has weights.
    /// [N_destination, 2] int32, if the type is leveled: how many edges of each
    /// list are of the first level (training, and edges of no split), and of
    /// the first two (validation). The rest of the list is of the test split.
    std::optional<npy_array> visible;
    /// [E] int64, in the order of `indices`, if the type has times.
    std::optional<npy_array> times;
    /// [E, F] float32 or float16, in the order of `indices`, if the type has
    /// features.
    std::optional<npy_array> features;

    /// All of them, in the order in which parts are written.
    std::vector<const npy_array*> all() const;
  };

  const node_arrays& nodes(node_type_id type) const { return nodes_[type]; }
  const edge_arrays& edges(edge_type_id type) const { return edges_[type]; }
  /// As in `dataset_info`.
  const task_arrays& task(std::size_t which) const { return tasks_[which]; }

private:
  std::filesystem::path folder_;
  dataset_info info_;
  std::vector<node_arrays> nodes_;
  std::vector<edge_arrays> edges_;
  std::vector<task_arrays> tasks_;
};

/// Optional arrays in the folder that nothing reads, as paths within it: times
/// of edges and nodes, and weights and features of edge types without any in
/// dataset.json.
std::vector<std::string> unused_arrays(const dataset& data);

} // namespace graphmill
