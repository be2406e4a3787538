#pragma once

#include "messages/base/error.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/parameters.hpp"
#include "pipelines/model/passes/model_step.hpp"
#include "pipelines/model/torch/devices.hpp"

#include <memory>

namespace graphmill {

/// Computes what `fused_model` does by libtorch's operations and its autograd,
/// on any device, with the same dropout masks. It makes a row per edge, which
/// takes memory that fused kernels do not need. Parameters live with the caller
/// and are copied to the device for each step; what it returns lies in host
/// memory.
class torch_model final : public model_step {
public:
  torch_model(const model_layout& layout, const parameter_store& parameters,
              const minibatch& batch, const device_step& how);
  ~torch_model() override;

  const_matrix forward() override;
  const_matrix last_input() override;
  void backward(const_matrix gradient, gradient_set& out,
                const gradient_sink& on_final = {}) override;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace graphmill
