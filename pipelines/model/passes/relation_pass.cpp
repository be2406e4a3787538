#include "pipelines/model/passes/relation_pass.hpp"

#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace graphmill {

namespace {

/// Reading one float of a random row costs about as much as this many
/// multiplications and additions within a matrix product.
constexpr double gather_cost = 16;

void zero_rows(std::int64_t begin, std::int64_t end, matrix x) {
  if (begin < end)
    std::memset(x.row(begin), 0,
                static_cast<std::size_t>((end - begin) * x.columns)
                  * sizeof(float));
}

/// What the edges of a row weigh together: their number, without weights.
double weight_of_row(const csr& edges, std::int64_t row) {
  const auto begin = edges.indptr[row];
  const auto end = edges.indptr[row + 1];
  if (edges.weights.empty())
    return static_cast<double>(end - begin);
  return std::accumulate(edges.weights.data() + begin,
                         edges.weights.data() + end, 0.0);
}

} // namespace

relation_scales mean_scales(const csr& edges, std::int64_t rows) {
  relation_scales out;
  out.row.resize(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto sum = static_cast<float>(weight_of_row(edges, i));
    // One by less would be infinite.
    out.row[i] = sum < std::numeric_limits<float>::min() ? 0.0f : 1.0f / sum;
  }
  return out;
}

relation_scales symmetric_scales(const csr& edges, std::int64_t rows,
                                 const pod_vector<std::int32_t>& degrees,
                                 const pod_vector<float>& in_weights) {
  const auto sum_of = [&](std::size_t i) {
    return in_weights.empty() ? double(degrees[i]) : double(in_weights[i]);
  };
  relation_scales out;
  out.row.resize(static_cast<std::size_t>(rows));
  out.self.resize(static_cast<std::size_t>(rows));
  out.column.resize(degrees.size());
  for (std::size_t j = 0; j < degrees.size(); ++j)
    out.column[j] = static_cast<float>(1 / std::sqrt(sum_of(j) + 1));
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto count = edges.indptr[i + 1] - edges.indptr[i];
    const double degree = degrees[i];
    const auto sum = sum_of(static_cast<std::size_t>(i));
    out.row[i] =
      count == 0
        ? 0.0f
        : static_cast<float>(degree / double(count) / std::sqrt(sum + 1));
    out.self[i] = static_cast<float>(1 / (sum + 1));
  }
  return out;
}

std::vector<relation_scales> degree_scales(const model_layout& layout,
                                           const minibatch& batch) {
  const auto& data = batch.data;
  const auto types = layout.table_of.size();
  std::vector<std::vector<std::int64_t>> sampled(types);
  for (std::size_t t = 0; t < types; ++t)
    sampled[t].resize(
      static_cast<std::size_t>(data.graph.nodes[t].found[layout.hops - 1]));
  for (std::size_t r = 0; r < layout.relations.size(); ++r) {
    auto& counts =
      sampled[static_cast<std::size_t>(layout.relations[r].destination)];
    const auto& indptr = batch.relations[r].forward.indptr;
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i] += indptr[i + 1] - indptr[i];
  }
  // Of each node of a type: one over the root of what its in-edges weigh.
  std::vector<std::vector<double>> inverse(types);
  for (std::size_t t = 0; t < types; ++t)
    for (std::size_t i = 0; i < data.degrees[t].size(); ++i) {
      const auto sum = data.in_weights.empty() || data.in_weights[t].empty()
                         ? double(data.degrees[t][i])
                         : double(data.in_weights[t][i]);
      inverse[t].push_back(sum > 0 ? 1 / std::sqrt(sum) : 0.0);
    }
  std::vector<relation_scales> out(layout.relations.size());
  for (std::size_t r = 0; r < out.size(); ++r) {
    const auto from = static_cast<std::size_t>(layout.relations[r].source);
    const auto to = static_cast<std::size_t>(layout.relations[r].destination);
    for (const auto one : inverse[from])
      out[r].column.push_back(static_cast<float>(one));
    for (std::size_t i = 0; i < sampled[to].size(); ++i) {
      const auto scaled = sampled[to][i] == 0
                            ? 0.0
                            : double(data.degrees[to][i])
                                / double(sampled[to][i]) * inverse[to][i];
      out[r].row.push_back(static_cast<float>(scaled));
    }
  }
  return out;
}

