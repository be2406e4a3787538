#include "pipelines/flow/feed/form_batch.hpp"

#include "partition/dataset/chosen_task.hpp"
#include "partition/sampling/rows/packed_rows.hpp"
#include "pipelines/definition/validation/edge_features.hpp"
#include "pipelines/definition/validation/edge_weights.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace graphmill {

namespace {

/// Lays one batch out. The order of its calls is that of `slots_of`.
class former {
public:
  former(formed_batch& out, std::span<const seed_row> rows,
         std::span<const std::int64_t> until, const batch_form& form,
         const dataset_info& info, const std::shared_ptr<buffer_pool>& pool)
    : out_(out), rows_(rows), until_(until), form_(form), info_(info),
      pool_(pool) {}

  result<void> add_nodes(std::size_t type) {
    auto& data = out_.data;
    const auto& node = info_.node_types[type];
    if (node.feature_width > 0) {
      GRAPHMILL_TRYV(unpack_rows(type));
      add(data.features[type],
          static_cast<std::int64_t>(data.graph.nodes[type].ids.size()),
          node.feature_width);
    }
    add(data.embedding_rows[type]);
    if (form_.trees)
      GRAPHMILL_TRYV(add_trees(type));
    if (form_.degrees)
      add(data.degrees[type]);
    if (std::cmp_equal(type, info_.target) && !info_.chosen_task) {
      if (node.class_count > 0)
        add_labels(node);
      if (form_.ages && form_.trees) {
        auto& times = out_.numbers.emplace_back(pool_);
        times.append(until_);
        add(times);
      }
      auto& rows = out_.numbers.emplace_back(pool_);
      rows.append(rows_);
      add(rows);
    }
    out_.found.push_back(data.graph.nodes[type].found);
    return ok();
  }

  /// The edges of one type, or of several row by row.
  /// @param features Of these types; none: the form has none, or they have.
  void add_edges(std::span<edge_list> lists, bool weighted, bool timed,
                 std::span<pod_vector<float>> features, std::int64_t width) {
    if (form_.layout == edge_layout::coo)
      add_pairs(lists);
    else
      add_lists(lists);
    if (form_.edge_ids)
      add_by_edge<std::int64_t>(
        lists, lists.front().edge_ids,
        [](const edge_list& list) { return list.edge_ids.data(); }, 0,
        out_.numbers);
    if (form_.edge_weights && weighted)
      add_by_edge<float>(
        lists, lists.front().weights,
        [](const edge_list& list) {
          return list.weights.empty() ? nullptr : list.weights.data();
        },
        1, out_.values);
    if (form_.ages && timed) {
      count_in_seconds(lists);
      add_by_edge<float>(
        lists, lists.front().ages,
        [](const edge_list& list) {
          return list.ages.empty() ? nullptr : list.ages.data();
        },
        0, out_.values);
    }
    if (!features.empty() && width > 0)
      add_features(lists, features, width);
  }

  /// Ages in the unit of the window, which is not that of the dataset.
  void count_in_seconds(std::span<edge_list> lists) const {
    if (info_.ticks_per_second == 1)
      return;
    const auto ticks = static_cast<float>(info_.ticks_per_second);
    for (auto& list : lists)
      for (auto& age : list.ages)
        age /= ticks;
  }

  void add_types(std::span<const edge_list> lists) {
    auto& types = out_.numbers.emplace_back(pool_);
    types.resize(edges_in(lists));
    auto* to = types.data();
    each_row(lists, [&to](std::size_t list, std::size_t, std::size_t count) {
      to = std::fill_n(to, count, static_cast<std::int64_t>(list));
    });
    add(types);
  }

  void count_edges(std::span<const edge_list> lists, node_type_id destination) {
    auto& counts = out_.edges.emplace_back();
    const auto& graph = out_.data.graph;
    for (int hop = 1; hop <= graph.hops; ++hop) {
      const auto from =
        static_cast<std::size_t>(graph.rows(destination, hop - 1));
      const auto to = static_cast<std::size_t>(graph.rows(destination, hop));
      std::int64_t sum = 0;
      for (const auto& list : lists)
        sum += list.indptr[to] - list.indptr[from];
      counts.push_back(sum);
    }
  }

