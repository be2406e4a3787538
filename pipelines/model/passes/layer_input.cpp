#include "pipelines/model/passes/layer_input.hpp"

#include "pipelines/model/passes/gemm.hpp"

namespace graphmill {

void layer_input::multiply(std::int64_t begin, std::int64_t end,
                           const_matrix weight, float beta, matrix y) const {
  if (sparse != nullptr)
    sparse->multiply(begin, end, weight, beta, y);
  else
    graphmill::multiply(rows.slice(begin, end), weight, beta, y);
}

void layer_input::multiply(thread_team& team, const_matrix weight,
                           matrix y) const {
  team.for_pieces(y.rows, chunk_rows,
                  [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                    multiply(begin, end, weight, 0, y.slice(begin, end));
                  });
}

void layer_input::add_product_tn(
  thread_team& team, const_matrix gradient, matrix c,
  const std::shared_ptr<buffer_pool>& pool) const {
  if (sparse != nullptr)
    sparse->add_product_tn(team, gradient, c);
  else
    graphmill::add_product_tn(team, rows.slice(0, gradient.rows), gradient, c,
                              pool);
}

} // namespace graphmill
