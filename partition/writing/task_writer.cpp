#include "partition/writing/task_writer.hpp"

#include "messages/base/random.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/edge_weights.hpp"
#include "partition/dataset/label_rows.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/files/file_io.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

using node_pair = std::pair<node_id, node_id>; ///< Source, destination.

struct pair_hash {
  std::size_t operator()(const node_pair& of) const {
    return mix64(static_cast<std::uint64_t>(of.first)
                 ^ mix64(static_cast<std::uint64_t>(of.second)));
  }
};

/// The edges of a type as they were written, found by their nodes.
class edge_index {
public:
  static result<edge_index> open(const fs::path& folder,
                                 const edge_type_info& about) {
    edge_index out;
    GRAPHMILL_TRY(out.indptr_, npy_array::open(folder / "indptr.npy"));
    GRAPHMILL_TRY(out.indices_, npy_array::open(folder / "indices.npy"));
    if (about.leveled) {
      GRAPHMILL_TRY(out.visible_, npy_array::open(folder / visible_file));
    }
    return out;
  }

  std::int64_t lists() const { return indptr_.size() - 1; }
  std::int64_t begin(node_id destination) const {
    return reinterpret_cast<const std::int64_t*>(indptr_.data())[destination];
  }
  node_id source(edge_id edge) const {
    return id_span{indices_.data(), indices_.size(),
                   indices_.type() == dtype::int64}[edge];
  }

  /// Calls `visit` with the edges of level 0 between two nodes.
  template <class Visit>
  void each_visible(const node_pair& nodes, Visit visit) {
    sort_lists();
    const auto first = order_.begin() + begin(nodes.second);
    const auto last = first + visible(nodes.second);
    auto at = std::partition_point(
      first, last, [&](edge_id e) { return source(e) < nodes.first; });
    for (; at != last && source(*at) == nodes.first; ++at)
      visit(*at);
  }

private:
  std::int32_t visible(node_id destination) const {
    return reinterpret_cast<const std::int32_t*>(
      visible_.data())[2 * destination];
  }

  /// The visible edges of each list by their sources.
  void sort_lists() {
    if (!order_.empty() || indices_.size() == 0)
      return;
    order_.resize(static_cast<std::size_t>(indices_.size()));
    std::iota(order_.begin(), order_.end(), edge_id{0});
    for (node_id d = 0; d < lists(); ++d)
      std::ranges::sort(order_.begin() + begin(d),
                        order_.begin() + begin(d) + visible(d), {},
                        [this](edge_id e) {
                          return std::pair{source(e), e};
                        });
  }

  npy_array indptr_;
  npy_array indices_;
  npy_array visible_;
  std::vector<edge_id> order_;
};

/// Lists that rows share, while they are made.
struct shared_lists {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int64_t> ids;

  std::int64_t close() {
    indptr.push_back(std::ssize(ids));
    return std::ssize(indptr) - 2;
  }
};

node_pair nodes_of(const task_edge& row) {
  return {row.source, row.destination};
}

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
        !kind
        || is_known(*kind, from.labels[i],
                    e * label_bytes / size_of(traits_of(*kind).element));
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
  if (std::ranges::all_of(rows_[task],
                          [](const auto& rows) { return rows.empty(); }))
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
  constexpr auto any_time = -std::numeric_limits<double>::infinity();
  std::unordered_map<node_pair, std::map<double, std::uint8_t>, pair_hash>
    reversed;
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
        if (about(t).reverse_types[place] == type) {
          auto& held =
            reversed[{row.destination, row.source}]
                    [times.empty() || !about(t).timed ? any_time : row.time];
          held = std::max(held, level);
        }
      }
  if (reversed.empty())
    return out;
  auto unsorted = edges;
  unsorted.leveled = false; // There is no visible.npy yet.
  unsorted.timed = false;   // Likewise.
  GRAPHMILL_TRY(const auto index,
                edge_index::open(edge_folder(folder_, info_, type), unsorted));
  for (node_id d = 0; d < index.lists(); ++d)
    for (auto e = index.begin(d); e < index.begin(d + 1); ++e)
      if (const auto pair = reversed.find({index.source(e), d});
          pair != reversed.end()) {
        const auto place = static_cast<std::size_t>(e);
        for (const auto time :
             {any_time,
              times.empty() ? any_time : static_cast<double>(times[place])})
          if (const auto held = pair->second.find(time);
              held != pair->second.end())
            out[place] = std::max(out[place], held->second);
      }
  return out;
}

template <class T>
result<void>
task_writer::write_array(std::size_t task, split which, std::string_view name,
                         std::span<const T> values,
                         std::vector<std::int64_t> row_shape) const {
  auto rows = std::ssize(values);
  for (const auto extent : row_shape)
    rows = extent == 0 ? 0 : rows / extent;
  row_shape.insert(row_shape.begin(), rows);
  return write_npy_bytes(
    folder_ / task_file(about(task).name, file_stem(which), name),
    dtype_of<T>(), row_shape, std::as_bytes(values));
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
  GRAPHMILL_TRYV(write_array<std::int64_t>(task, which, "edges", edges, {2}));
  GRAPHMILL_TRYV(write_array<std::int64_t>(task, which, "ids", ids));
  if (of.edge_types.size() > 1)
    GRAPHMILL_TRYV(write_array<std::int32_t>(task, which, "types", types));
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
    GRAPHMILL_TRYV(write_array<double>(task, which, "times", times));
  if (of.weighted)
    GRAPHMILL_TRYV(write_array<float>(task, which, "weights", weights));
  if (each > 0)
    GRAPHMILL_TRYV(
      write_array<std::int64_t>(task, which, "negatives", negatives, {each}));
  if (!traits_of(of.kind).negatives)
    return ok();
  return which == split::train ? write_exclusions(task)
                               : write_known(task, which);
}