relation_scales unit_scales(std::int64_t rows) {
  relation_scales out;
  out.row.resize(static_cast<std::size_t>(rows));
  std::fill(out.row.begin(), out.row.end(), 1.0f);
  return out;
}

std::vector<relation_scales> scales_of(const model_layout& layout,
                                       const minibatch& batch) {
  static const pod_vector<std::int32_t> no_degrees;
  static const pod_vector<float> no_weights;
  if (layout.traits.normalisation == term_normalisation::degrees)
    return degree_scales(layout, batch);
  const auto& data = batch.data;
  const auto by_degrees = layout.traits.needs_degrees();
  std::vector<relation_scales> out;
  for (std::size_t r = 0; r < layout.relations.size(); ++r) {
    const auto type = layout.relations[r].destination;
    out.push_back(scales_of(layout, r, batch.relations[r].forward,
                            data.graph.nodes[type].found[layout.hops - 1],
                            by_degrees ? data.degrees[type] : no_degrees,
                            by_degrees && !data.in_weights.empty()
                              ? data.in_weights[type]
                              : no_weights));
  }
  if (layout.combine != relation_use::mean)
    return out;
  for (std::size_t type = 0; type < layout.table_of.size(); ++type) {
    std::vector<relation_scales*> into;
    for (std::size_t r = 0; r < out.size(); ++r)
      if (layout.relations[r].destination == static_cast<node_type_id>(type))
        into.push_back(&out[r]);
    average_present(into);
  }
  return out;
}

void average_present(std::span<relation_scales* const> relations) {
  if (relations.empty())
    return;
  std::vector<int> present(relations.front()->row.size());
  for (const auto* of : relations)
    for (std::size_t i = 0; i < present.size(); ++i)
      present[i] += of->row[i] != 0 ? 1 : 0;
  for (auto* of : relations)
    for (std::size_t i = 0; i < present.size(); ++i)
      if (present[i] > 1)
        of->row[i] /= static_cast<float>(present[i]);
}

relation_scales scales_of(const model_layout& layout, std::size_t relation,
                          const csr& edges, std::int64_t rows,
                          const pod_vector<std::int32_t>& degrees,
                          const pod_vector<float>& in_weights) {
  switch (layout.traits.normalisation) {
  case term_normalisation::mean:
  case term_normalisation::degrees: // Of tasks of edges, in batches alone.
    break;
  case term_normalisation::symmetric:
    return symmetric_scales(edges, rows, degrees, in_weights);
  case term_normalisation::unit:
    return unit_scales(rows);
  }
  auto out = mean_scales(edges, rows);
  if (layout.combine == relation_use::mean_of_all)
    for (auto& scale : out.row)
      scale *= layout.relations[relation].share;
  return out;
}

relation_pass::relation_pass(const setting& options) : set_(options) {
  if (set_.epsilon != nullptr) {
    learnt_self_.resize(static_cast<std::size_t>(set_.rows));
    std::fill(learnt_self_.begin(), learnt_self_.end(), 1 + *set_.epsilon);
  }
  choose();
  const auto in = set_.input.rows.columns;
  if (way_ == way::transform_first) {
    transformed_ = {set_.input.rows.rows, set_.weight.columns, set_.pool};
    set_.input.multiply(*set_.team, set_.weight, transformed_.view());
  } else if (way_ == way::sum_all) {
    sums_ = {set_.rows, in, set_.pool};
  } else {
    sums_ = {static_cast<std::int64_t>(kept_.size()), in, set_.pool};
  }
}

const pod_vector<float>& relation_pass::self_scales() const {
  return set_.epsilon != nullptr ? learnt_self_ : set_.scales->self;
}

