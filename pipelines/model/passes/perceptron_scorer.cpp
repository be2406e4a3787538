#include "pipelines/model/passes/perceptron_scorer.hpp"

#include "pipelines/kernels/links/link_panels.hpp"
#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// Pairs whose gradients are in memory at the same time.
constexpr std::int64_t pairs_at_once = 16 * chunk_rows;

} // namespace

perceptron_scorer::perceptron_scorer(const setting& how) : set_(how) {}

void perceptron_scorer::add_pair(local_id source, local_id destination,
                                 std::int64_t row, std::int64_t slot) {
  pairs_.push_back({source, destination, static_cast<std::int32_t>(row),
                    static_cast<std::int32_t>(slot)});
}

void perceptron_scorer::list_pairs() {
  const auto& rows = *set_.rows;
  const auto own = rows.slots.own();
  for (std::int64_t i = 0; i < rows.count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    for (std::int64_t k = 0; k < own; ++k) {
      const auto node = rows.candidates[static_cast<std::size_t>(i * own + k)];
      if (node == seed_batch::none)
        continue;
      if (rows.slots.replaces_source(k))
        add_pair(node, rows.destinations[at], i, k);
      else
        add_pair(rows.sources[at], node, i, k);
    }
  }
  for (const auto& list : rows.joint)
    for (const auto i : list.rows) {
      const auto at = static_cast<std::size_t>(i);
      auto slot = list.slot;
      for (const auto node : list.nodes) {
        if (list.sources)
          add_pair(node, rows.destinations[at], i, slot++);
        else
          add_pair(rows.sources[at], node, i, slot++);
      }
    }
}

const_matrix perceptron_scorer::weight_of(int part) const {
  const auto width = set_.nodes.columns;
  return set_.values.hidden_weight.slice(part * width, (part + 1) * width);
}

/// The products h t of pairs [begin, end), and what comes out of the layer.
void perceptron_scorer::hide(std::int64_t begin, std::int64_t end,
                             matrix products, matrix hidden) const {
  const auto width = set_.nodes.columns;
  for (auto p = begin; p < end; ++p) {
    const auto& one = pairs_[static_cast<std::size_t>(p)];
    const auto* h = set_.nodes.row(one.source);
    const auto* t = set_.nodes.row(one.destination);
    for (std::int64_t c = 0; c < width; ++c)
      products.row(p - begin)[c] = h[c] * t[c];
  }
  multiply(products, weight_of(2), 0, hidden);
  for (auto p = begin; p < end; ++p)
    activate(pairs_[static_cast<std::size_t>(p)], hidden.row(p - begin));
}

/// What comes out of the layer for a pair. @param z Its product with C.
void perceptron_scorer::activate(const pair& one, float* z) const {
  const auto* u = as_sources_.view().row(one.source);
  const auto* v = as_destinations_.view().row(one.destination);
  const auto* b = set_.values.hidden_bias.row(
    set_.rows->relations[static_cast<std::size_t>(one.row)]);
  if (!as_edges_.empty()) {
    const auto* e = as_edges_.view().row(one.row);
    for (std::int64_t c = 0; c < inside(); ++c)
      z[c] += e[c];
  }
  for (std::int64_t c = 0; c < inside(); ++c)
    z[c] = std::max(z[c] + u[c] + v[c] + b[c], 0.0f);
}

void perceptron_scorer::forward(matrix out) {
  list_pairs();
  if (set_.row_features.data != nullptr) {
    as_edges_ = {set_.row_features.rows, inside(), set_.pool};
    multiply(*set_.team, set_.row_features, set_.values.edge_weight,
             as_edges_.view());
  }
  std::fill(out.data, out.data + out.size(), no_score);
  if (set_.classes == 1)
    score_alike(out);
  else
    score_classes(out);
}

void perceptron_scorer::score_classes(matrix out) {
  as_sources_ = {set_.nodes.rows, inside(), set_.pool};
  as_destinations_ = {set_.nodes.rows, inside(), set_.pool};
  multiply(*set_.team, set_.nodes, weight_of(0), as_sources_.view());
  multiply(*set_.team, set_.nodes, weight_of(1), as_destinations_.view());
  set_.team->for_pieces(
    std::ssize(pairs_), chunk_rows,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      owned_matrix products{end - begin, set_.nodes.columns, set_.pool};
      owned_matrix hidden{end - begin, inside(), set_.pool};
      owned_matrix logits{end - begin, set_.classes, set_.pool};
      hide(begin, end, products.view(), hidden.view());
      multiply(hidden.view(), set_.values.output_weight, 0, logits.view());
      for (auto p = begin; p < end; ++p) {
        const auto& one = pairs_[static_cast<std::size_t>(p)];
        std::copy_n(logits.view().row(p - begin), set_.classes,
                    out.row(one.row) + one.slot);
      }
    });
}