  /// The rows of one edge type of the task.
  /// @param relation Its place there; none: rows of all of them.
  void add_rows(const seed_batch& edges, std::optional<std::size_t> relation) {
    const auto& task = *chosen_task(info_);
    const auto taken = rows_of(edges, relation);
    const auto triplets = form_.rows == link_row_form::triplets;
    std::vector<std::size_t> told; // The row of each pair, or of each edge.
    if (triplets) {
      told = taken;
      add_triplets(edges, taken, relation.value_or(0));
    } else {
      told = add_label_pairs(edges, taken);
      add_row_labels(edges, taken, told.size());
    }
    if (form_.ages && form_.trees)
      add_of_rows<std::int64_t>(
        told, [this](auto row) { return until_[row]; }, out_.numbers);
    if (form_.labels && task.weighted)
      add_of_rows<float>(
        told, [&edges](auto row) { return edges.weights[row]; }, out_.values);
    if (!relation && task.edge_types.size() > 1)
      add_of_rows<std::int64_t>(
        told,
        [&edges, &task](auto row) {
          return task
            .edge_types[static_cast<std::size_t>(edges.relations[row])];
        },
        out_.numbers);
    add_of_rows<std::int64_t>(
      taken, [this](auto row) { return rows_[row]; }, out_.numbers);
  }

private:
  static std::vector<std::size_t> rows_of(const seed_batch& edges,
                                          std::optional<std::size_t> relation) {
    std::vector<std::size_t> out;
    for (std::size_t row = 0; row < edges.rows(); ++row)
      if (!relation
          || std::cmp_equal(edges.relations.empty() ? 0 : edges.relations[row],
                            *relation))
        out.push_back(row);
    return out;
  }

  template <class T, class Of>
  void add_of_rows(std::span<const std::size_t> rows, Of of,
                   std::vector<pod_vector<T>>& kept) {
    auto& made = kept.emplace_back(pool_);
    made.reserve(rows.size());
    for (const auto row : rows)
      made.push_back(static_cast<T>(of(row)));
    add(made);
  }

  /// Edges, then the negatives that exist, edge by edge.
  /// @returns the row of each pair.
  std::vector<std::size_t> add_label_pairs(const seed_batch& edges,
                                           std::span<const std::size_t> taken) {
    std::vector<std::size_t> told{taken.begin(), taken.end()};
    std::vector<local_id> sources;
    std::vector<local_id> destinations;
    const auto pair = [&](local_id source, local_id destination) {
      sources.push_back(source);
      destinations.push_back(destination);
    };
    const auto nodes = [&edges](std::size_t row) {
      return edges.locals.data() + row * edges.columns;
    };
    for (const auto row : taken)
      pair(nodes(row)[0], nodes(row)[1]);
    for (const auto row : taken)
      for (std::size_t c = 2; c < edges.columns; ++c) {
        const auto* of = nodes(row);
        if (of[c] == seed_batch::none)
          continue;
        if (edges.wrong_pairs != 0) {
          pair(of[c], of[c + 1]);
          ++c;
        } else if (c < 2 + edges.wrong_destinations) {
          pair(of[0], of[c]);
        } else {
          pair(of[c], of[1]);
        }
        told.push_back(row);
      }
    auto& made = out_.numbers.emplace_back(pool_);
    made.resize(2 * told.size());
    auto* to = std::copy(sources.begin(), sources.end(), made.data());
    std::copy(destinations.begin(), destinations.end(), to);
    add(made, 2, std::ssize(told));
    return told;
  }

