#include "pipelines/model/passes/basis_pass.hpp"

#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

basis_pass::basis_pass(setting options)
  : set_(std::move(options)),
    factors_(std::ssize(set_.relations), set_.bases, set_.pool) {
  for (std::size_t r = 0; r < set_.relations.size(); ++r)
    std::copy_n(set_.relations[r].factors, set_.bases,
                factors_.view().row(static_cast<std::int64_t>(r)));
  forward_ = joined(false, set_.rows);
}

basis_pass::joined_edges basis_pass::joined(bool transposed,
                                            std::int64_t rows) const {
  joined_edges out;
  out.indptr.assign(static_cast<std::size_t>(rows) + 1, 0);
  const auto edges_of = [transposed](const member& relation) -> const csr& {
    return transposed ? *relation.transposed : *relation.forward;
  };
  for (const auto& relation : set_.relations) {
    const auto& indptr = edges_of(relation).indptr;
    for (std::int64_t i = 0; i < rows; ++i)
      out.indptr[static_cast<std::size_t>(i) + 1] += indptr[i + 1] - indptr[i];
  }
  for (std::size_t i = 1; i < out.indptr.size(); ++i)
    out.indptr[i] += out.indptr[i - 1];
  const auto count = static_cast<std::size_t>(out.indptr.back());
  out.columns.resize(count);
  out.relations.resize(count);
  out.values.resize(count);
  auto next = out.indptr;
  for (std::size_t r = 0; r < set_.relations.size(); ++r) {
    const auto& edges = edges_of(set_.relations[r]);
    const auto& scale = set_.relations[r].scales->row;
    for (std::int64_t i = 0; i < rows; ++i)
      for (auto e = edges.indptr[i]; e < edges.indptr[i + 1]; ++e) {
        const auto at =
          static_cast<std::size_t>(next[static_cast<std::size_t>(i)]++);
        out.columns[at] = edges.columns[e];
        out.relations[at] = static_cast<std::int32_t>(r);
        const auto weight = edges.weights.empty() ? 1.0f : edges.weights[e];
        out.values[at] = scale[transposed ? edges.columns[e] : i] * weight;
      }
  }
  return out;
}

basis_sum basis_pass::task_of(const joined_edges& edges, const_matrix x) const {
  return {.indptr = edges.indptr.data(),
          .columns = edges.columns.data(),
          .relations = edges.relations.data(),
          .values = edges.values.data(),
          .x = x,
          .factors = factors_.view()};
}

/// Rows whose sums stay in the cache.
std::int64_t basis_pass::rows_at_once(std::int64_t width) const {
  constexpr std::int64_t floats = 1 << 16;
  return std::clamp<std::int64_t>(floats / (set_.bases * width), 16,
                                  chunk_rows);
}

void basis_pass::add_output(std::int64_t begin, std::int64_t end, float beta,
                            matrix y) {
  const auto task = task_of(forward_, set_.input.rows);
  const auto width = set_.weight.rows;
  const auto step = rows_at_once(set_.input.rows.columns);
  owned_matrix sums{std::min(step, end - begin), width, set_.pool};
  for (auto from = begin; from < end; from += step) {
    const auto to = std::min(end, from + step);
    const auto some = sums.view().slice(0, to - from);
    sum_bases(task, from, to, some);
    multiply(some, set_.weight, beta, y.slice(from - begin, to - begin));
  }
}

void basis_pass::backward(const_matrix gradient, bool input_gradient,
                          const targets& into) {
  gradient_ = gradient;
  const auto in = set_.input.rows.columns;
  const auto out = set_.weight.columns;
  const auto task = task_of(forward_, set_.input.rows);
  const auto step = rows_at_once(in);
  // As `add_product_tn`: pieces depend on the rows alone.
  constexpr std::int64_t most_pieces = 16;
  const auto grain =
    std::max((set_.rows + most_pieces - 1) / most_pieces, chunk_rows);
  const auto pieces = (set_.rows + grain - 1) / grain;
  const auto relations = factors_.view().rows;
  owned_matrix products{pieces * set_.weight.rows, out, set_.pool};
  owned_matrix of_factors{pieces * relations, set_.bases, set_.pool};
  set_.team->for_pieces(
    set_.rows, grain,
    [&](std::int64_t piece, std::int64_t begin, std::int64_t end) {
      const auto product = products.view().slice(
        piece * set_.weight.rows, (piece + 1) * set_.weight.rows);
      const auto sums_of_factors =
        of_factors.view().slice(piece * relations, (piece + 1) * relations);
      std::fill(product.data, product.data + product.size(), 0.0f);
      std::fill(sums_of_factors.data,
                sums_of_factors.data + sums_of_factors.size(), 0.0f);
      owned_matrix sums{std::min(step, end - begin), set_.weight.rows,
                        set_.pool};
      for (auto from = begin; from < end; from += step) {
        const auto to = std::min(end, from + step);
        const auto some = sums.view().slice(0, to - from);
        const auto upstream = gradient.slice(from, to);
        sum_bases(task, from, to, some);
        multiply_tn(some, upstream, 1, product);
        multiply_nt(upstream, set_.weight, 0, some);
        add_factor_gradients(task, from, to, some, sums_of_factors);
      }
    });
  for (std::int64_t p = 0; p < pieces; ++p) {
    const auto product = products.view().row(p * set_.weight.rows);
    for (std::int64_t i = 0; i < into.weight.size(); ++i)
      into.weight.data[i] += product[i];
    for (std::int64_t r = 0; r < relations; ++r)
      for (std::int64_t b = 0; b < set_.bases; ++b)
        into.factors[static_cast<std::size_t>(r)][b] +=
          of_factors.view().row(p * relations + r)[b];
  }
  if (!input_gradient)
    return;
  back_ = joined(true, set_.input.rows.rows);
  turned_ = {set_.bases * out, in, set_.pool};
  for (std::int64_t b = 0; b < set_.bases; ++b)
    for (std::int64_t c = 0; c < in; ++c)
      for (std::int64_t k = 0; k < out; ++k)
        turned_.view().row(b * out + k)[c] = set_.weight.row(b * in + c)[k];
}

void basis_pass::add_input_gradient(std::int64_t begin, std::int64_t end,
                                    std::int64_t filled, matrix x) {
  const auto task = task_of(back_, gradient_);
  const auto step = rows_at_once(gradient_.columns);
  const auto first = std::clamp(filled, begin, end) - begin;
  std::fill(x.data + first * x.columns, x.data + x.size(), 0.0f);
  owned_matrix sums{std::min(step, end - begin), turned_.view().rows,
                    set_.pool};
  for (auto from = begin; from < end; from += step) {
    const auto to = std::min(end, from + step);
    const auto some = sums.view().slice(0, to - from);
    sum_bases(task, from, to, some);
    multiply(some, turned_.view(), 1, x.slice(from - begin, to - begin));
  }
}

} // namespace graphmill
