#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/dataset/meaning/original_names.hpp"
#include "partition/importers/edge_split.hpp"
#include "partition/importers/node_split.hpp"
#include "partition/importers/row_norm.hpp"
#include "partition/writing/dataset_writer.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// Is told, in whole sentences, what an importer took for what and what it left
/// out, so that nothing is guessed in silence. May be empty.
using note_callback = std::function<void(std::string)>;

template <class... Ts>
void tell_note(const note_callback& on_note, fmt::format_string<Ts...> text,
               Ts&&... args) {
  if (on_note)
    on_note(fmt::format(text, std::forward<Ts>(args)...));
}

/// What importers of tables and arrays change about a graph on its way in.
struct graph_changes {
  /// Edge types, by their full or middle names, whose edges go both ways: each
  /// pair of nodes gets one edge either way, however often and whichever way it
  /// stands there.
  std::vector<std::string> undirected;
  bool all_undirected = false; ///< The same of all edge types.
  bool drop_self_loops = false;
  /// As `edge_rules` has it. Of undirected edge types none are kept: unless
  /// this says otherwise, the weights of a pair must be the same.
  duplicate_edges duplicates = duplicate_edges::keep;
  /// Of edges with times the importer drops rows that are equal, and so those
  /// that are left are no duplicates.
  bool equal_rows_dropped = false;
  std::optional<split_request> split;
  /// Of node and edge types by name; other node types are scaled as the
  /// importer's `normalise`, and other edge types not at all.
  std::vector<std::pair<std::string, row_norm>> normalise;
  bool sparse = false; ///< Store features of all types without zeros.
  std::vector<edge_task_request> tasks{}; ///< Of edges.
};

/// What has been declared of edges for a writer.
struct edge_plan {
  std::vector<edge_rules> rules;     ///< By edge type, reverse ones included.
  std::vector<edge_type_id> reverse; ///< Of each type of the source; or -1.
};

/// Appends the reverse of each edge type that is not undirected, if `reverse`
/// says so, and says what is to become of edges. Fails if an undirected edge
/// type is not there, or joins nodes of two types.
/// @param info With all types of the source.
result<edge_plan> plan_edges(dataset_info& info, bool reverse,
                             const graph_changes& changes);

/// Declares a task of edges. Its reverse types are those that the plan adds, an
/// undirected type itself, one of the source called `reverse_name`, and with a
/// split by pairs a type itself if it joins nodes of one type. Fails if an edge
/// type is not there, or another task has the name.
/// @param info As planned.
result<void> declare_task(dataset_info& info, const edge_plan& plan,
                          const edge_task_request& request);

/// Keeps what an edge type of the source is called there, and its reverse, if
/// their names are others.
/// @param info As planned.
void keep_original_name(original_names& names, const dataset_info& info,
                        const edge_plan& plan, edge_type_id type,
                        std::string_view original);

/// How the features of each node type are scaled. Fails if a type that
/// `changes` names, of nodes or of edges, is not there or has none, and if
/// nobody has any.
result<std::vector<row_norm>> norms_of(const dataset_info& info, row_norm all,
                                       const graph_changes& changes);

/// How the features of an edge type are scaled: as `changes` says of its name
/// alone.
/// @param type Of the source.
row_norm edge_norm_of(const dataset_info& info, edge_type_id type,
                      const graph_changes& changes);

/// Declares the features of all node types as sparse. Fails if nobody has any,
/// or if they are standardised, which makes a value of each zero.
/// @param norms By node type.
result<void> declare_sparse(dataset_info& info,
                            std::span<const row_norm> norms);

/// Whether a split can be made of the labelled nodes of a type: shares that
/// make sense; classes, if it is by label; and, if it is by time, a finite time
/// of each node.
/// @param type As the labels show it.
/// @param times [nodes] Empty if there are none.
result<void> check_split(const split_request& request,
                         const node_type_info& type,
                         std::span<const std::int64_t> labels,
                         std::span<const double> times);

/// Splits the labelled nodes of a type and gives the splits to a writer. Does
/// nothing if the type has label sets alone, which `write_label_sets` splits.
/// @param present Whether the source has splits of the type already, which is
/// an error.
/// @param times [nodes] Empty if there are none, which is an error if the split
/// is by time.
result<void> write_split(const split_request& request,
                         const node_type_info& type, node_type_id id,
                         bool present, std::span<const std::int64_t> labels,
                         std::span<const double> times, dataset_writer& writer);

/// Classes are told in tables, in lines and to terminals. Fails if the name of
/// one has a line break or control character. A dataset of somebody else's may
/// have such names all the same; they are escaped.
/// @param of A node type or task, for the error.
result<void> check_class_names(const std::vector<std::string>& names,
                               std::string_view of);

/// What an importer writes with, once all types are declared.
struct planned_import {
  dataset_info info;           ///< With the reverse edge types.
  std::vector<row_norm> norms; ///< By node type of the source.
  edge_plan edges;
  dataset_writer writer;
};

/// Plans the edges and begins to write a dataset.
/// @param info With all types of the source.
/// @param name_of What nodes are called in errors about edges; may be empty.
/// @param needs_seeds As for the writer.
result<planned_import> begin_import(const std::filesystem::path& folder,
                                    dataset_info info, row_norm normalise,
                                    bool reverse, const graph_changes& changes,
                                    const progress_callback& on_progress,
                                    node_namer name_of = {},
                                    bool needs_seeds = true);

/// Notes of tasks, after the `finish` of a writer, how many edges have no
/// label, by split, and whether edges with times are split by chance.
/// @param info As `finish` gives it.
void note_tasks(const dataset_writer& writer, const dataset_info& info,
                const graph_changes& changes, const note_callback& on_note);

/// Notes how many edges a writer has dropped, after its `finish`.
void note_dropped(const dataset_writer& writer, const dataset_info& info,
                  const graph_changes& changes, const note_callback& on_note);

} // namespace graphmill
