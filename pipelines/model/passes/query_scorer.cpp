#include "pipelines/model/passes/query_scorer.hpp"

#include "pipelines/kernels/links/link_panels.hpp"
#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// Rows of a scorer that one thread takes at a time.
constexpr std::int64_t score_grain = 64;

owned_matrix zeros(std::int64_t rows, std::int64_t columns,
                   const std::shared_ptr<buffer_pool>& pool) {
  owned_matrix out{rows, columns, pool};
  const auto all = out.view();
  std::fill(all.data, all.data + all.size(), 0.0f);
  return out;
}

template <class Index>
owned_matrix gathered(const_matrix from, std::span<const Index> rows,
                      const std::shared_ptr<buffer_pool>& pool) {
  owned_matrix out{std::ssize(rows), from.columns, pool};
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(from.row(rows[i]), from.columns,
                out.view().row(static_cast<std::int64_t>(i)));
  return out;
}

template <class Index>
void scatter(const_matrix from, std::span<const Index> rows, matrix into) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::int64_t c = 0; c < from.columns; ++c)
      into.row(rows[i])[c] += from.row(static_cast<std::int64_t>(i))[c];
}

} // namespace

query_scorer::query_scorer(const setting& how)
  : set_(how), how_(comparison_of(how.decoder->kind, how.decoder->norm)) {}

const_matrix query_scorer::nodes() const {
  return normalised_.empty() ? set_.nodes : normalised_.view();
}

link_queries query_scorer::task_of(query_side side) const {
  return {.kind = set_.decoder->kind,
          .side = side,
          .nodes = nodes(),
          .ends = side == query_side::source ? set_.rows->sources
                                             : set_.rows->destinations,
          .relations = turned_.empty() ? set_.values.relation : turned_.view(),
          .relation_of = set_.rows->relations};
}

owned_matrix query_scorer::make_queries(query_side side) const {
  owned_matrix out{set_.rows->count(), set_.nodes.columns, set_.pool};
  const auto task = task_of(side);
  const auto to = out.view();
  if (set_.decoder->kind == decoder_kind::bilinear) {
    const auto ends = gathered(task.nodes, task.ends, set_.pool);
    map_queries(side, ends.view(), to);
    return out;
  }
  set_.team->for_pieces(
    to.rows, chunk_rows,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      graphmill::make_queries(task, begin, end, to);
    });
  return out;
}

/// Rows times the matrix of their edge type, or its transpose for destinations.
void query_scorer::map_queries(query_side side, const_matrix ends,
                               matrix out) const {
  const auto width = ends.columns;
  const auto groups =
    rows_by_relation(set_.rows->relations, set_.decoder->ends.size());
  for (std::size_t r = 0; r < groups.size(); ++r) {
    if (groups[r].empty())
      continue;
    const auto first = static_cast<std::int64_t>(r) * width;
    const auto matrix_of = set_.values.matrices.slice(first, first + width);
    const auto product = [&](const_matrix x, matrix y) {
      if (side == query_side::source)
        multiply(*set_.team, x, matrix_of, y);
      else
        multiply_nt(*set_.team, x, matrix_of, y);
    };
    if (std::ssize(groups[r]) == ends.rows) {
      product(ends, out);
      continue;
    }
    const std::span<const std::int32_t> rows{groups[r]};
    const auto x = gathered(ends, rows, set_.pool);
    owned_matrix y{std::ssize(rows), width, set_.pool};
    product(x.view(), y.view());
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::copy_n(y.view().row(static_cast<std::int64_t>(i)), width,
                  out.row(rows[i]));
  }
}

void query_scorer::forward(matrix out) {
  if (set_.decoder->kind == decoder_kind::cosine) {
    normalised_ = {set_.nodes.rows, set_.nodes.columns, set_.pool};
    inverse_lengths_.resize(static_cast<std::size_t>(set_.nodes.rows));
    set_.team->for_pieces(
      set_.nodes.rows, chunk_rows,
      [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        normalise_rows(set_.nodes, begin, end, normalised_.view(),
                       inverse_lengths_.data());
      });
  }
  if (set_.decoder->kind == decoder_kind::rotate) {
    turned_ = {set_.values.relation.rows, set_.nodes.columns, set_.pool};
    turn_angles(set_.values.relation, turned_.view());
  }
  from_sources_ = make_queries(query_side::source);
  if (set_.rows->replaces_sources())
    from_destinations_ = make_queries(query_side::destination);
  score_own(out);
  for (auto k = set_.rows->slots.own(); k < out.columns; ++k)
    for (std::int64_t i = 0; i < out.rows; ++i)
      out.row(i)[k] = no_score;
  for (const auto& list : set_.rows->joint)
    score_joint(list, out);
}

