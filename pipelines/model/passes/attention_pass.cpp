#include "pipelines/model/passes/attention_pass.hpp"

#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace graphmill {

namespace {

constexpr std::int64_t grain = 256;

} // namespace

void join_heads(const_matrix joined, float share, float beta, matrix y) {
  for (std::int64_t i = 0; i < y.rows; ++i) {
    const auto* row = joined.row(i);
    for (std::int64_t c = 0; c < y.columns; ++c) {
      float sum = 0;
      for (auto k = c; k < joined.columns; k += y.columns)
        sum += row[k];
      y.row(i)[c] = sum * share + (beta == 0 ? 0.0f : y.row(i)[c]);
    }
  }
}

pod_vector<std::int64_t>
transposed_positions(const csr& forward, std::int64_t rows, const csr& back,
                     const std::shared_ptr<buffer_pool>& pool) {
  std::vector<std::int64_t> next(back.indptr.begin(), back.indptr.end());
  pod_vector<std::int64_t> out{pool};
  out.resize(back.columns.size());
  const auto edges = forward.indptr[rows];
  for (std::int64_t e = 0; e < edges; ++e)
    out[next[forward.columns[e]]++] = e;
  return out;
}

pod_vector<float> logs_of_weights(const csr& edges,
                                  const std::shared_ptr<buffer_pool>& pool) {
  pod_vector<float> out{pool};
  out.resize(edges.weights.size());
  for (std::size_t e = 0; e < out.size(); ++e)
    out[e] = static_cast<float>(std::log(double(edges.weights[e])));
  return out;
}

attention_pass::attention_pass(const setting& options)
  : set_(options), heads_(options.source.rows),
    z_(options.input.rows.rows, options.weight.columns, options.pool),
    weights_(options.forward->indptr[options.rows], heads_, options.pool),
    self_weights_(with_self() ? options.rows : 0, heads_, options.pool) {
  set_.input.multiply(*set_.team, set_.weight, z_.view());
  if (set_.edge_features.data != nullptr)
    make_edges();
  if (set_.drop.threshold != 0) {
    dropped_weights_ = {weights_.view().rows, heads_, set_.pool};
    dropped_self_ = {with_self() ? set_.rows : 0, heads_, set_.pool};
  }
  if (joint()) {
    y_ = {set_.rows, set_.weight.columns, set_.pool};
    set_.input.multiply(*set_.team, set_.destination_weight, y_.view());
  } else {
    make_scores();
  }
  if (set_.drop_messages.threshold != 0)
    make_messages();
}

void attention_pass::make_scores() {
  source_scores_ = {set_.input.rows.rows, heads_, set_.pool};
  destination_scores_ = {set_.rows, heads_, set_.pool};
  const auto z = z_.view();
  set_.team->for_pieces(
    z.rows, grain, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      head_products(z, set_.source.data, heads_, begin, end,
                    source_scores_.data());
      if (with_self())
        head_products(z, set_.destination.data, heads_, begin,
                      std::clamp(set_.rows, begin, end),
                      destination_scores_.data());
    });
  if (!with_self())
    set_.own.multiply(*set_.team, set_.destination, destination_scores_.view());
}

void attention_pass::make_edges() {
  const auto count = weights_.view().rows;
  set_.edge_features = set_.edge_features.slice(0, count);
  if (joint())
    joint_edges_.emplace(set_.edge_features, set_.edge_weight, set_.pool);
  else
    attended_edges_.emplace(
      attended_edges::setting{set_.edge_features, set_.edge_weight,
                              set_.edge_scores, set_.team, set_.pool},
      set_.rows);
}

void attention_pass::make_messages() {
  const auto z = z_.view();
  messages_ = {z.rows, z.columns, set_.pool};
  set_.team->for_pieces(
    z.rows, grain, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      activate(z, nullptr, activation::none, set_.drop_messages, begin, end,
               messages_.view());
    });
}

attention attention_pass::task() {
  attention out{.indptr = set_.forward->indptr.data(),
                .columns = set_.forward->columns.data(),
                .rows = set_.rows,
                .z = z_.view(),
                .heads = heads_,
                .source_scores = source_scores_.data(),
                .destination_scores = destination_scores_.data(),
                .weights = weights_.data(),
                .self_weights = with_self() ? self_weights_.data() : nullptr,
                .drop = set_.drop,
                .drop_self = set_.drop_self,
                .dropped_weights =
                  set_.drop.threshold != 0 ? dropped_weights_.data() : nullptr,
                .dropped_self = with_self() && set_.drop.threshold != 0
                                  ? dropped_self_.data()
                                  : nullptr,
                .messages = messages_.view(),
                .message_scale = set_.drop_messages.scale(),
                .log_weights = set_.log_weights};
  if (attended_edges_)
    attended_edges_->lend(out);
  return out;
}