/// Scores are compared, so equal pairs must have equal ones, wherever they are:
/// a library's product breaks such ties by place.
void perceptron_scorer::score_alike(matrix out) {
  make_all_panels();
  set_.team->for_pieces(
    std::ssize(pairs_), chunk_rows,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      const auto pairs = std::span{pairs_}.subspan(
        static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
      std::vector<float> scores(pairs.size());
      score_pairs(pairs, scores.data());
      for (std::size_t p = 0; p < pairs.size(); ++p)
        out.row(pairs[p].row)[pairs[p].slot] = scores[p];
    });
}

void perceptron_scorer::begin_ranking(const link_rows::full_list& list) {
  ranked_ = &list;
}

void perceptron_scorer::make_all_panels() {
  const auto padded = panels_of(inside()) * panel_nodes;
  owned_matrix output{1, padded, set_.pool};
  std::fill(output.data(), output.data() + padded, 0.0f);
  for (std::int64_t i = 0; i < inside(); ++i)
    output.data()[i] = set_.values.output_weight.row(i)[0];
  output_ = {padded, panel_nodes, set_.pool};
  make_panels(output.view(), 0, 1, output_.data());
  mixing_ = panels_of_part(2);
  for (const auto part : {0, 1}) {
    auto& as = part == 0 ? as_sources_ : as_destinations_;
    as = {set_.nodes.rows, padded, set_.pool};
    const auto panels = panels_of_part(part);
    set_.team->for_pieces(
      set_.nodes.rows, chunk_rows,
      [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        multiply_panels(set_.nodes.slice(begin, end), panels.view().data,
                        panels_of(inside()), as.view().slice(begin, end));
      });
  }
}

/// The columns of a weight as nodes.
owned_matrix perceptron_scorer::panels_of_part(int part) const {
  const auto width = set_.nodes.columns;
  const auto panels = panels_of(inside());
  owned_matrix columns{inside(), width, set_.pool};
  for (std::int64_t i = 0; i < inside(); ++i)
    for (std::int64_t c = 0; c < width; ++c)
      columns.view().row(i)[c] = weight_of(part).row(c)[i];
  owned_matrix out{panels * panel_nodes, width, set_.pool};
  make_panels(columns.view(), 0, panels, out.data());
  return out;
}

/// With sums that do not depend on a pair's place.
void perceptron_scorer::score_pairs(std::span<const pair> pairs,
                                    float* out) const {
  const auto width = set_.nodes.columns;
  const auto count = std::ssize(pairs);
  const auto panels = panels_of(inside());
  owned_matrix products{count, width, set_.pool};
  owned_matrix hidden{count, panels * panel_nodes, set_.pool};
  owned_matrix scores{count, panel_nodes, set_.pool};
  for (std::int64_t p = 0; p < count; ++p) {
    const auto* h = set_.nodes.row(pairs[static_cast<std::size_t>(p)].source);
    const auto* t =
      set_.nodes.row(pairs[static_cast<std::size_t>(p)].destination);
    for (std::int64_t c = 0; c < width; ++c)
      products.view().row(p)[c] = h[c] * t[c];
  }
  multiply_panels(products.view(), mixing_.view().data, panels, hidden.view());
  for (std::int64_t p = 0; p < count; ++p)
    activate(pairs[static_cast<std::size_t>(p)], hidden.view().row(p));
  multiply_panels(hidden.view(), output_.view().data, 1, scores.view());
  for (std::int64_t p = 0; p < count; ++p)
    out[p] = scores.view().row(p)[0];
}

void perceptron_scorer::score_nodes(std::span<const std::int32_t> rows,
                                    std::int64_t begin, matrix out) const {
  const auto end = std::min(begin + out.columns, ranked_->count);
  std::vector<pair> pairs(static_cast<std::size_t>(end - begin));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const auto node = static_cast<local_id>(ranked_->first + begin
                                              + static_cast<std::int64_t>(k));
      pairs[k] = {ranked_->sources ? node : set_.rows->sources[row],
                  ranked_->sources ? set_.rows->destinations[row] : node,
                  rows[i], 0};
    }
    score_pairs(pairs, out.row(static_cast<std::int64_t>(i)));
  }
}

void perceptron_scorer::score_own_nodes(std::span<const std::int32_t> rows,
                                        float* out) const {
  std::vector<pair> pairs;
  for (const auto row : rows)
    pairs.push_back({set_.rows->sources[static_cast<std::size_t>(row)],
                     set_.rows->destinations[static_cast<std::size_t>(row)],
                     row, 0});
  score_pairs(pairs, out);
}

