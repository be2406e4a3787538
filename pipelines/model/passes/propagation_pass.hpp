#pragma once

#include "pipelines/kernels/gather_sum.hpp"
#include "pipelines/model/passes/message_pass.hpp"
#include "pipelines/model/passes/relation_pass.hpp"

namespace graphmill {

/// The messages of one relation without a weight matrix, y += m(h), with m as
/// `relation_scales` has it. Nothing is learnt here, and nothing is kept.
class propagation_pass final : public message_pass {
public:
  /// The setting's `weight` is not read, and neither is
  /// `relation_scales::self`.
  propagation_pass(const setting& options, const relation_scales& scales)
    : set_(options), scales_(&scales) {}

  void add_output(std::int64_t begin, std::int64_t end, float beta,
                  matrix y) override;
  void backward(const_matrix gradient, bool input_gradient,
                const targets& into) override;
  void add_input_gradient(std::int64_t begin, std::int64_t end,
                          std::int64_t filled, matrix x) override;

private:
  setting set_;
  const relation_scales* scales_; ///< Borrowed for the step.
  const_matrix gradient_;         ///< Of y, from `backward` on.
};

} // namespace graphmill
