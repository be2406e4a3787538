#pragma once

#include "pipelines/model/passes/message_pass.hpp"

#include <cstdint>

namespace graphmill {

/// What the features of a relation's edges bring to a layer that sums
/// neighbours: y += m(e) W, beside the messages of the neighbours, and with the
/// scales of these (`relation_scales`). The sums m(e) are the same in all
/// layers of a step, so that they are made once, and borrowed here. So is the
/// gradient of their last columns, if these are learnt.
class edge_sum_pass final : public message_pass {
public:
  /// @param options Of `rows`, `weight`, `team` and `pool` alone.
  /// @param sums [rows or more, columns] m(e).
  edge_sum_pass(const setting& options, const_matrix sums);

  void add_output(std::int64_t begin, std::int64_t end, float beta,
                  matrix y) override;
  void backward(const_matrix gradient, bool input_gradient,
                const targets& into) override;
  void add_input_gradient(std::int64_t begin, std::int64_t end,
                          std::int64_t filled, matrix x) override;

private:
  setting set_;
  const_matrix sums_;
};

} // namespace graphmill
