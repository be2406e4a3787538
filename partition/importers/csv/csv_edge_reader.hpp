#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_edges.hpp"
#include "partition/importers/csv/csv_graph.hpp"
#include "partition/importers/csv/csv_rows.hpp"
#include "partition/importers/csv/text/id_map.hpp"
#include "partition/importers/graph_changes.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// An edge by the numbers of its nodes.
struct csv_edge_values {
  node_id source = 0;
  node_id destination = 0;
  std::optional<float> weight;        ///< Of a table that has weights.
  std::optional<std::int64_t> time{}; ///< Likewise; in ticks.
};

/// For the times of nodes or edges in a table of a type.
inline time_text_reader time_reader_of(const csv_import_options& options,
                                       const std::string& type) {
  const auto form = options.time_forms.find(type);
  return time_text_reader{options.times, form == options.time_forms.end()
                                           ? time_form::none
                                           : form->second};
}

/// Checks a time in a cell, which the caller keeps if the row stays.
/// @param decimal_comma Whether one stands before a fraction.
result<std::int64_t> csv_time_in(std::string_view text, time_text_reader& times,
                                 const csv_reader& rows, bool decimal_comma);

/// Makes numbers of the rows of one edge list: rejects rows that are wrong, and
/// drops and counts those whose nodes are not known, if the user wants that.
/// Refers to the graph.
class csv_edge_reader {
public:
  csv_edge_reader(const csv_graph& graph, const csv_edge_file& file,
                  const csv_import_options& options)
    : graph_(graph), file_(file), unknown_(options.unknown),
      decimal_commas_(options.decimal_commas),
      times_(time_reader_of(options, file.table.type)), alone_(times_) {}

  /// @returns nothing for a row that is rejected or dropped. An id that a type
  /// without a table lacks is taken to be another row's error.
  result<std::optional<csv_edge_values>> read(const csv_edge& edge,
                                              csv_rows& rows);

  /// The same before types without a table have their ids: whether the row
  /// makes an edge. Tasks may still reject it, so that its time does not tell
  /// the form of others where a task has columns.
  result<bool> makes_edge(const csv_edge& edge, csv_rows& rows);

  /// Keeps what was read last: nothing else has rejected the row. Until then it
  /// says nothing of the form of other times.
  void keep();

  /// Whether the edge is one to be dropped, without counting it.
  bool drops(const csv_edge& edge) const;

  /// Says what times were taken for. Fails if they are of another unit.
  result<void> note_times(const note_callback& on_note) const;
  time_form form_of_times() const { return times_.form(); }

  /// Says how many edges were dropped, and which one was the first.
  void note_dropped(const note_callback& on_note) const;

private:
  struct end {
    const csv_node_type& nodes;
    const char* name;
    hashed_id id;
    std::size_t column;
  };

  std::array<end, 2> ends(const csv_edge& edge) const;
  bool is_to_drop(const end& of) const;
  std::string near_hint(const end& of);
  void count_dropped(const end& of, const csv_reader& rows);
  result<std::optional<csv_edge_values>>
  values(const csv_edge& edge, csv_rows& rows, bool ids_are_known);

  const csv_graph& graph_;
  const csv_edge_file& file_;
  unknown_nodes unknown_;
  bool decimal_commas_; ///< In weights and times.
  time_text_reader times_;
  time_text_reader alone_; ///< Of a row that keeps nothing.
  bool read_time_ = false; ///< In the row that was read last.
  std::int64_t kept_ = 0;
  std::int64_t without_end_ = 0;
  std::int64_t to_unknown_ = 0;
  std::string first_dropped_;
  std::int64_t looked_for_ = 0; ///< Ids like those that are not there.
};

} // namespace graphmill
