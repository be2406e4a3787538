#include "pipelines/model/layerwise/link_search.hpp"

#include "partition/files/mapped_file.hpp"
#include "pipelines/flow/seed_batch.hpp"
#include "pipelines/kernels/links/link_rows.hpp"
#include "pipelines/model/passes/edge_scorer.hpp"
#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <new>
#include <utility>

namespace graphmill {

namespace {

/// Queries that one thread takes at a time.
constexpr std::int64_t query_grain = 64;

/// Destinations whose in-edges are read at a time.
constexpr std::int64_t read_rows = 8192;

/// For what is kept of the queries of a call.
constexpr std::int64_t kept_bytes = std::int64_t{64} << 20;

bool better(const found_link& a, const found_link& b) {
  return a.score > b.score || (a.score == b.score && a.node < b.node);
}

double length_of(const float* row, std::int64_t width) {
  double squares = 0;
  for (std::int64_t c = 0; c < width; ++c)
    squares += double(row[c]) * row[c];
  return std::sqrt(squares);
}

/// How far two sums of the same `width` products may be apart that were rounded
/// in different orders, for rows of these lengths: twice the bound of each
/// (Higham, "Accuracy and stability of numerical algorithms", 3.1).
double rounding_of(std::int64_t width, double a, double b) {
  return 2.5 * static_cast<double>(width + 2)
         * (std::numeric_limits<float>::epsilon() / 2) * a * b;
}

const_matrix matrix_at(const model_layout& layout, const parameter_store& store,
                       int parameter) {
  return parameter == absent ? const_matrix{} : store.at(layout, parameter);
}

} // namespace

/// Candidates [first, first + rows).
struct link_search::block {
  std::int64_t first = 0;
  const_matrix rows;
  double longest = 0; ///< Length of a row, at most.
  /// Scores of pairs are products that a product of matrices has rounded.
  bool rounded = false;
};

link_search::link_search(setting how)
  : set_(std::move(how)),
    how_(comparison_of(set_.layout->decoder->kind, set_.layout->decoder->norm)),
    own_type_([this] {
      const auto& ends =
        set_.layout->decoder->ends[static_cast<std::size_t>(set_.relation)];
      return ends.source == ends.destination;
    }()) {}

std::int64_t link_search::most_queries() const {
  const auto of_one = set_.most * std::int64_t{sizeof(found_link)}
                      + width() * std::int64_t{sizeof(float)};
  return std::max(kept_bytes / of_one, query_grain);
}

/// The candidates to which nodes have a link, by node.
result<link_search::known_lists>
link_search::lists_of(std::span<const node_id> nodes) const {
  known_lists out(nodes.size());
  if (set_.keeps_known)
    return out;
  const std::array types{set_.edge_type};
  csr edges;
  if (set_.given == query_side::destination) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      GRAPHMILL_TRYV(set_.graph->neighbours(types, nodes[i], nodes[i] + 1,
                                            all_levels, false, edges));
      out[i].assign(edges.columns.begin(), edges.columns.end());
      std::sort(out[i].begin(), out[i].end());
    }
    return out;
  }
  // Edges are found by their destinations, so all of them are read.
  std::vector<std::pair<node_id, std::size_t>> places;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    places.emplace_back(nodes[i], i);
  std::sort(places.begin(), places.end());
  constexpr std::int32_t none = -1;
  std::vector<std::int32_t> first(static_cast<std::size_t>(set_.queries.rows),
                                  none);
  for (auto p = places.size(); p-- > 0;)
    first[static_cast<std::size_t>(places[p].first)] =
      static_cast<std::int32_t>(p);
  const auto all = set_.candidates.rows;
  for (std::int64_t begin = 0; begin < all; begin += read_rows) {
    const auto end = std::min(all, begin + read_rows);
    GRAPHMILL_TRYV(
      set_.graph->neighbours(types, begin, end, all_levels, false, edges));
    for (auto node = begin; node < end; ++node)
      for (auto e = edges.indptr[static_cast<std::size_t>(node - begin)];
           e < edges.indptr[static_cast<std::size_t>(node - begin) + 1]; ++e) {
        const auto source = edges.columns[static_cast<std::size_t>(e)];
        const auto at = first[static_cast<std::size_t>(source)];
        if (at == none)
          continue;
        for (auto p = static_cast<std::size_t>(at);
             p < places.size() && places[p].first == source; ++p)
          out[places[p].second].push_back(static_cast<local_id>(node));
      }
  }
  return out;
}