  /// @param pairs How many there are: the first ones are the rows.
  void add_row_labels(const seed_batch& edges,
                      std::span<const std::size_t> taken, std::size_t pairs) {
    if (traits_of(chosen_task(info_)->kind).negatives) {
      if (!form_.has_negatives())
        return;
      auto& labels = out_.values.emplace_back(pool_);
      labels.resize(pairs);
      auto* end = std::fill_n(labels.data(), taken.size(), 1.0F);
      std::fill_n(end, pairs - taken.size(), 0.0F);
      add(labels);
      return;
    }
    const auto& target =
      info_.node_types[static_cast<std::size_t>(info_.target)];
    if (!form_.labels)
      return;
    if (!target.has_label_rows()) {
      add_of_rows<std::int64_t>(
        taken, [&edges](auto row) { return edges.classes[row]; }, out_.numbers);
      return;
    }
    const auto width = static_cast<std::size_t>(target.label_bytes());
    auto& labels = out_.bytes.emplace_back(pool_);
    labels.resize(taken.size() * width);
    for (std::size_t i = 0; i < taken.size(); ++i)
      std::copy_n(edges.label_rows.data() + taken[i] * width, width,
                  labels.data() + i * width);
    add(labels, std::ssize(taken), target.class_count);
  }

  /// @param relation Of the task's edge types, one with the ends of all rows.
  void add_triplets(const seed_batch& edges, std::span<const std::size_t> taken,
                    std::size_t relation) {
    const auto column = [&edges](std::size_t c) {
      return [&edges, c](std::size_t row) {
        return edges.locals[row * edges.columns + c];
      };
    };
    add_of_rows<std::int64_t>(taken, column(0), out_.numbers);
    add_of_rows<std::int64_t>(taken, column(1), out_.numbers);
    const auto& ends = info_.edge_types[static_cast<std::size_t>(
      chosen_task(info_)->edge_types[relation])];
    const auto paired = edges.wrong_pairs != 0;
    if (form_.wrong_destinations)
      add_negatives(edges, taken,
                    paired ? negative_columns{3, edges.wrong_pairs, 2}
                           : negative_columns{2, edges.wrong_destinations},
                    edges.joint_destinations, ends.destination);
    if (form_.wrong_sources)
      add_negatives(edges, taken,
                    paired ? negative_columns{2, edges.wrong_pairs, 2}
                           : negative_columns{2 + edges.wrong_destinations,
                                              edges.wrong_sources},
                    edges.joint_sources, ends.source);
  }

  /// Those of each row that replace one end.
  struct negative_columns {
    std::size_t first = 0;
    std::size_t count = 0;
    std::size_t apart = 1;
  };

  /// Those of each row, or those that all rows share.
  void add_negatives(const seed_batch& edges,
                     std::span<const std::size_t> taken, negative_columns of,
                     const std::vector<std::vector<local_id>>& joint,
                     node_type_id type) {
    auto& made = out_.numbers.emplace_back(pool_);
    if (!joint.empty()) {
      const auto& shared = joint[static_cast<std::size_t>(type)];
      made.resize(shared.size());
      std::copy(shared.begin(), shared.end(), made.data());
      add(made);
      return;
    }
    made.reserve(taken.size() * of.count);
    for (const auto row : taken)
      for (std::size_t k = 0; k < of.count; ++k)
        made.push_back(
          edges.locals[row * edges.columns + of.first + k * of.apart]);
    add(made, std::ssize(taken),
        of.count == 1 ? 0 : static_cast<std::int64_t>(of.count));
  }

  template <class T>
  void add(const pod_vector<T>& values, std::int64_t rows,
           std::int64_t columns = 0) {
    out_.arrays.push_back(
      {values.empty() ? nullptr : values.data(), rows, columns});
  }
  template <class T>
  void add(const pod_vector<T>& values) {
    add(values, static_cast<std::int64_t>(values.size()));
  }

  /// The row of each node.
  result<void> add_trees(std::size_t type) {
    const auto& nodes = out_.data.graph.nodes[type];
    if (nodes.trees.size() != nodes.ids.size())
      return fail(ec::invalid_data,
                  "step {} has {} nodes of type \"{}\", and {} of them say in "
                  "whose tree they are",
                  out_.data.key.step, nodes.ids.size(),
                  info_.node_types[type].name, nodes.trees.size());
    auto& rows = out_.numbers.emplace_back(pool_);
    rows.resize(nodes.trees.size());
    std::copy(nodes.trees.begin(), nodes.trees.end(), rows.begin());
    add(rows);
    return ok();
  }

