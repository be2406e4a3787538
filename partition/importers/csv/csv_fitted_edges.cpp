#include "partition/importers/csv/csv_fitted_edges.hpp"

#include "messages/base/ids.hpp"
#include "partition/importers/csv/csv_edge_features.hpp"
#include "partition/importers/csv/csv_edge_reader.hpp"
#include "partition/importers/csv/csv_edges.hpp"
#include "partition/importers/csv/csv_equal_rows.hpp"
#include "partition/importers/csv/csv_tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace graphmill {

namespace {

/// An edge by its type and ends, and the row that it stands in.
using edge_in_row = std::tuple<std::size_t, node_id, node_id, std::size_t>;

/// Leaves rows out whose edges are in an earlier row.
void drop_repeated(std::vector<edge_in_row>& edges, std::vector<bool>& rows) {
  std::ranges::sort(edges);
  const auto ends_of = [](const edge_in_row& edge) {
    return std::tuple{std::get<0>(edge), std::get<1>(edge), std::get<2>(edge)};
  };
  for (std::size_t i = 1; i < edges.size(); ++i)
    if (ends_of(edges[i]) == ends_of(edges[i - 1]))
      rows[std::get<3>(edges[i])] = false;
}

bool has_any(const std::vector<bool>& rows) {
  return std::ranges::find(rows, true) != rows.end();
}

/// Looks up what the rows of one list become.
class row_outcomes {
public:
  row_outcomes(const csv_graph& graph, csv_edge_file& file,
               const csv_import_options& options,
               std::span<const edge_rules> rules, row_errors& errors)
    : graph_(graph), file_(file), options_(options), rules_(rules),
      errors_(errors), reader_(graph, file, options),
      features_(file.table, file.layout, file.features),
      equal_(options, file.layout) {}

  /// @param of_training Whether only training edges count.
  result<std::vector<bool>> find(bool of_training) {
    GRAPHMILL_TRYV(for_each_csv_edge(file_.table, file_.layout,
                                     options_.separator, errors_,
                                     [&](const csv_edge& edge, csv_rows& rows) {
                                       return add(edge, rows, of_training);
                                     }));
    // The first of equal edges stays, whichever of them trains.
    drop_repeated(edges_, rows_);
    for (std::size_t row = 0; row < others_.size(); ++row)
      if (others_[row])
        rows_[row] = false;
    return std::move(rows_);
  }

private:
  result<void> add(const csv_edge& edge, csv_rows& rows, bool of_training) {
    GRAPHMILL_TRY(const auto found, ends_of(edge, rows));
    auto trains = true;
    if (of_training) {
      trains = is_of_training(rows);
    }
    if (!rows.is_sound() && errors_.skips())
      return ok(); // The next pass does not see it.
    const auto row = rows_.size();
    const auto stays = found && !equal_.repeats(rows);
    rows_.push_back(stays);
    others_.push_back(!trains);
    if (stays)
      equal_.keep();
    if (stays)
      note_edge(edge, found->first, found->second, row);
    return ok();
  }

  /// Whether a task trains on the edge of the row, and none holds it out.
  bool is_of_training(const csv_rows& rows) const {
    auto trains = false;
    const auto& tasks = options_.changes.tasks;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (!is_of_task(tasks[t], graph_, file_))
        continue;
      const auto told = task_split_in(file_, t, rows);
      if (!told || (told.value() && *told.value() != split::train))
        return false;
      trains = trains || told.value();
    }
    return trains;
  }

  /// Nothing if the row becomes no edge. Where rows with errors are left out,
  /// they are rejected here, else when edges are copied.
  result<std::optional<std::pair<node_id, node_id>>>
  ends_of(const csv_edge& edge, csv_rows& rows) {
    std::optional<std::pair<node_id, node_id>> out;
    if (errors_.skips()) {
      GRAPHMILL_TRY(const auto read, reader_.read(edge, rows));
      GRAPHMILL_TRYV(features_.check(rows));
      if (read && rows.is_sound()) {
        out.emplace(read->source, read->destination);
        reader_.keep();
      }
      return out;
    }
    const auto source = graph_.nodes[file_.source].find(edge.source);
    const auto destination =
      graph_.nodes[file_.destination].find(edge.destination);
    if (source && destination)
      out.emplace(*source, *destination);
    return out;
  }

  void note_edge(const csv_edge& edge, node_id source, node_id destination,
                 std::size_t row) {
    const auto relation = file_.layout.relation
                            ? file_.relations.find(edge.relation)
                            : std::optional<node_id>{0};
    if (!relation) {
      rows_[row] = false;
      return;
    }
    const auto type = static_cast<std::size_t>(*relation);
    const auto& rule = rules_[type];
    const auto alike = file_.source == file_.destination;
    if (alike && rule.drop_self_loops && source == destination) {
      rows_[row] = false;
      return;
    }
    if (rule.duplicates == duplicate_edges::keep)
      return;
    if (alike && rule.both_ways && destination < source)
      std::swap(source, destination);
    edges_.emplace_back(type, source, destination, row);
  }

  const csv_graph& graph_;
  csv_edge_file& file_;
  const csv_import_options& options_;
  std::span<const edge_rules> rules_;
  row_errors& errors_;
  csv_edge_reader reader_;
  csv_edge_features features_;
  csv_equal_rows equal_;
  std::vector<bool> rows_;   ///< Which become edges.
  std::vector<bool> others_; ///< Which are not to count, edges or not.
  std::vector<edge_in_row> edges_;
};

} // namespace

result<std::vector<bool>> fitted_edges(const csv_graph& graph,
                                       csv_edge_file& file,
                                       const csv_import_options& options,
                                       std::span<const edge_rules> rules,
                                       row_errors& errors) {
  auto told = false;
  const auto& tasks = options.changes.tasks;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (!is_of_task(tasks[t], graph, file))
      continue;
    if (options.fit_on_training && tasks[t].split)
      return fail(ec::invalid_argument,
                  "--fit train: features of {} are fitted before --split-edges "
                  "chooses which edges train; say the splits in the source "
                  "(--task-split COLUMN), or --fit all",
                  file.table.file.string());
    told = told || says_task_split(file, t);
  }
  if (options.fit_on_training && told) {
    row_outcomes training{graph, file, options, rules, errors};
    GRAPHMILL_TRY(auto rows, training.find(true));
    if (errors.failed() || has_any(rows))
      return rows;
  }
  if (options.fit_on_training)
    tell_note(options.on_note,
              "{}: features are fitted on all edges, for there are no training "
              "edges",
              file.table.file.filename().string());
  row_outcomes all{graph, file, options, rules, errors};
  GRAPHMILL_TRY(auto rows, all.find(false));
  if (!has_any(rows)) // Nor will there be any edge.
    rows.clear();
  return rows;
}

} // namespace graphmill