void relation_pass::choose() {
  if (set_.input.sparse != nullptr) {
    way_ = way::transform_first;
    return;
  }
  const auto& indptr = set_.forward->indptr;
  std::int64_t with_edges = 0;
  for (std::int64_t i = 0; i < set_.rows; ++i)
    with_edges += indptr[i] != indptr[i + 1];
  const auto every_row = !self_scales().empty() || 2 * with_edges >= set_.rows;
  const auto in = static_cast<double>(set_.input.rows.columns);
  const auto out = static_cast<double>(set_.weight.columns);
  const auto edges =
    static_cast<double>(set_.rows == 0 ? 0 : indptr[set_.rows]);
  const auto summed = static_cast<double>(every_row ? set_.rows : with_edges);
  const auto sources = static_cast<double>(set_.input.rows.rows);
  const auto sum_cost = edges * in * gather_cost + summed * in * out;
  const auto transform_cost = sources * in * out + edges * out * gather_cost;
  if (set_.transposed != nullptr && transform_cost < sum_cost)
    way_ = way::transform_first;
  else if (!every_row)
    keep_rows_with_edges(with_edges);
}

void relation_pass::keep_rows_with_edges(std::int64_t count) {
  way_ = way::sum_some;
  const auto& indptr = set_.forward->indptr;
  kept_.reserve(static_cast<std::size_t>(count));
  indptr_.reserve(static_cast<std::size_t>(count) + 1);
  indptr_.push_back(0);
  for (std::int64_t i = 0; i < set_.rows; ++i) {
    if (indptr[i] == indptr[i + 1])
      continue;
    kept_.push_back(static_cast<local_id>(i));
    indptr_.push_back(indptr[i + 1]);
    scales_.push_back(set_.scales->row[i]);
  }
}

void relation_pass::sum(const_matrix x, std::int64_t begin, std::int64_t end,
                        bool add, matrix out) const {
  const auto some = way_ == way::sum_some;
  const auto& scales = *set_.scales;
  const gather_sum task{
    .indptr = some ? indptr_.data() : set_.forward->indptr.data(),
    .columns = set_.forward->columns.data(),
    .x = x,
    .row_scale = some ? scales_.data() : scales.row.data(),
    .column_scale = scales.column.empty() ? nullptr : scales.column.data(),
    .values = set_.forward->weights_or_null()};
  const auto with_self = !self_scales().empty();
  if (with_self)
    scale_rows(x, self_scales().data(), begin, end, out);
  run(task, begin, end, with_self || add ? end : begin, out);
}

void relation_pass::add_output(std::int64_t begin, std::int64_t end, float beta,
                               matrix y) {
  if (way_ == way::sum_some)
    return scatter_rows(begin, end, beta, y);
  if (way_ == way::sum_all) {
    sum(set_.input.rows, begin, end, false, sums_.view());
    multiply(sums_.view().slice(begin, end), set_.weight, beta, y);
    return;
  }
  // `sum` numbers rows from the first one of the layer, so it gets a matrix
  // that would begin there; only rows of this chunk are touched.
  const matrix whole{y.data - begin * y.columns, set_.rows, y.columns};
  sum(transformed_.view(), begin, end, beta != 0, whole);
}

void relation_pass::scatter_rows(std::int64_t begin, std::int64_t end,
                                 float beta, matrix y) {
  if (beta == 0)
    zero_rows(0, y.rows, y);
  const auto from = std::lower_bound(kept_.begin(), kept_.end(), begin);
  const auto to = std::lower_bound(from, kept_.end(), end);
  const auto first = from - kept_.begin();
  const auto last = to - kept_.begin();
  if (first == last)
    return;
  sum(set_.input.rows, first, last, false, sums_.view());
  owned_matrix products{last - first, y.columns, set_.pool};
  multiply(sums_.view().slice(first, last), set_.weight, 0, products.view());
  for (auto k = first; k < last; ++k) {
    auto* target = y.row(kept_[k] - begin);
    const auto* source = products.view().row(k - first);
    for (std::int64_t c = 0; c < y.columns; ++c)
      target[c] += source[c];
  }
}

