#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/writing/edge_rules.hpp"
#include "partition/writing/prepare.hpp"

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

/// What a node is called.
using node_namer = std::function<std::string(node_type_id, node_id)>;

/// Writes a dataset folder front to back in bounded memory. Node types and edge
/// types are declared up front, with the node counts; then arrays and edges
/// come in any order; `finish` sorts edges into CSC, computes degrees and the
/// digest, and writes `dataset.json` once all arrays are there, for without it
/// no folder is a dataset. Checks what it is given: ids in range, finite
/// features, labels in range, seeds labelled, unique and in one split only,
/// weights finite and not negative.
///
/// States: open, until `finish` is called; spent, whether `finish` succeeded or
/// not, after which every call fails. Owns its open files and what has not been
/// written yet: labels and splits of all types, and buffers of edges and
/// features. Not thread-safe. It does not remove what it has written when it
/// fails: that is for `prepare_folder` to do.
class dataset_writer {
public:
  struct options {
    /// Memory for sorting edges. If a quarter of what is available is less,
    /// that counts, but never less than 16 MiB.
    std::uint64_t memory_bytes = std::uint64_t{1} << 30;
    progress_callback on_progress;
    std::vector<edge_rules> edges{}; ///< By type; those behind it have none.
    /// What a node is called in errors about edges that have been sorted; its
    /// number if there is no such function.
    node_namer name_of{};
  };

  /// @param folder An existing, empty folder, usually of `prepare_folder`.
  /// @param info Names, types, node counts, feature widths and types, class
  /// counts and names, target, provenance, whether features are stored as
  /// sparse ones, and whether edges have weights. Edge counts, degrees, index
  /// types, split counts, counts of sparse features and the digest are filled
  /// in by `finish`.
  static result<dataset_writer> create(const std::filesystem::path& folder,
                                       dataset_info info, options opts);
  dataset_writer(dataset_writer&&) noexcept;
  dataset_writer& operator=(dataset_writer&&) noexcept;
  ~dataset_writer();

  /// Appends feature rows of a type, in node order: [any, width] float32 values
  /// (stored as the type's dtype; without zeros, if its features are sparse).
  result<void> append_features(node_type_id type, std::span<const float> rows);

  /// Sets all labels of a type: [nodes], from 0 to below its class count, or -1
  /// for none.
  result<void> set_labels(node_type_id type,
                          std::span<const std::int64_t> labels);

  /// Sets all labels of a type whose nodes have rows of them: as `label_kind`
  /// says. @param rows [nodes, label_bytes()]
  result<void> set_label_rows(node_type_id type,
                              std::vector<std::uint8_t> rows);

  /// Sets the seeds of a split, in seed order. They are checked by `finish`,
  /// which knows all splits and labels.
  result<void> set_split(node_type_id type, split which,
                         std::span<const node_id> ids);

  /// Sets all labels of a label set of a type whose labels are classes, and its
  /// seeds, which may be none.
  /// @param set Its place among the `label_sets` of the type.
  result<void> set_label_set(node_type_id type, std::size_t set,
                             std::span<const std::int64_t> labels,
                             std::array<std::vector<node_id>, 3> splits);

  /// The same of a label set whose nodes have rows of labels: as `label_kind`
  /// says. @param rows [nodes, bytes of a row]
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

  /// Sorts edges, checks what could not be checked before, writes what is left,
  /// and opens the dataset once, to see that it can be read. The writer is
  /// spent afterwards. Fails with `out_of_memory` when memory for sorting
  /// cannot be had.
  /// @returns `info` as `create` was given it, with all that was filled in.
  result<dataset_info> finish();

  /// By edge type; complete after `finish`.
  const std::vector<dropped_edges>& dropped() const;

private:
  dataset_writer();
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace graphmill
