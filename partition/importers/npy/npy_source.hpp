#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/importers/incoming_labels.hpp"
#include "partition/importers/no_label_values.hpp"
#include "partition/importers/npy/npy_tasks.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// The arrays of one node type in a folder for `import_npy`, opened, and its
/// counts, from meta.json or else from the arrays.
struct npy_node_source {
  std::string name;
  std::string original_name; ///< By meta.json; else its name.
  std::int64_t count = 0;
  std::int64_t feature_width = 0;
  std::int64_t class_count = 0;
  std::optional<npy_array> labels;
  label_kind kind = label_kind::classes; ///< What its `labels` are.
  /// [count, bytes of a row] Of nodes that have rows of labels, read: see
  /// `label_kind`. Else empty.
  std::vector<std::uint8_t> label_rows;
  /// The numbers that stand for no label, with the texts that say so.
  std::map<std::int64_t, std::string> none{};
  unlabelled_nodes unlabelled{}; ///< By labels that stand for none.
  /// The label that each class was; empty: labels are numbers of classes.
  std::vector<std::int64_t> label_of_class;
  std::vector<std::string> class_names; ///< Empty, or one per class.
  std::array<std::optional<npy_array>, 3> splits;
  std::array<bool, 3> masks{}; ///< Which splits have a value per node.
  std::vector<incoming_labels> label_sets; ///< By name, read.
  std::optional<npy_array> times;          ///< [count] If they are asked for.
  std::optional<npy_array> dense;   ///< [count, feature_width], or [count]
  std::optional<npy_array> indptr;  ///< [count + 1], with the next two: CSR
  std::optional<npy_array> indices; ///< [entries]
  std::optional<npy_array> values;  ///< [entries]
};

/// The edges of one type, by the names of the types.
struct npy_edge_source {
  std::string source;
  std::string name;
  std::string destination;
  std::string original_name;           ///< By meta.json; else `name`.
  npy_array edges;                     ///< [2, E]
  std::optional<npy_array> weights{};  ///< [E] or [E, 1]
  npy_task_arrays task{};              ///< Of all tasks.
  std::vector<npy_task_arrays> own{};  ///< Of each task, by place.
  std::optional<npy_array> features{}; ///< [E, F] or [E]
};

/// All of a folder for `import_npy`; shapes agree with each other and with
/// meta.json, contents are unchecked.
struct npy_source {
  std::string name;
  std::vector<npy_node_source> nodes;
  std::vector<npy_edge_source> edges;
  std::vector<std::string> ignored; ///< Files that were left out.
};

struct npy_source_options {
  /// Make classes of the labels that there are, whatever meta.json says of
  /// classes.
  bool renumber = false;
  bool times = false;       ///< Open the times of nodes.
  bool multi_label = false; ///< Rows of labels are wanted.
  bool regression = false;  ///< Labels are numbers to be learnt.
  /// Label sets of which the same is so, by name.
  std::vector<std::string> multi_label_sets{};
  std::vector<std::string> regression_sets{};
  std::vector<std::string> ignore{}; ///< Files to leave out.
  std::vector<std::string> tasks{};  ///< Of edges, by name.
  no_label_values no_label{};        ///< Labels that stand for none.
};

/// Opens the arrays of a folder and finds out its types and counts. Fails with
/// the name of the file that is missing, of another shape than it must be, at
/// odds with meta.json, or that nothing reads.
result<npy_source> open_npy_source(const std::filesystem::path& folder,
                                   const npy_source_options& options = {});

/// The name of an array's file, for sentences.
inline std::string file_of(const npy_array& array) {
  return array.path().filename().string();
}

/// The three parts of "source__name__destination"; nothing if it is not so.
std::optional<std::array<std::string, 3>>
split_edge_type_name(std::string_view name);

} // namespace graphmill