void query_scorer::score_own(matrix out) const {
  const auto& rows = *set_.rows;
  const auto own = rows.slots.own();
  const auto split = 1 + rows.slots.wrong_destinations;
  const list_scores destinations{.how = how_,
                                 .a = from_sources_.view(),
                                 .b = nodes(),
                                 .lists = rows.candidates.data(),
                                 .stride = own,
                                 .first = 0,
                                 .last = split};
  list_scores sources = destinations;
  sources.a = from_destinations_.view();
  sources.first = split;
  sources.last = own;
  auto edges = sources; // As seen from their destinations.
  edges.lists = rows.sources.data();
  edges.stride = 1;
  edges.first = 0;
  edges.last = 1;
  owned_matrix again{split == own ? 0 : out.rows, 1, set_.pool};
  set_.team->for_pieces(
    out.rows, score_grain,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      score_lists(destinations, begin, end, out);
      if (split == own)
        return;
      score_lists(sources, begin, end, out);
      score_lists(edges, begin, end, again.view());
      for (auto i = begin; i < end; ++i) {
        const auto shift = out.row(i)[0] - again.view().row(i)[0];
        for (auto k = split; k < own; ++k)
          out.row(i)[k] += shift;
      }
    });
}

void query_scorer::score_joint(const link_rows::joint_list& list,
                               matrix out) const {
  const auto& queries = list.sources ? from_destinations_ : from_sources_;
  const auto count = std::ssize(list.nodes);
  const std::span<const std::int32_t> rows{list.rows};
  const auto a = gathered(queries.view(), rows, set_.pool);
  const auto b =
    gathered(nodes(), std::span<const local_id>{list.nodes}, set_.pool);
  owned_matrix scores{a.view().rows, count, set_.pool};
  const auto y = scores.view();
  set_.team->for_pieces(
    y.rows, score_grain,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      if (how_ == comparison::product)
        multiply_nt(a.view().slice(begin, end), b.view(), 0,
                    y.slice(begin, end));
      else
        compare_all(how_, a.view(), b.view(), begin, end, y);
      for (auto i = begin; i < end; ++i)
        std::copy_n(y.row(i), count, out.row(list.rows[i]) + list.slot);
    });
}

/// The queries of all rows that meet the present list.
const owned_matrix& query_scorer::ranking_queries() const {
  return ranked_->sources ? from_destinations_ : from_sources_;
}

void query_scorer::begin_ranking(const link_rows::full_list& list) {
  ranked_ = &list;
  if (how_ != comparison::product)
    return;
  const auto candidates = nodes().slice(list.first, list.first + list.count);
  const auto panels = panels_of(list.count);
  panels_ = pod_vector<float>{set_.pool};
  panels_.resize(
    static_cast<std::size_t>(panels * panel_nodes * candidates.columns));
  set_.team->for_pieces(
    panels, score_grain,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      make_panels(candidates, begin, end, panels_.data());
    });
}

void query_scorer::score_nodes(std::span<const std::int32_t> rows,
                               std::int64_t begin, matrix out) const {
  const auto queries = gathered(ranking_queries().view(), rows, set_.pool);
  const auto end = std::min(begin + out.columns, ranked_->count);
  if (how_ == comparison::product)
    multiply_panels(queries.view(),
                    panels_.data() + begin * queries.view().columns,
                    panels_of(end - begin), out);
  else
    compare_all(how_, queries.view(),
                nodes().slice(ranked_->first + begin, ranked_->first + end), 0,
                out.rows, out);
}