  result<void> unpack_rows(std::size_t type) {
    const auto form = row_form::of(info_.node_types[type]);
    if (!form.packed())
      return ok();
    auto& packed = out_.data.features[type];
    const auto count = out_.data.graph.nodes[type].ids.size();
    pod_vector<float> rows{pool_};
    rows.resize(count * form.width);
    for (std::size_t i = 0; i < count; ++i) {
      const auto* row = packed.data() + i * form.floats();
      if (!is_sound(row, form))
        return fail(ec::invalid_data,
                    "the features of a node of type \"{}\" in step {} are no "
                    "packed row",
                    info_.node_types[type].name, out_.data.key.step);
      unpack(row, form, rows.data() + i * form.width);
    }
    packed = std::move(rows);
    return ok();
  }

  void add_labels(const node_type_info& target) {
    const auto seeds = out_.data.graph.nodes[info_.target].found.front();
    if (target.has_label_rows())
      add(out_.data.label_rows, seeds, target.class_count);
    else
      add(out_.data.labels, seeds);
  }

  static std::size_t edges_in(std::span<const edge_list> lists) {
    return std::accumulate(lists.begin(), lists.end(), std::size_t{0},
                           [](std::size_t sum, const edge_list& list) {
                             return sum + list.sources.size();
                           });
  }

  /// Calls `visit(list, begin, edges)` for each row of each list: with one list
  /// for the whole of it.
  template <class Visit>
  static void each_row(std::span<const edge_list> lists, Visit visit) {
    if (lists.size() == 1) {
      visit(std::size_t{0}, std::size_t{0}, lists[0].sources.size());
      return;
    }
    for (std::size_t row = 0; row + 1 < lists.front().indptr.size(); ++row)
      for (std::size_t i = 0; i < lists.size(); ++i) {
        const auto begin = lists[i].indptr[row];
        visit(i, static_cast<std::size_t>(begin),
              static_cast<std::size_t>(lists[i].indptr[row + 1] - begin));
      }
  }

  void add_pairs(std::span<const edge_list> lists) {
    const auto edges = edges_in(lists);
    auto& pairs = out_.numbers.emplace_back(pool_);
    pairs.resize(2 * edges);
    copy_sources(lists, pairs.data());
    auto* to = pairs.data() + edges;
    for (std::size_t row = 0; row + 1 < lists.front().indptr.size(); ++row)
      for (const auto& list : lists)
        to = std::fill_n(to, list.indptr[row + 1] - list.indptr[row],
                         static_cast<std::int64_t>(row));
    add(pairs, 2, static_cast<std::int64_t>(edges));
  }

  void add_lists(std::span<edge_list> lists) {
    auto& indptr = out_.numbers.emplace_back(pool_);
    if (lists.size() == 1) {
      indptr.append(lists[0].indptr.span());
    } else {
      indptr.resize(lists.front().indptr.size());
      for (std::size_t row = 0; row < indptr.size(); ++row)
        indptr[row] =
          std::accumulate(lists.begin(), lists.end(), std::int64_t{0},
                          [row](std::int64_t sum, const edge_list& list) {
                            return sum + list.indptr[row];
                          });
    }
    add(indptr);
    auto& sources = out_.numbers.emplace_back(pool_);
    sources.resize(edges_in(lists));
    copy_sources(lists, sources.data());
    add(sources);
  }

  static void copy_sources(std::span<const edge_list> lists, std::int64_t* to) {
    each_row(lists, [lists, &to](std::size_t list, std::size_t begin,
                                 std::size_t count) {
      to = std::copy_n(lists[list].sources.data() + begin, count, to);
    });
  }

  /// One value for each edge. @param own What a single list has, as it is.
  /// @param of The values of a list; null: all are `otherwise`.
  template <class T, class Of>
  void add_by_edge(std::span<const edge_list> lists, const pod_vector<T>& own,
                   Of of, T otherwise, std::vector<pod_vector<T>>& kept) {
    if (lists.size() == 1) {
      add(own);
      return;
    }
    auto& merged = kept.emplace_back(pool_);
    merged.resize(edges_in(lists));
    auto* to = merged.data();
    each_row(lists, [lists, &to, of, otherwise](
                      std::size_t list, std::size_t begin, std::size_t count) {
      const auto* from = of(lists[list]);
      to = from == nullptr ? std::fill_n(to, count, otherwise)
                           : std::copy_n(from + begin, count, to);
    });
    add(merged);
  }

