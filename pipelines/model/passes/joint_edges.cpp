#include "pipelines/model/passes/joint_edges.hpp"

#include "pipelines/kernels/edge_product.hpp"
#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

joint_edges::joint_edges(const_matrix features, const_matrix weight,
                         std::shared_ptr<buffer_pool> pool)
  : features_(features), weight_(product_weight(weight, weight.rows, pool)),
    pool_(std::move(pool)) {}

void joint_edges::for_rows(const std::int64_t* indptr, std::int64_t begin,
                           std::int64_t end, const user& use) const {
  const auto weight = weight_.view();
  const auto few =
    std::min(product_edges(weight.columns), indptr[end] - indptr[begin]);
  owned_matrix memory;
  for (auto to = begin; begin < end; begin = to) {
    const auto first = indptr[begin];
    for (++to; to < end && indptr[to + 1] - first <= few;)
      ++to;
    const auto count = indptr[to] - first;
    if (memory.empty() || memory.view().rows < count) {
      memory = {}; // Before there is another one.
      memory = {std::max({count, few, std::int64_t{1}}), weight.columns, pool_};
    }
    const auto rows = memory.view();
    std::fill_n(rows.data, count * rows.columns, 0.0f);
    add_products(features_, weight, first, first + count, rows);
    use(begin, to,
        {rows.data - first * rows.columns, first + count, rows.columns});
  }
}

owned_matrix joint_edges::no_gradient() const {
  owned_matrix out{weight_.view().rows, weight_.view().columns, pool_};
  std::fill_n(out.data(), out.view().size(), 0.0f);
  return out;
}

void joint_edges::add_gradient(const_matrix edges, std::int64_t begin,
                               std::int64_t end, matrix sums) const {
  add_product_gradient(features_, edges.slice(begin, end), begin, end, sums);
}

void joint_edges::add_feature_gradient(const_matrix edges, std::int64_t begin,
                                       std::int64_t end, matrix into) const {
  const auto weight = weight_.view();
  multiply_nt(edges.slice(begin, end),
              weight.slice(weight.rows - into.columns, weight.rows), 1,
              into.slice(begin, end));
}

} // namespace graphmill
