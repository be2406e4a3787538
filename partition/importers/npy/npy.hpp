#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/importers/graph_changes.hpp"
#include "partition/importers/row_norm.hpp"
#include "partition/importers/time_text.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace graphmill {

/// What to import, and how.
struct npy_import_options {
  std::filesystem::path source; ///< The folder to read.
  /// The name of the dataset; if empty, that in `meta.json`.
  std::string name;
  bool reverse = false; ///< Also add the reverse of each edge type.
  row_norm normalise = row_norm::none;
  /// Make classes of the labels that there are, ascending, and keep them as
  /// names of the classes; else labels are numbers of classes, and so only
  /// those with gaps between them are numbered anew.
  bool renumber_labels = false;
  /// Nodes may have several labels, even if each row of labels marks one, or
  /// has one column.
  bool multi_label = false;
  /// Labels are numbers to be learnt, one or several for each node.
  bool regression = false;
  /// Label sets of which the same is so, by name: the two above are of the
  /// types' own labels. Each must be there.
  std::vector<std::string> multi_label_sets{};
  std::vector<std::string> regression_sets{};
  std::vector<std::string> ignore{}; ///< Files of the folder to leave out.
  /// Labels that stand for none, besides -1: integers, or names of classes that
  /// meta.json has; of several labels and of regression any number.
  std::vector<std::string> no_label{};
  /// `edge_time.npy` has the times of edges, and not of rows of a task alone;
  /// `time.npy` those of nodes, and is not for a split alone.
  bool edge_times = false;
  bool node_times = false;
  time_unit times = time_unit::automatic; ///< Of numbers in both.
  graph_changes changes{};
  note_callback on_note{};
};

/// Imports a folder of `.npy` arrays. Of one node type:
///
///   edges.npy                 int64 or int32 [2, E]: sources, destinations
///   labels.npy                integers [N], -1 = none; or rows [N, labels] of
///                             0 and 1 (`read_label_rows`), for several labels;
///                             or, if `regression`, any finite numbers [N] or
///                             [N, values], and no number where none is known
///   {train,val,test}_idx.npy  integers, or a mask of the nodes instead:
///   {train,val,test}_mask.npy booleans [N], or 0 and 1
///   time.npy                  numbers [N], for a split by time, or if
///                             `node_times`
///   features.npy              [N, F] or [N], any numbers, or as CSR:
///   features_indptr.npy       [N + 1], with features_indices.npy and
///   features_values.npy       width `num_features` of meta.json
///   labels.<set>.npy          a label set: as labels.npy; its splits are
///                             train_idx.<set>.npy and so on
///   edge_split.npy            of a task of edges, which is made if this is
///                             there or `changes` asks for it: integers [E], 0
///                             to 2 for training, validation and test, -1 for
///                             none; with it, or with a split by shares:
///   edge_label.npy            [E] or [E, any], as the kind of the task says
///   edge_time.npy             numbers [E]; without a task if `edge_times`
///   edge_row_weight.npy       numbers [E], how much rows count
///   edge_negatives.npy        [E, any] wrong destinations, -1 for none
///   edge_split.<task>.npy     of one of several tasks; likewise the others
///   meta.json                 name, num_nodes, num_classes, num_features,
///                             class_names
///
/// Any other file of data is an error, unless it is to be ignored. Arrays may
/// lie in Fortran order.
/// Of several types the same with a prefix `<type>.`, edges in
/// `<source>__<name>__<destination>.edges.npy`, and in meta.json `node_types`
/// with the counts of each. Counts that meta.json lacks are derived from the
/// arrays; those that disagree with them are an error, and so are labels of
/// which most numbers are nobody's, if `num_classes` is not given. The single
/// node type is called "node" and its edges "to". Reverse edges are called
/// "rev_<name>".
/// @param folder Where to write: usually given by `prepare_folder`.
result<dataset_info> import_npy(const npy_import_options& options,
                                const std::filesystem::path& folder,
                                const progress_callback& on_progress = {});

/// The files that `import_npy` reads.
result<std::vector<std::filesystem::path>>
npy_files(const npy_import_options& options);

} // namespace graphmill