  /// Rows of edges; of several types, which have equally many features, row by
  /// row.
  void add_features(std::span<const edge_list> lists,
                    std::span<pod_vector<float>> features, std::int64_t width) {
    const auto edges = static_cast<std::int64_t>(edges_in(lists));
    if (lists.size() == 1)
      return add(features.front(), edges, width);
    auto& merged = out_.values.emplace_back(pool_);
    merged.resize(static_cast<std::size_t>(edges * width));
    auto* to = merged.data();
    const auto columns = static_cast<std::size_t>(width);
    each_row(lists,
             [&](std::size_t list, std::size_t begin, std::size_t count) {
               to = std::copy_n(features[list].data() + begin * columns,
                                count * columns, to);
             });
    add(merged, edges, width);
  }

  formed_batch& out_;
  const std::span<const seed_row> rows_;
  const std::span<const std::int64_t> until_;
  const batch_form& form_;
  const dataset_info& info_;
  const std::shared_ptr<buffer_pool>& pool_;
};

void lay_edges_out(former& make, formed_batch& out, const batch_form& form,
                   const dataset_info& info) {
  // Arrays point to what lies in these, which must not move.
  auto& lists = out.data.graph.edges;
  if (form.merged && !lists.empty()) {
    make.add_edges(lists, has_edge_weights(info) || form.visits,
                   std::ranges::any_of(info.edge_types, &edge_type_info::timed),
                   out.data.edge_features,
                   info.edge_types.front().feature_width);
    if (lists.size() > 1)
      make.add_types(lists);
    make.count_edges(lists, info.target);
    return;
  }
  for (std::size_t e = 0; e < lists.size(); ++e) {
    const std::span one{&lists[e], 1};
    const std::span features{out.data.edge_features};
    make.add_edges(one, info.edge_types[e].weighted || form.visits,
                   info.edge_types[e].timed,
                   features.empty() ? features : features.subspan(e, 1),
                   info.edge_types[e].feature_width);
    make.count_edges(one, info.edge_types[e].destination);
  }
}

result<void> lay_out(formed_batch& out, std::span<const seed_row> rows,
                     const seed_batch* edges,
                     std::span<const std::int64_t> until,
                     const batch_form& form, const dataset_info& info,
                     const std::shared_ptr<buffer_pool>& pool) {
  if (form.ages && form.trees && until.size() != rows.size())
    return fail(ec::invalid_data,
                "step {} has {} rows, and {} of them have times",
                out.data.key.step, rows.size(), until.size());
  former make{out, rows, until, form, info, pool};
  for (std::size_t t = 0; t < info.node_types.size(); ++t)
    GRAPHMILL_TRYV(make.add_nodes(t));
  lay_edges_out(make, out, form, info);
  if (edges == nullptr)
    return ok();
  if (form.merged) {
    make.add_rows(*edges, std::nullopt);
    return ok();
  }
  const auto types = chosen_task(info)->edge_types.size();
  for (std::size_t relation = 0; relation < types; ++relation)
    make.add_rows(*edges, relation);
  return ok();
}

} // namespace

result<formed_batch> form_batch(fetched_batch data,
                                std::span<const seed_row> rows,
                                const seed_batch* edges, const batch_form& form,
                                const dataset_info& info,
                                const std::shared_ptr<buffer_pool>& pool,
                                std::span<const std::int64_t> until) {
  if (form.merged && info.node_types.size() > 1)
    return fail(ec::invalid_argument,
                "\"{}\" has {} node types, so its edge types cannot be merged: "
                "leave merge_edge_types out",
                info.name, info.node_types.size());
  const auto key = data.key;
  try {
    formed_batch out;
    out.data = std::move(data);
    GRAPHMILL_TRYV(lay_out(out, rows, edges, until, form, info, pool));
    return out;
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory, "no memory to form step {} of rank {}",
                key.step, key.rank);
  }
}

} // namespace graphmill
