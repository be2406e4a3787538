#include "pipelines/model/passes/class_scorer.hpp"

#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>
#include <vector>

namespace graphmill {

namespace {

owned_matrix rows_of(const_matrix from, const std::vector<std::int32_t>& rows,
                     const std::vector<local_id>& ends,
                     const std::shared_ptr<buffer_pool>& pool) {
  owned_matrix out{std::ssize(rows), from.columns, pool};
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(from.row(ends[static_cast<std::size_t>(rows[i])]), from.columns,
                out.view().row(static_cast<std::int64_t>(i)));
  return out;
}

float dot_of(const float* a, const float* b, std::int64_t width) {
  double sum = 0;
  for (std::int64_t c = 0; c < width; ++c)
    sum += double(a[c]) * b[c];
  return static_cast<float>(sum);
}

} // namespace

/// f(rows of an edge type, their sources, their destinations, the number of the
/// edge type's first matrix).
template <class F>
void class_scorer::for_each_group(const F& f) const {
  const auto& rows = *set_.rows;
  const auto groups =
    rows_by_relation(rows.relations, set_.decoder->ends.size());
  for (std::size_t r = 0; r < groups.size(); ++r)
    if (!groups[r].empty())
      f(groups[r], rows_of(set_.nodes, groups[r], rows.sources, set_.pool),
        rows_of(set_.nodes, groups[r], rows.destinations, set_.pool),
        static_cast<std::int64_t>(r) * set_.classes);
}

void class_scorer::forward(matrix out) {
  const auto width = set_.nodes.columns;
  for_each_group([&](const std::vector<std::int32_t>& rows,
                     const owned_matrix& sources,
                     const owned_matrix& destinations, std::int64_t first) {
    owned_matrix mapped{std::ssize(rows), width, set_.pool};
    const auto y = mapped.view();
    for (std::int64_t c = 0; c < set_.classes; ++c) {
      const auto at = (first + c) * width;
      const auto weight = set_.values.matrices.slice(at, at + width);
      set_.team->for_pieces(
        y.rows, chunk_rows,
        [&](std::int64_t, std::int64_t begin, std::int64_t end) {
          multiply(sources.view().slice(begin, end), weight, 0,
                   y.slice(begin, end));
          for (auto i = begin; i < end; ++i)
            out.row(rows[static_cast<std::size_t>(i)])[c] =
              dot_of(y.row(i), destinations.view().row(i), width);
        });
    }
  });
}

void class_scorer::backward(const_matrix gradient, const gradients& into,
                            matrix nodes) {
  const auto width = set_.nodes.columns;
  for_each_group([&](const std::vector<std::int32_t>& rows,
                     const owned_matrix& sources,
                     const owned_matrix& destinations, std::int64_t first) {
    const auto count = std::ssize(rows);
    // Sources times the gradient of a class; and products with its matrix.
    owned_matrix scaled{count, width, set_.pool};
    owned_matrix mapped{count, width, set_.pool};
    owned_matrix of_sources{count, width, set_.pool};
    owned_matrix of_destinations{count, width, set_.pool};
    const auto clear = [](matrix x) {
      std::fill(x.data, x.data + x.size(), 0.0f);
    };
    clear(of_sources.view());
    clear(of_destinations.view());
    for (std::int64_t c = 0; c < set_.classes; ++c) {
      const auto at = (first + c) * width;
      const auto weight = set_.values.matrices.slice(at, at + width);
      set_.team->for_pieces(
        count, chunk_rows,
        [&](std::int64_t, std::int64_t begin, std::int64_t end) {
          const auto g = [&](std::int64_t i) {
            return gradient.row(rows[static_cast<std::size_t>(i)])[c];
          };
          const auto y = mapped.view().slice(begin, end);
          multiply(sources.view().slice(begin, end), weight, 0, y);
          for (auto i = begin; i < end; ++i)
            for (std::int64_t k = 0; k < width; ++k) {
              of_destinations.view().row(i)[k] += g(i) * y.row(i - begin)[k];
              scaled.view().row(i)[k] = g(i) * sources.view().row(i)[k];
            }
          multiply_nt(destinations.view().slice(begin, end), weight, 0, y);
          for (auto i = begin; i < end; ++i)
            for (std::int64_t k = 0; k < width; ++k)
              of_sources.view().row(i)[k] += g(i) * y.row(i - begin)[k];
        });
      add_product_tn(*set_.team, scaled.view(), destinations.view(),
                     into.matrices.slice(at, at + width), set_.pool);
    }
    const auto scatter = [&](const owned_matrix& from,
                             const std::vector<local_id>& ends) {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto row =
          static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]);
        for (std::int64_t k = 0; k < width; ++k)
          nodes.row(ends[row])[k] += from.view().row(i)[k];
      }
    };
    scatter(of_sources, set_.rows->sources);
    scatter(of_destinations, set_.rows->destinations);
  });
}

} // namespace graphmill