joint_attention attention_pass::joint_task() {
  return {task(), y_.view(), set_.source.data};
}

void attention_pass::add_output(std::int64_t begin, std::int64_t end,
                                float beta, matrix y) {
  const auto columns = z_.view().columns;
  const auto share = set_.average ? 1.0f / static_cast<float>(heads_) : 1.0f;
  owned_matrix joined{end - begin, columns, set_.pool};
  attend_rows(begin, end, joined.view());
  if (attended_edges_)
    attended_edges_->add_output(begin, end, joined.view());
  join_heads(joined.view(), share, beta, y);
}

/// @param out [end - begin, columns of z]
void attention_pass::attend_rows(std::int64_t begin, std::int64_t end,
                                 matrix out) {
  if (!joint())
    return attend(task(), begin, end, out);
  if (!joint_edges_)
    return attend_jointly(joint_task(), begin, end, out);
  joint_edges_->for_rows(
    set_.forward->indptr.data(), begin, end,
    [&](std::int64_t first, std::int64_t last, matrix edges) {
      auto work = joint_task();
      work.base.edges = edges;
      attend_jointly(work, first, last, out.slice(first - begin, last - begin));
    });
}

/// The gradient of each head's output when the layer averages them.
owned_matrix attention_pass::spread_to_heads(const_matrix gradient) const {
  const auto share = 1.0f / static_cast<float>(heads_);
  owned_matrix out{gradient.rows, gradient.columns * heads_, set_.pool};
  for (std::int64_t i = 0; i < gradient.rows; ++i)
    for (std::int64_t c = 0; c < out.view().columns; ++c)
      out.view().row(i)[c] = gradient.row(i)[c % gradient.columns] * share;
  return out;
}

pod_vector<std::int64_t> attention_pass::positions() const {
  return transposed_positions(*set_.forward, set_.rows, *set_.transposed,
                              set_.pool);
}

transposed_edges
attention_pass::transposed(const pod_vector<std::int64_t>& positions) const {
  return {set_.transposed->indptr.data(), set_.transposed->columns.data(),
          positions.data()};
}

void attention_pass::backward(const_matrix gradient, bool /*input_gradient*/,
                              const targets& into) {
  owned_matrix spread;
  if (set_.average)
    spread = spread_to_heads(gradient);
  const const_matrix g = set_.average ? spread.view() : gradient;
  owned_matrix edges{weights_.view().rows, heads_, set_.pool};
  owned_matrix self{with_self() ? set_.rows : 0, heads_, set_.pool};
  auto& destinations = destination_gradients_;
  destinations = {set_.rows, heads_, set_.pool};
  const score_gradients scores{edges.data(), self.data(), destinations.data()};
  upstream_ = {z_.view().rows, z_.view().columns, set_.pool};
  if (attended_edges_)
    attended_edges_->make_gradient(g);
  if (joint())
    joint_backward(g, scores, into);
  else
    scores_backward(g, scores, into);
  if (attended_edges_)
    attended_edges_->add_gradients(task(), g, edges.view(), into.edge_weight,
                                   into.edge_scores, into.edge_columns);
  set_.input.add_product_tn(*set_.team, upstream_.view(), into.weight,
                            set_.pool);
}

void attention_pass::scores_backward(const_matrix gradient,
                                     const score_gradients& scores,
                                     const targets& into) {
  const auto work = task();
  const auto z = z_.view();
  owned_matrix sources{z.rows, heads_, set_.pool};
  set_.team->for_pieces(
    set_.rows, grain, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      attend_backward(work, gradient, begin, end, scores);
    });
  const auto places = positions();
  const auto back = transposed(places);
  set_.team->for_pieces(
    z.rows, grain, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      attend_sources_backward(work, back, scores, gradient, set_.source.data,
                              set_.destination.data, begin, end, sources.data(),
                              upstream_.view());
    });
  add_vector_gradient(sources.data(), z.rows, into.attention_source);
  if (with_self())
    add_vector_gradient(scores.destinations, set_.rows,
                        into.attention_destination);
  else
    set_.own.add_product_tn(*set_.team, destination_gradients_.view(),
                            into.destination_scores, set_.pool);
}

void attention_pass::add_destination_gradient(std::int64_t begin,
                                              std::int64_t end, matrix x) {
  const auto last = std::clamp(set_.rows, begin, end);
  if (!with_self() && last > begin)
    multiply_nt(destination_gradients_.view().slice(begin, last),
                set_.destination, 1, x.slice(0, last - begin));
}