/// What the decoder makes of nodes and the edge type.
owned_matrix link_search::queries_of(std::span<const node_id> nodes) const {
  const auto& layout = *set_.layout;
  const auto& decoder = *layout.decoder;
  owned_matrix ends{std::ssize(nodes), width(), set_.pool};
  for (std::size_t i = 0; i < nodes.size(); ++i)
    std::copy_n(set_.queries.row(nodes[i]), width(),
                ends.view().row(static_cast<std::int64_t>(i)));
  if (decoder.kind == decoder_kind::mlp)
    return ends;
  owned_matrix out{std::ssize(nodes), width(), set_.pool};
  if (decoder.kind == decoder_kind::bilinear) {
    const auto first = set_.relation * width();
    const auto by = set_.parameters->at(layout, decoder.matrices)
                      .slice(first, first + width());
    if (set_.given == query_side::source)
      multiply(*set_.team, ends.view(), by, out.view());
    else
      multiply_nt(*set_.team, ends.view(), by, out.view());
    return out;
  }
  if (decoder.kind == decoder_kind::cosine) {
    std::vector<float> inverse(nodes.size());
    normalise_rows(ends.view(), 0, std::ssize(nodes), out.view(),
                   inverse.data());
    return out;
  }
  auto relations = matrix_at(layout, *set_.parameters, decoder.relation);
  owned_matrix turned;
  if (decoder.kind == decoder_kind::rotate) {
    turned = {relations.rows, width(), set_.pool};
    turn_angles(relations, turned.view());
    relations = turned.view();
  }
  std::vector<local_id> rows(nodes.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<local_id>(i);
  const std::vector<std::int32_t> relation_of(nodes.size(), set_.relation);
  make_queries({.kind = decoder.kind,
                .side = set_.given,
                .nodes = ends.view(),
                .ends = rows,
                .relations = relations,
                .relation_of = relation_of},
               0, std::ssize(nodes), out.view());
  return out;
}

result<std::vector<std::vector<found_link>>>
link_search::find(std::span<const node_id> nodes) {
  try {
    GRAPHMILL_TRYV(search(nodes));
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory,
                "no memory left for the best links of {} nodes; ask for fewer "
                "of each",
                nodes.size());
  } catch (const std::exception& e) {
    return fail(ec::internal, "cannot search for links: {}", e.what());
  }
  for (auto& one : best_)
    std::sort(one.begin(), one.end(), better);
  return std::move(best_);
}

result<void> link_search::search(std::span<const node_id> nodes) {
  GRAPHMILL_TRY(known_, lists_of(nodes));
  queries_ = queries_of(nodes);
  lengths_.clear();
  for (std::int64_t i = 0; i < std::ssize(nodes); ++i)
    lengths_.push_back(length_of(queries_.view().row(i), width()));
  best_.assign(nodes.size(), {});
  const auto kind = set_.layout->decoder->kind;
  const auto all = set_.candidates.rows;
  owned_matrix normalised;
  std::vector<float> inverse(static_cast<std::size_t>(chunk_rows));
  for (std::int64_t first = 0; first < all; first += chunk_rows) {
    if (set_.stopped && set_.stopped())
      return fail(ec::cancelled, "stopped by the user");
    const auto end = std::min(all, first + chunk_rows);
    block with{first, set_.candidates.slice(first, end)};
    if (kind == decoder_kind::cosine) {
      normalised = {end - first, width(), set_.pool};
      normalise_rows(with.rows, 0, end - first, normalised.view(),
                     inverse.data());
      with.rows = normalised.view();
    }
    if (kind == decoder_kind::mlp) {
      meet_perceptron(with, nodes);
    } else {
      with.rounded = how_ == comparison::product;
      for (std::int64_t i = 0; with.rounded && i < with.rows.rows; ++i)
        with.longest =
          std::max(with.longest, length_of(with.rows.row(i), width()));
      meet(with, nodes);
    }
    if (set_.on_block)
      set_.on_block(end);
  }
  if (auto fault = mapped_file::first_fault())
    return *fault;
  return ok();
}

/// Scores all pairs of queries and candidates of a block.
void link_search::meet(const block& with, std::span<const node_id> nodes) {
  const const_matrix all = queries_.view();
  set_.team->for_pieces(
    std::ssize(nodes), query_grain,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      owned_matrix scores{end - begin, with.rows.rows, set_.pool};
      const auto y = scores.view();
      if (with.rounded)
        multiply_nt(all.slice(begin, end), with.rows, 0, y);
      else
        compare_all(how_, all.slice(begin, end), with.rows, 0, end - begin, y);
      for (auto i = begin; i < end; ++i) {
        if (own_type_ && !set_.keeps_known) {
          const auto self = nodes[static_cast<std::size_t>(i)] - with.first;
          if (self >= 0 && self < y.columns)
            y.row(i - begin)[self] = no_score;
        }
        take(with, static_cast<std::size_t>(i), y.row(i - begin));
      }
    });
}

