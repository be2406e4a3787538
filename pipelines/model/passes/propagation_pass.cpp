#include "pipelines/model/passes/propagation_pass.hpp"

namespace graphmill {

void propagation_pass::add_output(std::int64_t begin, std::int64_t end,
                                  float beta, matrix y) {
  const gather_sum task{.indptr = set_.forward->indptr.data(),
                        .columns = set_.forward->columns.data(),
                        .x = set_.input.rows,
                        .row_scale = scales_->row.data(),
                        .column_scale = scales_->column.data(),
                        .values = set_.forward->weights_or_null()};
  // Rows are numbered from the first one of the layer.
  run(task, begin, end, beta == 0 ? begin : end,
      {y.data - begin * y.columns, set_.rows, y.columns});
}

void propagation_pass::backward(const_matrix gradient, bool, const targets&) {
  gradient_ = gradient;
}

void propagation_pass::add_input_gradient(std::int64_t begin, std::int64_t end,
                                          std::int64_t filled, matrix x) {
  const gather_sum task{.indptr = set_.transposed->indptr.data(),
                        .columns = set_.transposed->columns.data(),
                        .x = gradient_,
                        .row_scale = scales_->column.data(),
                        .column_scale = scales_->row.data(),
                        .values = set_.transposed->weights_or_null()};
  run(task, begin, end, filled,
      {x.data - begin * x.columns, set_.input.rows.rows, x.columns});
}

} // namespace graphmill
