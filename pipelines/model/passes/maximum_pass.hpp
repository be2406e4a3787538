#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/gather_max.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/model/passes/message_pass.hpp"

#include <cstdint>

namespace graphmill {

/// The messages of one relation in one layer as the largest value of each
/// column over the neighbours, times a weight matrix. With a pool (Hamilton et
/// al., "Inductive representation learning on large graphs", NIPS'17), the
/// neighbours are transformed first: y += max(relu(h W_pool + b_pool)) W.
class maximum_pass final : public message_pass {
public:
  struct setting : message_pass::setting {
    const_matrix
      pool_weight; ///< No data: the neighbours are taken as they are.
    const float* pool_bias = nullptr;
  };

  explicit maximum_pass(const setting& options);

  void add_output(std::int64_t begin, std::int64_t end, float beta,
                  matrix y) override;
  void backward(const_matrix gradient, bool input_gradient,
                const targets& into) override;
  void add_input_gradient(std::int64_t begin, std::int64_t end,
                          std::int64_t filled, matrix x) override;

private:
  bool pools() const { return set_.pool_weight.data != nullptr; }
  const_matrix sources() const {
    return pools() ? pooled_.view() : set_.input.rows;
  }
  winner_sum gradient_by_source() const;

  setting set_;
  owned_matrix pooled_;          ///< All sources, after the ReLU.
  owned_matrix maxima_;          ///< [rows, width of the sources]
  pod_vector<local_id> winners_; ///< Like `maxima_`.
  owned_matrix upstream_;        ///< Gradient of the maxima.
  owned_matrix pooled_gradient_; ///< Of h W_pool + b_pool.
};

} // namespace graphmill
