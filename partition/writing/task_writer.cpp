#include "partition/writing/task_writer.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/edge_weights.hpp"
#include "partition/dataset/label_rows.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/files/file_io.hpp"
#include "partition/writing/edge_index.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// Whether as many are given as there are edges of each type.
template <class T>
result<void> expect_all(const edge_task_info& task,
                        const std::vector<std::vector<T>>& given,
                        std::uint64_t each, std::string_view what,
                        std::span<const placed_edges> placed) {
  for (std::size_t i = 0; i < (each == 0 ? 0 : task.edge_types.size()); ++i) {
    const auto edges =
      placed[static_cast<std::size_t>(task.edge_types[i])].places.size();
    const auto size = i < given.size() ? given[i].size() : 0;
    if (size != edges * each)
      return fail(ec::internal,
                  "task {}: {} {} given for {} edges of its edge type {}",
                  task.name, size, what, edges, i);
  }
  return ok();
}

/// Checks and rounds what rows are given besides labels.
result<void> check_row(const edge_task_info& task, const incoming_task& from,
                       const task_edge& row) {
  const auto type = static_cast<std::size_t>(row.type);
  const auto given = static_cast<std::size_t>(row.given);
  if (!std::isfinite(row.time))
    return fail(ec::invalid_data,
                "task {}: the time of edge {} is {}; a finite number expected",
                task.name, row.given, row.time);
  if (task.weighted && !edge_weight_from(from.weights[type][given]))
    return no_edge_weight(
      from.weights[type][given],
      fmt::format("task {}: edge {}", task.name, row.given));
  return ok();
}

} // namespace

result<unlabelled_edges> task_writer::choose(std::size_t task,
                                             const incoming_task& from) {
  auto& of = info_.tasks[task];
  if (from.class_count != 0) {
    of.class_count = from.class_count;
    of.class_names = from.class_names;
  }
  const auto& kind = traits_of(of.kind).labels;
  const auto label_bytes = kind ? traits_of(*kind).bytes(of.class_count) : 0;
  GRAPHMILL_TRYV(
    expect_all(of, from.labels, label_bytes, "bytes of labels", placed_));
  GRAPHMILL_TRYV(expect_all(of, from.times, of.timed, "times", placed_));
  GRAPHMILL_TRYV(expect_all(of, from.weights, of.weighted, "weights", placed_));
  unlabelled_edges unlabelled;
  std::vector<task_edge> edges;
  std::vector<bool> labelled; ///< [edges]
  for (std::size_t i = 0; i < of.edge_types.size(); ++i) {
    const auto& type = placed_[static_cast<std::size_t>(of.edge_types[i])];
    for (std::size_t e = 0; e < type.places.size(); ++e) {
      if (type.places[e] < 0)
        continue;
      const auto known =
        !kind || is_known(*kind, of.class_count, from.labels[i], e);
      if (!known && !from.says_splits) {
        ++unlabelled.others;
        continue;
      }
      labelled.push_back(known);
      edges.push_back({static_cast<std::int32_t>(i), static_cast<edge_id>(e),
                       type.sources[e], type.destinations[e],
                       of.timed ? from.times[i][e] : 0});
      GRAPHMILL_TRYV(check_row(of, from, edges.back()));
    }
  }
  GRAPHMILL_TRY(const auto chosen, from.choose(edges));
  std::vector<bool> taken(edges.size());
  for (std::size_t s = 0; s < chosen.size(); ++s) {
    for (const auto at : chosen[s]) {
      if (at >= edges.size() || taken[at])
        return fail(ec::internal,
                    "task {}: edge {} of {} is chosen twice, or is none",
                    of.name, at, edges.size());
      taken[at] = true;
      if (!labelled[at] && static_cast<split>(s) != split::test) {
        ++unlabelled.of_splits[s];
        continue;
      }
      of.unlabelled += labelled[at] ? 0 : 1;
      rows_[task][s].push_back(edges[at]);
    }
    const auto& rows = rows_[task][s];
    of.split_counts[s] = std::ssize(rows);
    of.negative_counts[s] =
      from.negatives && !rows.empty()
        ? std::ssize(from.negatives(static_cast<split>(s), rows[0]))
        : 0;
  }
  if (from.needs_rows && std::ranges::all_of(rows_[task], [](const auto& rows) {
        return rows.empty();
      }))
    return fail(ec::invalid_data,
                "task {}: none of {} edges is in a split; there would be "
                "nothing to learn{}",
                of.name, edges.size(),
                std::ranges::count(labelled, false) == 0
                  ? ""
                  : ". Training and validation rows need a label");
  return unlabelled;
}