void query_scorer::score_own_nodes(std::span<const std::int32_t> rows,
                                   float* out) const {
  const auto& of =
    ranked_->sources ? set_.rows->sources : set_.rows->destinations;
  std::vector<local_id> ends;
  for (const auto row : rows)
    ends.push_back(of[static_cast<std::size_t>(row)]);
  const auto queries = gathered(ranking_queries().view(), rows, set_.pool);
  const auto count = std::ssize(rows);
  if (how_ != comparison::product)
    return score_lists({.how = how_,
                        .a = queries.view(),
                        .b = nodes(),
                        .lists = ends.data(),
                        .stride = 1,
                        .first = 0,
                        .last = 1},
                       0, count, {out, count, 1});
  // The diagonals of small products.
  const auto own =
    gathered(nodes(), std::span<const local_id>{ends}, set_.pool);
  const auto width = own.view().columns;
  owned_matrix panel{panel_nodes, width, set_.pool};
  owned_matrix scores{panel_nodes, panel_nodes, set_.pool};
  for (std::int64_t from = 0; from < count; from += panel_nodes) {
    const auto to = std::min(from + panel_nodes, count);
    make_panels(own.view().slice(from, to), 0, 1, panel.data());
    multiply_panels(queries.view().slice(from, to), panel.data(), 1,
                    scores.view());
    for (auto i = from; i < to; ++i)
      out[i] = scores.view().row(i - from)[i - from];
  }
}

void query_scorer::backward(const_matrix gradient, const gradients& into,
                            matrix nodes) {
  const auto width = set_.nodes.columns;
  const auto cosine = set_.decoder->kind == decoder_kind::cosine;
  // Of normalised rows, at first.
  auto own = cosine ? zeros(nodes.rows, width, set_.pool) : owned_matrix{};
  const auto target = cosine ? own.view() : nodes;
  source_gradients_ = zeros(set_.rows->count(), width, set_.pool);
  if (set_.rows->replaces_sources())
    destination_gradients_ = zeros(set_.rows->count(), width, set_.pool);
  add_own_gradients(gradient, target);
  for (const auto& list : set_.rows->joint)
    add_joint_gradients(list, gradient, target);
  add_query_gradients(query_side::source, into, target);
  if (set_.rows->replaces_sources())
    add_query_gradients(query_side::destination, into, target);
  if (!cosine)
    return;
  set_.team->for_pieces(
    target.rows, chunk_rows,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      normalised_gradients(normalised_.view(), inverse_lengths_.data(), begin,
                           end, target);
      for (auto i = begin; i < end; ++i)
        for (std::int64_t c = 0; c < width; ++c)
          nodes.row(i)[c] += target.row(i)[c];
    });
}

/// Of the edge and the negatives of its own: for queries by row, and for
/// candidates by node.
void query_scorer::add_own_gradients(const_matrix gradient, matrix nodes) {
  const auto& rows = *set_.rows;
  const auto own = rows.slots.own();
  const auto split = 1 + rows.slots.wrong_destinations;
  turned_lists turned;
  const auto add = [&](std::int64_t first, std::int64_t last,
                       const owned_matrix& queries, owned_matrix& into) {
    if (first == last)
      return;
    const comparison_gradients of_queries{.how = how_,
                                          .a = queries.view(),
                                          .b = this->nodes(),
                                          .columns = rows.candidates.data(),
                                          .weights = gradient.data,
                                          .stride = own,
                                          .weight_stride = gradient.columns,
                                          .first = first,
                                          .last = last};
    const auto sums = into.view();
    set_.team->for_pieces(
      sums.rows, score_grain,
      [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        add_gradients(of_queries, begin, end, sums);
      });
    turn_lists(rows.candidates, own, first, last, gradient, nodes.rows, turned);
    const comparison_gradients of_nodes{.how = how_,
                                        .a = this->nodes(),
                                        .b = queries.view(),
                                        .indptr = turned.indptr.data(),
                                        .columns = turned.rows.data(),
                                        .weights = turned.weights.data()};
    set_.team->for_pieces(
      nodes.rows, score_grain,
      [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        add_gradients(of_nodes, begin, end, nodes);
      });
  };
  add(0, split, from_sources_, source_gradients_);
  add(split, own, from_destinations_, destination_gradients_);
}