/// Turns the products of pairs [begin, end) into the gradients of products, and
/// what comes out of the layer into the gradients of what goes in. Adds the
/// gradients of weights.
void perceptron_scorer::pair_gradients(const_matrix gradient,
                                       std::int64_t begin, std::int64_t end,
                                       matrix products, matrix hidden,
                                       const gradients& into) const {
  const auto width = set_.nodes.columns;
  owned_matrix logits{end - begin, set_.classes, set_.pool};
  owned_matrix upstream{end - begin, inside(), set_.pool};
  for (auto p = begin; p < end; ++p) {
    const auto& one = pairs_[static_cast<std::size_t>(p)];
    std::copy_n(gradient.row(one.row) + one.slot, set_.classes,
                logits.view().row(p - begin));
  }
  const const_matrix g = logits.view();
  add_product_tn(*set_.team, hidden, g, into.output_weight, set_.pool);
  set_.team->for_pieces(end - begin, chunk_rows,
                        [&](std::int64_t, std::int64_t from, std::int64_t to) {
                          const auto up = upstream.view().slice(from, to);
                          multiply_nt(g.slice(from, to),
                                      set_.values.output_weight, 0, up);
                          const auto z = hidden.slice(from, to);
                          for (std::int64_t i = 0; i < z.size(); ++i)
                            z.data[i] = z.data[i] > 0 ? up.data[i] : 0.0f;
                        });
  add_product_tn(*set_.team, products, hidden,
                 into.hidden_weight.slice(2 * width, 3 * width), set_.pool);
  multiply_nt(*set_.team, hidden, weight_of(2), products);
}

void perceptron_scorer::backward(const_matrix gradient, const gradients& into,
                                 matrix nodes) {
  const auto width = set_.nodes.columns;
  const auto of_layer = [&] {
    owned_matrix out{nodes.rows, inside(), set_.pool};
    std::fill(out.data(), out.data() + out.view().size(), 0.0f);
    return out;
  };
  auto of_sources = of_layer();
  auto of_destinations = of_layer();
  owned_matrix of_edges{as_edges_.view().rows, inside(), set_.pool};
  const auto all = std::ssize(pairs_);
  for (std::int64_t begin = 0; begin < all; begin += pairs_at_once) {
    const auto end = std::min(all, begin + pairs_at_once);
    owned_matrix products{end - begin, width, set_.pool};
    owned_matrix hidden{end - begin, inside(), set_.pool};
    set_.team->for_pieces(
      end - begin, chunk_rows,
      [&](std::int64_t, std::int64_t from, std::int64_t to) {
        hide(begin + from, begin + to, products.view().slice(from, to),
             hidden.view().slice(from, to));
      });
    pair_gradients(gradient, begin, end, products.view(), hidden.view(), into);
    // Threads take columns, so that each sum has the order of pairs.
    constexpr std::int64_t columns = 32;
    set_.team->for_pieces(
      std::max(width, inside()), columns,
      [&](std::int64_t, std::int64_t from, std::int64_t to) {
        for (auto p = begin; p < end; ++p) {
          const auto& one = pairs_[static_cast<std::size_t>(p)];
          const auto* z = hidden.view().row(p - begin);
          auto* u = of_sources.view().row(one.source);
          auto* v = of_destinations.view().row(one.destination);
          auto* b = into.hidden_bias.row(
            set_.rows->relations[static_cast<std::size_t>(one.row)]);
          for (auto c = from; c < std::min(to, inside()); ++c) {
            u[c] += z[c];
            v[c] += z[c];
            b[c] += z[c];
          }
          // Of rows with features, each is one pair.
          if (!of_edges.empty())
            std::copy(z + from, z + std::max(from, std::min(to, inside())),
                      of_edges.view().row(one.row) + from);
          const auto* y = products.view().row(p - begin);
          const auto* h = set_.nodes.row(one.source);
          const auto* t = set_.nodes.row(one.destination);
          auto* of_h = nodes.row(one.source);
          auto* of_t = nodes.row(one.destination);
          for (auto c = from; c < std::min(to, width); ++c) {
            of_h[c] += y[c] * t[c];
            of_t[c] += y[c] * h[c];
          }
        }
      });
  }
  if (!of_edges.empty())
    add_product_tn(*set_.team, set_.row_features, of_edges.view(),
                   into.edge_weight, set_.pool);
  for (const auto part : {0, 1}) {
    const const_matrix g =
      part == 0 ? of_sources.view() : of_destinations.view();
    add_product_tn(*set_.team, set_.nodes, g,
                   into.hidden_weight.slice(part * width, (part + 1) * width),
                   set_.pool);
    set_.team->for_pieces(
      nodes.rows, chunk_rows,
      [&](std::int64_t, std::int64_t from, std::int64_t to) {
        multiply_nt(g.slice(from, to), weight_of(part), 1,
                    nodes.slice(from, to));
      });
  }
}

} // namespace graphmill
