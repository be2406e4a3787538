#include "pipelines/kernels/optimizer.hpp"

#include "pipelines/kernels/simd.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

using simd::fused;

constexpr double beta1 = 0.9;
constexpr double beta2 = 0.999;
constexpr double epsilon = 1e-8;

void zeros(pod_vector<float>& values, std::size_t size) {
  values.resize(size);
  std::fill(values.begin(), values.end(), 0.0f);
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
  : options_(options), tables_(layout.tables.size()) {
  const auto add = [kept = moments(options)](moment_pair& pair,
                                             std::int64_t size) {
    if (kept > 0)
      zeros(pair.first, static_cast<std::size_t>(size));
    if (kept > 1)
      zeros(pair.second, static_cast<std::size_t>(size));
  };
  add(dense_, layout.dense_size);
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const auto& table = layout.tables[t];
    add(tables_[t], table.rows * table.width);
    widths_.push_back(table.width);
  }
}

void optimizer::apply(const gradient_set& gradients, double learning_rate,
                      parameter_store& parameters) {
  ++step_;
  const auto k = of_step(options_, step_, learning_rate);
  update(k, gradients.dense.data(),
         static_cast<std::int64_t>(gradients.dense.size()), dense_.first.data(),
         dense_.second.data(), parameters.dense.data());
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const auto& touched = gradients.tables[t];
    const auto width = widths_[t];
    auto* first = tables_[t].first.data();
    auto* second = tables_[t].second.data();
    for (std::size_t i = 0; i < touched.rows.size(); ++i) {
      const auto at = touched.rows[i] * width;
      update(k, touched.values.data() + static_cast<std::int64_t>(i) * width,
             width, first ? first + at : nullptr,
             second ? second + at : nullptr, parameters.tables[t].data() + at);
    }
  }
}

} // namespace graphmill