result<std::vector<std::uint8_t>>
task_writer::levels(edge_type_id type,
                    std::span<const std::int64_t> times) const {
  const auto& edges = info_.edge_types[static_cast<std::size_t>(type)];
  std::vector<std::uint8_t> out(static_cast<std::size_t>(edges.count));
  // By time, if edges and rows have some.
  held_reverses reversed;
  for (std::size_t t = 0; t < rows_.size(); ++t)
    for (std::uint8_t level = 1; level < 3; ++level)
      for (const auto& row : rows_[t][level]) {
        const auto place = static_cast<std::size_t>(row.type);
        if (about(t).edge_types[place] == type) {
          const auto at = placed_[static_cast<std::size_t>(type)]
                            .places[static_cast<std::size_t>(row.given)];
          auto& held = out[static_cast<std::size_t>(at)];
          held = std::max(held, level);
        }
        if (about(t).reverse_types[place] == type)
          reversed.add(row,
                       times.empty() || !about(t).timed
                         ? held_reverses::any_time
                         : row.time,
                       level);
      }
  if (reversed.empty())
    return out;
  auto unsorted = edges;
  unsorted.leveled = false; // There is no visible.npy yet.
  unsorted.timed = false;   // Likewise.
  GRAPHMILL_TRY(const auto index,
                edge_index::open(edge_folder(folder_, info_, type), unsorted));
  for (node_id d = 0; d < index.lists(); ++d)
    for (auto e = index.begin(d); e < index.begin(d + 1); ++e) {
      const auto place = static_cast<std::size_t>(e);
      const auto time = times.empty() ? held_reverses::any_time
                                      : static_cast<double>(times[place]);
      out[place] =
        std::max(out[place], reversed.level(index.source(e), d, time));
    }
  return out;
}

result<void> task_writer::write_split(std::size_t task, split which,
                                      const incoming_task& from) const {
  const auto& of = about(task);
  const auto& rows = rows_[task][static_cast<std::size_t>(which)];
  std::vector<std::int64_t> edges;
  std::vector<std::int64_t> ids;
  std::vector<std::int32_t> types;
  std::vector<std::uint8_t> labels;
  std::vector<double> times;
  std::vector<float> weights;
  std::vector<std::int64_t> negatives;
  const auto each = of.negative_counts[static_cast<std::size_t>(which)];
  const auto& kind = traits_of(of.kind).labels;
  const auto label_bytes =
    kind ? static_cast<std::ptrdiff_t>(traits_of(*kind).bytes(of.class_count))
         : 0;
  for (const auto& row : rows) {
    const auto type = static_cast<std::size_t>(row.type);
    const auto given = static_cast<std::size_t>(row.given);
    edges.insert(edges.end(), {row.source, row.destination});
    ids.push_back(
      placed_[static_cast<std::size_t>(of.edge_types[type])].places[given]);
    types.push_back(row.type);
    times.push_back(row.time);
    if (kind) {
      const auto at = from.labels[type].begin() + row.given * label_bytes;
      labels.insert(labels.end(), at, at + label_bytes);
    }
    if (of.weighted)
      weights.push_back(*edge_weight_from(from.weights[type][given]));
    const auto known =
      from.negatives ? from.negatives(which, row) : std::span<const node_id>{};
    if (std::ssize(known) != each)
      return fail(ec::invalid_data,
                  "task {}: row {} of the {} split has {} negatives; {} "
                  "expected",
                  of.name, ids.size() - 1, file_stem(which), known.size(),
                  each);
    negatives.insert(negatives.end(), known.begin(), known.end());
  }
  GRAPHMILL_TRYV(
    write_task_array<std::int64_t>(folder_, of, which, "edges", edges, {2}));
  GRAPHMILL_TRYV(
    write_task_array<std::int64_t>(folder_, of, which, "ids", ids));
  if (of.edge_types.size() > 1)
    GRAPHMILL_TRYV(
      write_task_array<std::int32_t>(folder_, of, which, "types", types));
  if (kind) {
    const auto& traits = traits_of(*kind);
    std::vector shape{std::ssize(rows)};
    if (traits.rows)
      shape.push_back(of.class_count);
    GRAPHMILL_TRYV(
      write_npy_bytes(folder_ / task_file(of.name, file_stem(which), "labels"),
                      traits.element, shape, std::as_bytes(std::span{labels})));
  }
  if (of.timed)
    GRAPHMILL_TRYV(
      write_task_array<double>(folder_, of, which, "times", times));
  if (of.weighted)
    GRAPHMILL_TRYV(
      write_task_array<float>(folder_, of, which, "weights", weights));
  if (each > 0)
    GRAPHMILL_TRYV(write_task_array<std::int64_t>(
      folder_, of, which, "negatives", negatives, {each}));
  if (!traits_of(of.kind).negatives)
    return ok();
  return which == split::train
           ? write_exclusions(folder_, info_, of, rows)
           : write_known_links(folder_, info_, of, which, rows);
}

result<void> task_writer::write(std::size_t task,
                                const incoming_task& from) const {
  GRAPHMILL_TRYV(make_folders(folder_ / "tasks" / about(task).name));
  for (auto which : all_splits)
    if (about(task).split_counts[static_cast<std::size_t>(which)] > 0) {
      GRAPHMILL_TRYV(write_split(task, which, from));
    }
  return ok();
}

} // namespace graphmill