void query_scorer::add_joint_gradients(const link_rows::joint_list& list,
                                       const_matrix gradient, matrix nodes) {
  const auto& queries = list.sources ? from_destinations_ : from_sources_;
  auto& into = list.sources ? destination_gradients_ : source_gradients_;
  const auto count = std::ssize(list.nodes);
  const std::span<const std::int32_t> rows{list.rows};
  const std::span<const local_id> candidates{list.nodes};
  const auto a = gathered(queries.view(), rows, set_.pool);
  const auto b = gathered(this->nodes(), candidates, set_.pool);
  owned_matrix weights{a.view().rows, count, set_.pool};
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(gradient.row(rows[i]) + list.slot, count,
                weights.view().row(static_cast<std::int64_t>(i)));
  auto of_a = zeros(a.view().rows, a.view().columns, set_.pool);
  auto of_b = zeros(b.view().rows, b.view().columns, set_.pool);
  const const_matrix w = weights.view();
  if (how_ == comparison::product) {
    multiply(*set_.team, w, b.view(), of_a.view());
    add_product_tn(*set_.team, w, a.view(), of_b.view(), set_.pool);
  } else {
    set_.team->for_pieces(
      w.rows, score_grain,
      [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        add_all_gradients(how_, a.view(), b.view(), w, false, begin, end,
                          of_a.view());
      });
    set_.team->for_pieces(
      count, score_grain,
      [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        add_all_gradients(how_, b.view(), a.view(), w, true, begin, end,
                          of_b.view());
      });
  }
  scatter(of_a.view(), rows, into.view());
  scatter(of_b.view(), candidates, nodes);
}

/// From the gradients of queries to those of what they are made of.
void query_scorer::add_query_gradients(query_side side, const gradients& into,
                                       matrix nodes) {
  const auto task = task_of(side);
  auto& owner =
    side == query_side::source ? source_gradients_ : destination_gradients_;
  if (set_.decoder->kind == decoder_kind::bilinear) {
    add_map_gradients(side, into);
  } else if (set_.decoder->kind == decoder_kind::rotate) {
    auto of_turned =
      zeros(turned_.view().rows, turned_.view().columns, set_.pool);
    add_relation_gradients(task, owner.view(), of_turned.view());
    add_angle_gradients(turned_.view(), of_turned.view(), into.relation);
  } else if (into.relation.data != nullptr) {
    add_relation_gradients(task, owner.view(), into.relation);
  }
  const auto gradient = owner.view();
  set_.team->for_pieces(
    gradient.rows, chunk_rows,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      end_gradients(task, begin, end, gradient);
    });
  scatter<local_id>(gradient, task.ends, nodes);
}

/// Of `map_queries`: adds those of the matrices, and turns those of the queries
/// into those of the ends.
void query_scorer::add_map_gradients(query_side side, const gradients& into) {
  const auto task = task_of(side);
  const auto width = set_.nodes.columns;
  const auto source = side == query_side::source;
  const auto gradient =
    source ? source_gradients_.view() : destination_gradients_.view();
  const auto groups =
    rows_by_relation(set_.rows->relations, set_.decoder->ends.size());
  for (std::size_t r = 0; r < groups.size(); ++r) {
    const std::span<const std::int32_t> rows{groups[r]};
    if (rows.empty())
      continue;
    const auto first = static_cast<std::int64_t>(r) * width;
    const auto value = set_.values.matrices.slice(first, first + width);
    const auto sum = into.matrices.slice(first, first + width);
    std::vector<local_id> ends;
    for (const auto row : rows)
      ends.push_back(task.ends[static_cast<std::size_t>(row)]);
    const auto x =
      gathered(task.nodes, std::span<const local_id>{ends}, set_.pool);
    const auto g = gathered(gradient, rows, set_.pool);
    owned_matrix y{std::ssize(rows), width, set_.pool};
    if (source) {
      add_product_tn(*set_.team, x.view(), g.view(), sum, set_.pool);
      multiply_nt(*set_.team, g.view(), value, y.view());
    } else {
      add_product_tn(*set_.team, g.view(), x.view(), sum, set_.pool);
      multiply(*set_.team, g.view(), value, y.view());
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::copy_n(y.view().row(static_cast<std::int64_t>(i)), width,
                  gradient.row(rows[i]));
  }
}

} // namespace graphmill
