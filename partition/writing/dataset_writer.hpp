#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/writing/edge_rules.hpp"
#include "partition/writing/prepare.hpp"
#include "partition/writing/task_writer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// The name of a node.
using node_namer = std::function<std::string(node_type_id, node_id)>;

/// Writes a dataset folder front to back in bounded memory. Node types, edge
/// types and node counts are declared first. Arrays and edges follow in any
/// order. `finish` sorts edges into CSC, computes degrees and the digest, and
/// writes `dataset.json` last, because no folder without it is a dataset.
/// Checks its input: ids in range, finite features, labels in range, seeds
/// labelled, unique and in one split only, weights finite and not negative.
///
/// States: open, until `finish` is called; then spent, after success or
/// failure, and every call fails. Owns its open files and the data that are not
/// written yet: labels and splits of all types, and buffers of edges and
/// features. Not thread-safe. After a failure it does not remove its files:
/// `prepare_folder` does.
class dataset_writer {
public:
  struct options {
    /// Memory for sorting edges. If a quarter of the available memory is less,
    /// that counts, but at least 16 MiB.
    std::uint64_t memory_bytes = std::uint64_t{1} << 30;
    progress_callback on_progress;
    std::vector<edge_rules> edges{}; ///< By type; later types have none.
    /// The name of a node in errors about sorted edges; without this function,
    /// its number.
    node_namer name_of{};
    /// Whether labels of the target that no split has a node of are an error.
    bool needs_seeds = true;
  };

  /// @param folder An existing, empty folder, usually of `prepare_folder`.
  /// @param info Names, types, node counts, feature widths and types, class
  /// counts and names, target, provenance, whether features are stored as
  /// sparse ones, whether edges have weights, how many features and of which
  /// type, and tasks without numbers of rows. Which edge types are leveled
  /// follows from these. Edge counts, degrees, index types, split counts,
  /// counts of sparse features and the digest are filled in by `finish`.
  static result<dataset_writer> create(const std::filesystem::path& folder,
                                       dataset_info info, options opts);
  dataset_writer(dataset_writer&&) noexcept;
  ~dataset_writer();

  /// Appends feature rows of a type, in node order: [any, width] float32 values
  /// (stored as the type's dtype; without zeros, if its features are sparse).
  result<void> append_features(node_type_id type, std::span<const float> rows);

  /// Sets all labels of a type: [nodes], from 0 to below its class count, or -1
  /// for none.
  result<void> set_labels(node_type_id type,
                          std::span<const std::int64_t> labels);

  /// Sets all labels of a type with rows of labels, as `label_kind` describes.
  /// @param rows [nodes, label_bytes()]
  result<void> set_label_rows(node_type_id type,
                              std::vector<std::uint8_t> rows);

  /// Sets the seeds of a split, in seed order. `finish` checks them, because it
  /// knows all splits and labels.
  result<void> set_split(node_type_id type, split which,
                         std::span<const node_id> ids);

  /// Sets all labels of a label set of a type whose labels are classes, and its
  /// seeds, which may be none.
  /// @param set Its place among the `label_sets` of the type.
  result<void> set_label_set(node_type_id type, std::size_t set,
                             std::span<const std::int64_t> labels,
                             std::array<std::vector<node_id>, 3> splits);

  /// The same for a label set with rows of labels, as `label_kind` describes.
  /// @param rows [nodes, bytes of a row]
  result<void> set_label_set_rows(node_type_id type, std::size_t set,
                                  std::vector<std::uint8_t> rows,
                                  std::array<std::vector<node_id>, 3> splits);

  /// Appends edges: `sources[i]` -> `destinations[i]`. Each destination's list
  /// keeps the order in which its edges were appended. An edge to a node that
  /// does not exist is an error that names the edge.
  /// @param weights One for each edge if the type has weights, else none.
  result<void> append_edges(edge_type_id type, std::span<const node_id> sources,
                            std::span<const node_id> destinations,
                            std::span<const float> weights = {});

  /// Appends the features of edges, in the order in which `append_edges` is
  /// given them. In the end each edge that was given must have its row.
  /// @param rows [any, feature width] of a type that has features.
  result<void> append_edge_features(edge_type_id type,
                                    std::span<const float> rows);

  /// Appends the times of edges, in the order in which `append_edges` is given
  /// them, of a type that is `timed`: 8 bytes of memory for each. Edges of
  /// other types whose sources have times get those of their sources.
  result<void> append_edge_times(edge_type_id type,
                                 std::span<const std::int64_t> times);

  /// Sets all times of a type that is `timed`.
  /// @param times [nodes]
  result<void> set_times(node_type_id type,
                         std::span<const std::int64_t> times);

  /// Gives a task of `info` its rows. Without rows, `finish` fails.
  /// @param task Its place among the tasks.
  result<void> set_task(std::size_t task, incoming_task rows);

  /// Sorts edges, checks the rest, writes what is left, and opens the dataset
  /// once to prove that it can be read. The writer is spent afterwards. Fails
  /// with `out_of_memory` without enough memory for sorting.
  /// @returns `info` from `create`, completed.
  result<dataset_info> finish();

  /// By edge type; complete after `finish`.
  const std::vector<dropped_edges>& dropped() const;

  /// By task; complete after `finish`.
  const std::vector<unlabelled_edges>& unlabelled() const;

private:
  dataset_writer();
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace graphmill