/// The same by a perceptron, whose scorer uses the team itself.
void link_search::meet_perceptron(const block& with,
                                  std::span<const node_id> nodes) {
  const auto& layout = *set_.layout;
  const auto& decoder = *layout.decoder;
  const auto candidates = with.rows.rows;
  const const_matrix all = queries_.view();
  for (std::int64_t begin = 0; begin < std::ssize(nodes);
       begin += query_grain) {
    const auto count = std::min(query_grain, std::ssize(nodes) - begin);
    // One below the other: queries, candidates.
    owned_matrix stack{count + candidates, width(), set_.pool};
    std::copy_n(all.row(begin), count * width(), stack.data());
    std::copy_n(with.rows.data, with.rows.size(), stack.view().row(count));
    const auto from_source = set_.given == query_side::source;
    link_rows rows;
    auto& joint = rows.joint.emplace_back();
    joint.slot = rows.slots.own();
    joint.sources = !from_source;
    (from_source ? rows.slots.joint_destinations : rows.slots.joint_sources) =
      candidates;
    for (std::int64_t i = 0; i < count; ++i) {
      rows.sources.push_back(static_cast<local_id>(i));
      rows.destinations.push_back(static_cast<local_id>(i));
      rows.candidates.push_back(seed_batch::none);
      rows.relations.push_back(set_.relation);
      joint.rows.push_back(static_cast<std::int32_t>(i));
    }
    for (std::int64_t i = 0; i < candidates; ++i)
      joint.nodes.push_back(static_cast<local_id>(count + i));
    const auto at = [&](int parameter) {
      return matrix_at(layout, *set_.parameters, parameter);
    };
    const auto scorer =
      make_edge_scorer({.decoder = &decoder,
                        .rows = &rows,
                        .classes = layout.classes,
                        .nodes = stack.view(),
                        .values = {.relation = at(decoder.relation),
                                   .matrices = at(decoder.matrices),
                                   .hidden_weight = at(decoder.hidden_weight),
                                   .hidden_bias = at(decoder.hidden_bias),
                                   .output_weight = at(decoder.output_weight)},
                        .team = set_.team,
                        .pool = set_.pool});
    owned_matrix scores{count, joint.slot + candidates, set_.pool};
    scorer->forward(scores.view());
    for (std::int64_t i = 0; i < count; ++i) {
      auto* row = scores.view().row(i) + joint.slot;
      const auto query = static_cast<std::size_t>(begin + i);
      const auto self = nodes[query] - with.first;
      if (own_type_ && !set_.keeps_known && self >= 0 && self < candidates)
        row[self] = no_score;
      take(with, query, row);
    }
  }
}

/// Keeps what is among the best of a query so far.
/// @param scores [candidates of the block]; those that are known are lost.
void link_search::take(const block& with, std::size_t query, float* scores) {
  const auto count = with.rows.rows;
  const auto& known = known_[query];
  for (auto at = std::lower_bound(known.begin(), known.end(), with.first);
       at != known.end() && *at < with.first + count; ++at)
    scores[*at - with.first] = no_score;
  for (std::int64_t c = 0; c < count; ++c)
    if (std::isnan(scores[c])) // Of a model that has diverged: no order.
      scores[c] = no_score;
  const auto rounding =
    with.rounded ? rounding_of(width(), lengths_[query], with.longest) : 0.0;
  const auto& best = best_[query];
  double limit = -std::numeric_limits<double>::infinity();
  if (std::ssize(best) == set_.most) {
    limit = best.front().score - rounding;
  } else if (count > set_.most) {
    // At least so many of this block are at least that good.
    std::vector<float> sorted(scores, scores + count);
    const auto last = sorted.begin() + set_.most - 1;
    std::nth_element(sorted.begin(), last, sorted.end(), std::greater{});
    limit = *last - 2 * rounding;
  }
  for (std::int64_t c = 0; c < count; ++c) {
    if (scores[c] == no_score || !(scores[c] >= limit))
      continue;
    auto score = scores[c];
    if (with.rounded) {
      const auto candidate = static_cast<local_id>(c);
      const auto own = static_cast<std::int64_t>(query);
      const const_matrix all = queries_.view();
      score_lists({.how = how_,
                   .a = all.slice(own, own + 1),
                   .b = with.rows,
                   .lists = &candidate,
                   .stride = 1,
                   .first = 0,
                   .last = 1},
                  0, 1, {&score, 1, 1});
    }
    keep(query, {with.first + c, score});
  }
}

void link_search::keep(std::size_t query, found_link one) {
  auto& best = best_[query];
  if (std::ssize(best) < set_.most) {
    best.push_back(one);
    std::push_heap(best.begin(), best.end(), better);
  } else if (better(one, best.front())) {
    std::pop_heap(best.begin(), best.end(), better);
    best.back() = one;
    std::push_heap(best.begin(), best.end(), better);
  }
}

} // namespace graphmill
