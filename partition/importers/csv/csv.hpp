#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/importers/columns/fields/column_options.hpp"
#include "partition/importers/graph_changes.hpp"
#include "partition/importers/row_norm.hpp"
#include "partition/importers/time_text.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// One table and what it holds. Files that begin like gzip or Zstandard are
/// unpacked on the way, whatever they are called.
struct csv_table {
  std::string type;           ///< A node type, or "source__name__destination".
  std::filesystem::path file; ///< Or a pattern of the shell: '*', '?', '[]'.
  /// Files whose rows follow, with the same columns.
  std::vector<std::filesystem::path> more{};
  /// What lines begin with that are comments; '\0': those of a list in a format
  /// that has comments (SNAP, KONECT), else none.
  char comments = '\0';
};

/// What a column is: in edge lists source, destination, relation, weight and
/// what a task of edges has; in node tables id, label, split, masks, those of
/// label sets and time; in both, feature and ignore.
enum class csv_role : std::uint8_t {
  source,
  destination,
  relation, ///< Each value makes an edge type of its own.
  weight,   ///< Of the edge.
  edge_time,
  id,
  label,
  split,
  label_set,  ///< Labels of a set that is called like the column.
  split_set,  ///< The split of a label set.
  train_mask, ///< Whether a node is in this split.
  val_mask,
  test_mask,
  time, ///< For a split by time.
  node_time,
  feature,
  task_label, ///< Of edges, for tasks, as the next four.
  task_split,
  task_time,
  task_weight,    ///< How much the row counts in the loss.
  task_negatives, ///< Ids of destinations, with blanks or '|' between them.
  ignore,
};

/// A column that the user has chosen.
struct csv_choice {
  csv_role role = csv_role::ignore;
  /// Its name in the header, or its number from 1, of every table that may have
  /// such a column. With "<table>=" before it, of the tables of that node type,
  /// edge type (or its middle name) or file name alone.
  std::string column;
  bool if_there = false; ///< A table may lack the column.
  /// The task of edges that has the column; empty: all that say nothing of
  /// their own.
  std::string task{};
  /// The place in a columns file, or the dataset, that says so; empty: the
  /// option of the role.
  std::string where{};
};

/// What a columns file says about the features of a table.
struct csv_feature_choice {
  std::string table; ///< A node type, edge type or file name.
  std::vector<column_request> requests;
};

/// What becomes of edges to nodes that the table of their type lacks.
enum class unknown_nodes : std::uint8_t {
  error, ///< They are bad rows.
  drop,  ///< They are left out, and so are edges without one of their ends.
  add,   ///< The nodes are added: without labels, all of their features 0.
};