/// Edges of higher levels are outside of what a list shows in training anyway.
result<void> task_writer::write_exclusions(std::size_t task) const {
  const auto& of = about(task);
  std::map<edge_type_id, edge_index> indexes;
  for (std::size_t i = 0; i < of.edge_types.size(); ++i)
    for (const auto& type :
         {std::optional{of.edge_types[i]}, of.reverse_types[i]})
      if (type && !indexes.contains(*type)) {
        GRAPHMILL_TRY(
          auto index,
          edge_index::open(edge_folder(folder_, info_, *type),
                           info_.edge_types[static_cast<std::size_t>(*type)]));
        indexes.emplace(*type, std::move(index));
      }
  shared_lists lists;
  std::vector<std::int32_t> types;
  std::vector<std::uint8_t> ends;
  std::vector<std::unordered_map<node_pair, std::int64_t, pair_hash>> seen(
    of.edge_types.size());
  for (const auto& row : rows_[task][0]) {
    const auto place = static_cast<std::size_t>(row.type);
    const auto [at, fresh] = seen[place].try_emplace(nodes_of(row), 0);
    if (fresh) {
      const auto add = [&](edge_type_id type, const node_pair& nodes,
                           std::uint8_t end) {
        indexes.at(type).each_visible(nodes, [&](edge_id edge) {
          lists.ids.push_back(edge);
          types.push_back(static_cast<std::int32_t>(type));
          ends.push_back(end);
        });
      };
      const auto type = of.edge_types[place];
      const auto& joined = info_.edge_types[static_cast<std::size_t>(type)];
      const auto& reverse = of.reverse_types[place];
      const node_pair back{row.destination, row.source};
      // An edge of the same type may go back, whether the type is its own
      // reverse or not.
      const auto goes_back =
        joined.source == joined.destination && row.source != row.destination;
      add(type, nodes_of(row), 0);
      if (goes_back)
        add(type, back, 1);
      if (reverse && *reverse != type) {
        add(*reverse, back, 1);
        if (goes_back)
          add(*reverse, nodes_of(row), 0);
      }
      at->second = lists.close();
    }
    lists.rows.push_back(at->second);
  }
  const auto which = split::train;
  GRAPHMILL_TRYV(
    write_array<std::int64_t>(task, which, "exclude.rows", lists.rows));
  GRAPHMILL_TRYV(
    write_array<std::int64_t>(task, which, "exclude.indptr", lists.indptr));
  GRAPHMILL_TRYV(
    write_array<std::int64_t>(task, which, "exclude.ids", lists.ids));
  GRAPHMILL_TRYV(
    write_array<std::int32_t>(task, which, "exclude.types", types));
  return write_array<std::uint8_t>(task, which, "exclude.ends", ends);
}

result<void> task_writer::write_known(std::size_t task, split which) const {
  const auto& of = about(task);
  const auto& rows = rows_[task][static_cast<std::size_t>(which)];
  shared_lists lists;
  lists.rows.resize(2 * rows.size());
  for (std::size_t i = 0; i < of.edge_types.size(); ++i) {
    const auto type = of.edge_types[i];
    GRAPHMILL_TRY(
      const auto index,
      edge_index::open(edge_folder(folder_, info_, type),
                       info_.edge_types[static_cast<std::size_t>(type)]));
    // Of one end of rows, the nodes at the other end.
    const auto add = [&](std::size_t side, node_id task_edge::*own) {
      std::unordered_map<node_id, std::int64_t> list_of;
      for (const auto& row : rows)
        if (std::cmp_equal(row.type, i))
          list_of.try_emplace(row.*own, -1);
      std::vector<node_pair> found;
      for (node_id d = 0; d < index.lists(); ++d)
        for (auto e = index.begin(d); e < index.begin(d + 1); ++e) {
          const auto from = side == 0 ? index.source(e) : d;
          if (list_of.contains(from))
            found.emplace_back(from, side == 0 ? d : index.source(e));
        }
      std::ranges::sort(found);
      found.erase(std::unique(found.begin(), found.end()), found.end());
      for (std::size_t f = 0; f < found.size(); ++f) {
        lists.ids.push_back(found[f].second);
        if (f + 1 == found.size() || found[f + 1].first != found[f].first)
          list_of[found[f].first] = lists.close();
      }
      for (std::size_t r = 0; r < rows.size(); ++r)
        if (std::cmp_equal(rows[r].type, i))
          lists.rows[2 * r + side] = list_of.at(rows[r].*own);
    };
    add(0, &task_edge::source);
    add(1, &task_edge::destination);
  }
  GRAPHMILL_TRYV(
    write_array<std::int64_t>(task, which, "known.rows", lists.rows, {2}));
  GRAPHMILL_TRYV(
    write_array<std::int64_t>(task, which, "known.indptr", lists.indptr));
  return write_array<std::int64_t>(task, which, "known.ids", lists.ids);
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