void relation_pass::transposed_sum(const_matrix x, std::int64_t begin,
                                   std::int64_t end, std::int64_t filled,
                                   matrix out) const {
  const auto some = way_ == way::sum_some;
  const auto& scales = *set_.scales;
  const gather_sum task{
    .indptr = set_.transposed->indptr.data(),
    .columns = some ? back_columns_.data() : set_.transposed->columns.data(),
    .x = x,
    .row_scale = scales.column.empty() ? nullptr : scales.column.data(),
    .column_scale = some ? scales_.data() : scales.row.data(),
    .values = set_.transposed->weights_or_null()};
  run(task, begin, end, filled, out);
  const auto& self = self_scales();
  const auto self_rows = self.empty() ? 0 : set_.rows;
  for (auto i = begin; i < std::min(end, self_rows); ++i)
    for (std::int64_t c = 0; c < x.columns; ++c)
      out.row(i)[c] += self[i] * x.row(i)[c];
}

void relation_pass::backward(const_matrix gradient, bool input_gradient,
                             const targets& into) {
  if (way_ == way::sum_some)
    return compact_backward(gradient, input_gradient, into.weight);
  if (way_ == way::sum_all) {
    add_product_tn(*set_.team, sums_.view(), gradient, into.weight, set_.pool);
    if (input_gradient || into.epsilon != nullptr) {
      upstream_ = {set_.rows, set_.input.rows.columns, set_.pool};
      multiply_nt(*set_.team, gradient, set_.weight, upstream_.view());
    }
    if (into.epsilon != nullptr)
      *into.epsilon += static_cast<float>(
        inner_product(set_.input.rows, upstream_.view(), set_.rows));
    return;
  }
  upstream_ = {set_.input.rows.rows, set_.weight.columns, set_.pool};
  set_.team->for_pieces(
    set_.input.rows.rows, chunk_rows,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      transposed_sum(gradient, begin, end, 0, upstream_.view());
    });
  set_.input.add_product_tn(*set_.team, upstream_.view(), into.weight,
                            set_.pool);
  if (into.epsilon != nullptr)
    *into.epsilon += static_cast<float>(
      inner_product(transformed_.view(), gradient, set_.rows));
}

void relation_pass::compact_backward(const_matrix gradient, bool input_gradient,
                                     matrix weight_gradient) {
  const auto count = static_cast<std::int64_t>(kept_.size());
  owned_matrix rows{count, gradient.columns, set_.pool};
  for (std::int64_t k = 0; k < count; ++k)
    std::memcpy(rows.view().row(k), gradient.row(kept_[k]),
                static_cast<std::size_t>(gradient.columns) * sizeof(float));
  add_product_tn(*set_.team, sums_.view(), rows.view(), weight_gradient,
                 set_.pool);
  if (!input_gradient)
    return;
  upstream_ = {count, set_.input.rows.columns, set_.pool};
  multiply_nt(*set_.team, rows.view(), set_.weight, upstream_.view());
  std::vector<local_id> position(static_cast<std::size_t>(set_.rows));
  for (std::int64_t k = 0; k < count; ++k)
    position[kept_[k]] = static_cast<local_id>(k);
  back_columns_.resize(set_.transposed->columns.size());
  for (std::size_t e = 0; e < back_columns_.size(); ++e)
    back_columns_[e] = position[set_.transposed->columns[e]];
}

void relation_pass::add_input_gradient(std::int64_t begin, std::int64_t end,
                                       std::int64_t filled, matrix x) {
  const matrix whole{x.data - begin * x.columns, set_.input.rows.rows,
                     x.columns};
  if (way_ != way::transform_first)
    return transposed_sum(upstream_.view(), begin, end, filled, whole);
  zero_rows(std::max(begin, filled), end, whole);
  multiply_nt(upstream_.view().slice(begin, end), set_.weight, 1, x);
}

} // namespace graphmill
