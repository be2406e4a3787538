#pragma once

#include "pipelines/kernels/basis_sum.hpp"
#include "pipelines/model/passes/message_pass.hpp"
#include "pipelines/model/passes/relation_pass.hpp"

#include <vector>

namespace graphmill {

/// The messages of all relations between two node types in one layer of one
/// step, whose weights are sums of the same matrices, the bases:
///
///   y += sum over relations r of m_r(h) sum over b of factors[r][b] V[b]
///
/// Sums are made for each basis rather than each relation, so that there is one
/// product of matrices for any number of relations. Chunks of rows are small
/// enough for the sums of all bases, and backward makes these again.
class basis_pass final : public message_pass {
public:
  /// Of one relation.
  struct member {
    const csr* forward = nullptr;
    const csr* transposed = nullptr; ///< Null: there is no backward.
    const relation_scales* scales = nullptr;
    const float* factors = nullptr; ///< [bases]
  };
  /// `weight` is [bases * in, out]; there are no `forward` and `transposed`.
  struct setting : message_pass::setting {
    std::int64_t bases = 0;
    std::vector<member> relations;
  };

  explicit basis_pass(setting options);

  void add_output(std::int64_t begin, std::int64_t end, float beta,
                  matrix y) override;
  void backward(const_matrix gradient, bool input_gradient,
                const targets& into) override;
  void add_input_gradient(std::int64_t begin, std::int64_t end,
                          std::int64_t filled, matrix x) override;

private:
  /// The edges of all relations, by row, in the order of relations.
  struct joined_edges {
    std::vector<std::int64_t> indptr;
    std::vector<local_id> columns;
    std::vector<std::int32_t> relations;
    std::vector<float> values;
  };

  joined_edges joined(bool transposed, std::int64_t rows) const;
  basis_sum task_of(const joined_edges& edges, const_matrix x) const;
  std::int64_t rows_at_once(std::int64_t width) const;

  setting set_;
  owned_matrix factors_; ///< [relations, bases]
  joined_edges forward_;
  joined_edges back_;
  owned_matrix turned_;   ///< [bases * out, in] Each basis transposed.
  const_matrix gradient_; ///< Of y.
};

} // namespace graphmill