/// @param of_edges Where the gradient of what features of edges are multiplied
/// by is added up; no data: they have none.
void attention_pass::joint_rows_backward(joint_attention work,
                                         const_matrix gradient,
                                         std::int64_t begin, std::int64_t end,
                                         joint_gradients out, matrix of_edges,
                                         const targets& into) const {
  if (!joint_edges_)
    return attend_jointly_backward(work, gradient, begin, end, out);
  const auto* indptr = set_.forward->indptr.data();
  const auto learnt = into.edge_columns;
  joint_edges_->for_rows(
    indptr, begin, end,
    [&](std::int64_t first, std::int64_t last, matrix edges) {
      work.base.edges = edges;
      out.edges = edges;
      attend_jointly_backward(work, gradient, first, last, out);
      const auto from = indptr[first], to = indptr[last];
      joint_edges_->add_gradient(edges, from, to, of_edges);
      if (learnt.columns != 0)
        joint_edges_->add_feature_gradient(edges, from, to, learnt);
    });
}

void attention_pass::joint_backward(const_matrix gradient,
                                    const score_gradients& scores,
                                    const targets& into) {
  const auto work = joint_task();
  const auto z = z_.view();
  y_gradient_ = {set_.rows, z.columns, set_.pool};
  owned_matrix sums{(set_.rows + grain - 1) / grain, z.columns, set_.pool};
  pod_vector<std::uint8_t> signs{set_.pool};
  signs.resize(static_cast<std::size_t>(weights_.view().rows
                                        * joint_sign_bytes(z.columns, heads_)));
  joint_gradients all{
    .scores = scores, .y = y_gradient_.view(), .signs = signs.data()};
  // Few gradients of E are kept, for each is as large as E.
  constexpr std::int64_t most_pieces = 16;
  const auto grains =
    joint_edges_ ? (sums.view().rows + most_pieces - 1) / most_pieces : 1;
  std::vector<owned_matrix> of_edges(joint_edges_ ? most_pieces : 0);
  set_.team->for_pieces(
    set_.rows, std::max<std::int64_t>(grains, 1) * grain,
    [&](std::int64_t piece, std::int64_t first, std::int64_t last) {
      matrix of_piece;
      if (joint_edges_) {
        auto& one = of_edges[static_cast<std::size_t>(piece)];
        one = joint_edges_->no_gradient();
        of_piece = one.view();
      }
      for (auto begin = first; begin < last; begin += grain) {
        auto own = all;
        own.vector = sums.view().row(begin / grain);
        std::fill(own.vector, own.vector + z.columns, 0.0f);
        joint_rows_backward(work, gradient, begin,
                            std::min(last, begin + grain), own, of_piece, into);
      }
    });
  for (auto& one : of_edges)
    for (std::int64_t f = 0; f < one.view().rows; ++f)
      for (std::int64_t c = 0; c < z.columns; ++c)
        into.edge_weight.row(f)[c] += one.view().row(f)[c];
  const auto places = positions();
  const auto back = transposed(places);
  set_.team->for_pieces(
    z.rows, grain, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      attend_jointly_sources_backward(work, back, all, gradient, begin, end,
                                      upstream_.view());
    });
  set_.input.add_product_tn(*set_.team, y_gradient_.view(),
                            into.attention_weight, set_.pool);
  add_pieces_of_vector(sums, into.attention_source);
}

/// into += the sums of all pieces, in their order.
void attention_pass::add_pieces_of_vector(const owned_matrix& sums,
                                          float* into) const {
  for (std::int64_t p = 0; p < sums.view().rows; ++p)
    for (std::int64_t c = 0; c < sums.view().columns; ++c)
      into[c] += sums.view().row(p)[c];
}

void attention_pass::add_vector_gradient(const float* scale, std::int64_t rows,
                                         float* into) {
  const auto z = z_.view();
  const auto pieces = (rows + grain - 1) / grain;
  owned_matrix sums{pieces, z.columns, set_.pool};
  set_.team->for_pieces(
    rows, grain, [&](std::int64_t piece, std::int64_t begin, std::int64_t end) {
      auto* sum = sums.view().row(piece);
      std::fill(sum, sum + z.columns, 0.0f);
      add_head_sums(z, scale, heads_, begin, end, sum);
    });
  add_pieces_of_vector(sums, into);
}

void attention_pass::add_input_gradient(std::int64_t begin, std::int64_t end,
                                        std::int64_t filled, matrix x) {
  for (auto i = std::max(begin, filled); i < end; ++i)
    std::fill(x.row(i - begin), x.row(i - begin) + x.columns, 0.0f);
  multiply_nt(upstream_.view().slice(begin, end), set_.weight, 1, x);
  const auto own = std::clamp(set_.rows, begin, end);
  if (joint() && own > begin)
    multiply_nt(y_gradient_.view().slice(begin, own), set_.destination_weight,
                1, x.slice(0, own - begin));
}

} // namespace graphmill