/// What to import, and how.
struct csv_import_options {
  /// The name of the dataset; if empty, that of the first edge file.
  std::string name;
  /// Node tables, with a header: `id`, and optionally `label`, `split` (train,
  /// val, test or empty), unless `choices` say otherwise. "label.<set>" and
  /// "split.<set>" make label sets; one that has a split alone has the labels
  /// of the type. All other columns are features and must be numbers. Types
  /// without a table have the nodes that edges name, in the order in which they
  /// come, and neither features nor labels.
  std::vector<csv_table> nodes;
  /// Edge lists: source and destination by usual names, by `choices`, or
  /// because there are two columns; relation and weight by the former; features
  /// by `choices` or a columns file; further ones are an error.
  std::vector<csv_table> edges;
  std::vector<std::string>
    ignore; ///< Columns to leave out, as in `csv_choice`.
  /// The node type whose labels are learnt; if empty, the first with labels.
  std::string target;
  /// Whether edge files have a header; if not set, their first rows tell, or
  /// the import fails.
  std::optional<bool> edge_header;
  /// What separates fields; '\0' stands for whichever of tab, comma, ';' and
  /// space is found.
  char separator = '\0';
  /// What lines that are comments begin with in all tables, as in `csv_table`.
  char comments = '\0';
  bool reverse = false; ///< Also add the reverse of each edge type.
  row_norm normalise = row_norm::none;
  std::vector<csv_choice> choices{};
  /// Tables that have a header, or none, whatever they look like; named as in
  /// `csv_choice`.
  std::vector<std::string> with_header{};
  std::vector<std::string> without_header{};
  graph_changes changes{};
  note_callback on_note{};
  /// Labels are numbers to be learnt: finite ones, and nothing or nan where
  /// none is known.
  bool regression = false;
  /// Label sets of which the same is so, by name: the one above is of the
  /// types' own labels. Each must be there, with a column of labels.
  std::vector<std::string> regression_sets{};
  /// Of node tables that a columns file names. All columns of others that are
  /// nothing else become features, each as a number.
  std::vector<csv_feature_choice> features{};
  /// Options of these numbers, such as `fill`.
  std::map<std::string, std::vector<std::string>> number_options{};
  /// A comma stands before the fraction of numbers: of these features, of
  /// weights of edges, of labels that are numbers, and of times.
  bool decimal_commas = false;
  /// Fit features, and standardise, by training nodes alone, where a type has
  /// some; those of edges by training edges of the task.
  bool fit_on_training = false;
  /// A dataset that the new one is to be like, so that runs on that one can be
  /// used on this: see `adopt_csv_record`. Empty: none.
  std::filesystem::path like{};
  /// The dataset that `import_csv_additions` adds to, which is also `like`.
  std::filesystem::path after{};
  /// Of `import_csv_additions`: the splits of new edges for tasks.
  new_row_splits new_rows{};
  /// Set it to end `import_csv_additions` with code `cancelled`; may be null.
  const std::atomic<bool>* stop = nullptr;
  /// Its node types with a table: edges do not add nodes to them.
  std::vector<std::string> tabled{};
  /// How features of node types and edge lists were made there, and what they
  /// were fitted to, as JSON.
  std::map<std::string, std::string> fitted{};
  /// The values of relation columns there, by edge type, in their order.
  std::map<std::string, std::vector<std::string>> relations{};
  /// Labels that say that none is known, besides an empty one: of all tables
  /// and label sets.
  std::vector<std::string> no_label{};
  /// A dataset, whole or in parts, whose classes those of the same node type
  /// and label set are: they have its numbers, and no other label is taken.
  /// Empty: classes are those that are found.
  std::filesystem::path classes_of{};
  /// How many rows that are wrong may be left out. They are written to
  /// rejected_rows.csv in the dataset; one more makes the import fail.
  std::int64_t skip_bad_rows = 0;
  unknown_nodes unknown = unknown_nodes::error;
  /// Files of edge lists whose edges are all of one split of their tasks.
  std::vector<std::pair<std::string, split>> task_files{};
  /// Of numbers in columns of times of nodes and edges.
  time_unit times = time_unit::automatic;
  /// Of `import_csv_additions`: the form that new times must have, by the type
  /// of their table.
  std::map<std::string, time_form> time_forms{};
};

/// How messages name the dataset `options.like`. An append has no such option.
inline std::string like_text(const csv_import_options& options) {
  return (options.after.empty() ? "--like " : "") + options.like.string();
}

/// Imports text tables (RFC 4180: quotes, and line breaks within them). Ids are
/// any
/// text on one line; a node's number is its position in its table, and
/// nodes/<type>/ids.txt keeps the ids in that order. Labels may be any text,
/// too: classes are the distinct ones in order, by number if all are integers,
/// and keep the text as their name. An empty label (or -1, among integers)
/// means none. Errors say file:line; those of all rows are reported as one. An
/// edge to an id that its type's table lacks is an error unless `unknown` says
/// otherwise. Empty `type`s mean the node type "node" and the edge type
/// "node__to__node". Reads files twice; keeps ids (their text and about 40
/// bytes each) and labels in memory, and says so when there is not enough.
/// @param folder Where to write: usually given by `prepare_folder`.
result<dataset_info> import_csv(const csv_import_options& options,
                                const std::filesystem::path& folder,
                                const progress_callback& on_progress = {});

/// Where additions to a dataset are written.
struct additions_folders {
  /// A dataset of the new nodes alone, with `ids.txt`; splits count from the
  /// first new node of a type.
  std::filesystem::path nodes;
  /// A dataset of the new edges alone. The new nodes of a type follow those
  /// that were there.
  std::filesystem::path edges;
};

/// Imports tables of what is new since `options.after`, a dataset of
/// `import_csv`, as those of that dataset: roles of columns, fitted features,
/// classes and relations are the same. Tables of types without anything new may
/// be missing. An id that is there already is an error in a node table. New
/// edges become rows of the tasks that have their edge types. The split column
/// of the import decides their split, or else `new_rows`. Fails for a dataset
/// that joins duplicate edges, and for undirected ones: both would need a look
/// at all edges.
/// @param folders Existing and empty. columns.json, as the grown dataset is to
/// have it, is written beside the new edges.
result<void> import_csv_additions(const csv_import_options& options,
                                  const additions_folders& folders,
                                  const progress_callback& on_progress = {});

} // namespace graphmill
