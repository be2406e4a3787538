#include "pipelines/kernels/optimizer.hpp"

#include "pipelines/kernels/simd.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace graphmill {

namespace {

using simd::fused;

constexpr double beta1 = 0.9;
constexpr double beta2 = 0.999;
constexpr double epsilon = 1e-8;

void zeros(pod_vector<float>& values, std::int64_t size) {
  values.resize(static_cast<std::size_t>(size));
  std::fill(values.begin(), values.end(), 0.0f);
}

/// A moment of each parameter of the layout.
void zeros(parameter_store& moments, const model_layout& layout) {
  zeros(moments.dense, layout.dense_size);
  for (std::size_t t = 0; t < layout.tables.size(); ++t)
    zeros(moments.tables[t], layout.tables[t].rows * layout.tables[t].width);
}

/// What the loops multiply by; constant within a step.
struct coefficients {
  optimizer_kind kind;
  float rate;  ///< Adam: over the bias correction of the first moment.
  float keep;  ///< AdamW: what decay leaves of a weight.
  float decay; ///< Adam, SGD: weight decay in the gradient.
  float root2; ///< Square root of the second moment's bias correction.
  float momentum;
};

coefficients of_step(const definition::optimizer_section& options,
                     std::int64_t step, double learning_rate) {
  const auto adaptive = options.kind != optimizer_kind::sgd;
  const auto decoupled = options.kind == optimizer_kind::adamw;
  const auto steps = static_cast<long double>(step);
  // The C library's power of doubles has a version for each kind of CPU, and
  // these may differ in the last bit. Its power of long doubles has only one.
  const auto power = [steps](long double beta) {
    return static_cast<double>(std::pow(beta, steps));
  };
  const auto correction1 = adaptive ? 1 - power(beta1) : 1;
  const auto correction2 = adaptive ? 1 - power(beta2) : 1;
  const auto decay = options.weight_decay;
  return {
    .kind = options.kind,
    .rate = static_cast<float>(learning_rate / correction1),
    .keep = static_cast<float>(decoupled ? 1 - learning_rate * decay : 1),
    .decay = static_cast<float>(decoupled ? 0 : decay),
    .root2 = static_cast<float>(std::sqrt(correction2)),
    .momentum = static_cast<float>(options.momentum),
  };
}

GRAPHMILL_CLONES
void adam(const coefficients& k, const float* gradient, std::int64_t size,
          float* first, float* second, float* weight) {
  for (std::int64_t i = 0; i < size; ++i) {
    auto w = weight[i] * k.keep;
    const auto g = fused(k.decay, w, gradient[i]);
    first[i] = fused(float(beta1), first[i], float(1 - beta1) * g);
    second[i] = fused(float(beta2), second[i], float(1 - beta2) * g * g);
    const auto divisor = std::sqrt(second[i]) / k.root2 + float(epsilon);
    weight[i] = w - k.rate * first[i] / divisor;
  }
}

GRAPHMILL_CLONES
void sgd(const coefficients& k, const float* gradient, std::int64_t size,
         float* velocity, float* weight) {
  for (std::int64_t i = 0; i < size; ++i) {
    auto g = fused(k.decay, weight[i], gradient[i]);
    if (velocity != nullptr) {
      g = fused(k.momentum, velocity[i], g);
      velocity[i] = g;
    }
    weight[i] = fused(-k.rate, g, weight[i]);
  }
}

void update(const coefficients& k, const float* gradient, std::int64_t size,
            float* first, float* second, float* weight) {
  if (k.kind == optimizer_kind::sgd)
    sgd(k, gradient, size, first, weight);
  else
    adam(k, gradient, size, first, second, weight);
}

} // namespace

int optimizer::moments(const definition::optimizer_section& options) {
  if (options.kind != optimizer_kind::sgd)
    return 2;
  return options.momentum != 0 ? 1 : 0;
}

optimizer::optimizer(const definition::optimizer_section& options,
                     const model_layout& layout)
  : options_(options) {
  first_.tables.resize(layout.tables.size());
  second_.tables.resize(layout.tables.size());
  const auto kept = moments(options);
  if (kept > 0)
    zeros(first_, layout);
  if (kept > 1)
    zeros(second_, layout);
  for (const auto& table : layout.tables)
    widths_.push_back(table.width);
}

void optimizer::restore(std::int64_t steps, parameter_store first,
                        parameter_store second) {
  step_ = steps;
  first_ = std::move(first);
  second_ = std::move(second);
}

void optimizer::apply(const gradient_set& gradients, double learning_rate,
                      parameter_store& parameters) {
  ++step_;
  const auto k = of_step(options_, step_, learning_rate);
  update(k, gradients.dense.data(),
         static_cast<std::int64_t>(gradients.dense.size()), first_.dense.data(),
         second_.dense.data(), parameters.dense.data());
  for (std::size_t t = 0; t < widths_.size(); ++t) {
    const auto& touched = gradients.tables[t];
    const auto width = widths_[t];
    auto* first = first_.tables[t].data();
    auto* second = second_.tables[t].data();
    for (std::size_t i = 0; i < touched.rows.size(); ++i) {
      const auto at = touched.rows[i] * width;
      update(k, touched.values.data() + static_cast<std::int64_t>(i) * width,
             width, first ? first + at : nullptr,
             second ? second + at : nullptr, parameters.tables[t].data() + at);
    }
  }
}

} // namespace graphmill
