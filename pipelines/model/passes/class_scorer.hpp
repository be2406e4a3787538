#pragma once

#include "pipelines/model/passes/edge_scorer.hpp"

namespace graphmill {

/// Several numbers of each edge: h W t, with a matrix of each class and edge
/// type. There are no negatives.
class class_scorer final : public edge_scorer {
public:
  explicit class_scorer(const setting& how) : set_(how) {}

  void forward(matrix out) override;
  void backward(const_matrix gradient, const gradients& into,
                matrix nodes) override;

private:
  template <class F>
  void for_each_group(const F& f) const;

  setting set_;
};

} // namespace graphmill
