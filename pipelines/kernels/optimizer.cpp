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
  float scale; ///< Of the gradients.
};

/// The same without weight decay.
coefficients undecayed(coefficients k) {
  k.keep = 1;
  k.decay = 0;
  return k;
}

/// Rows that lag behind further than that are caught up, all of them, so that
/// the list of factors stays short.
constexpr std::size_t most_factors = 65536;

double squares(std::span<const float> values) {
  double sum = 0;
  for (const double x : values)
    sum += x * x;
  return sum;
}

/// The length of all gradients together. Sums are made in a fixed order, so
/// that all ranks scale alike.
double norm_of(const gradient_set& gradients, std::int64_t dense) {
  auto sum =
    squares(gradients.dense.span().first(static_cast<std::size_t>(dense)));
  for (const auto& table : gradients.tables)
    sum += squares(table.values.span());
  return std::sqrt(sum);
}

coefficients of_step(const definition::optimizer_section& options,
                     std::int64_t step, double learning_rate, double scale) {
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
    .scale = static_cast<float>(scale),
  };
}

GRAPHMILL_CLONES
void adam(const coefficients& k, const float* gradient, std::int64_t size,
          float* first, float* second, float* weight) {
  for (std::int64_t i = 0; i < size; ++i) {
    auto w = weight[i] * k.keep;
    const auto g = fused(k.decay, w, k.scale * gradient[i]);
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
    auto g = fused(k.decay, weight[i], k.scale * gradient[i]);
    if (velocity != nullptr) {
      g = fused(k.momentum, velocity[i], g);
      velocity[i] = g;
    }
    weight[i] = fused(-k.rate, g, weight[i]);
  }
}

/// Multiplies a row by each of the factors in turn: one product of all factors
/// would round otherwise.
GRAPHMILL_CLONES
void shrink(const float* factors, std::size_t count, std::int64_t width,
            float* row) {
  for (std::size_t f = 0; f < count; ++f)
    for (std::int64_t c = 0; c < width; ++c)
      row[c] *= factors[f];
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
  add_segments(layout);
  for (const auto& table : layout.tables) {
    widths_.push_back(table.width);
    had_.emplace_back(
      options.embedding_decay != 0 ? static_cast<std::size_t>(table.rows) : 0);
  }
}

void optimizer::add_segments(const model_layout& layout) {
  auto first_ends = layout.dense_size;
  if (options_.decay_layers == decayed_layers::first)
    first_ends =
      layout.layers.size() > 1 ? layout.layers[1].offset : layout.head_offset;
  for (const auto& info : layout.parameters) {
    const auto decays =
      options_.weight_decay == 0
      || (info.offset < first_ends
          && (options_.decay_biases || info.shape.size() > 1));
    const auto end = info.offset + info.size;
    if (!segments_.empty() && segments_.back().decays == decays)
      segments_.back().end = end;
    else
      segments_.push_back({info.offset, end, decays});
  }
}

void optimizer::restore(std::int64_t steps, parameter_store first,
                        parameter_store second) {
  step_ = steps;
  first_ = std::move(first);
  second_ = std::move(second);
  factors_.clear();
  for (auto& had : had_)
    std::fill(had.begin(), had.end(), 0);
}

void optimizer::apply(const gradient_set& gradients, double learning_rate,
                      parameter_store& parameters, double factor) {
  ++step_;
  auto scale = factor;
  if (options_.clip_norm != 0) {
    const auto dense = segments_.empty() ? 0 : segments_.back().end;
    const auto norm = norm_of(gradients, dense) * std::abs(factor);
    if (norm > options_.clip_norm)
      scale *= options_.clip_norm / norm;
  }
  const auto k = of_step(options_, step_, learning_rate, scale);
  const auto plain = undecayed(k);
  for (const auto& part : segments_) {
    const auto at = part.begin;
    update(part.decays ? k : plain, gradients.dense.data() + at, part.end - at,
           first_.dense.data() ? first_.dense.data() + at : nullptr,
           second_.dense.data() ? second_.dense.data() + at : nullptr,
           parameters.dense.data() + at);
  }
  decay_rows(learning_rate, parameters);
  for (std::size_t t = 0; t < widths_.size(); ++t) {
    const auto& touched = gradients.tables[t];
    const auto width = widths_[t];
    auto* first = first_.tables[t].data();
    auto* second = second_.tables[t].data();
    catch_up(t, touched.rows.span(), parameters);
    for (std::size_t i = 0; i < touched.rows.size(); ++i) {
      const auto at = touched.rows[i] * width;
      update(plain,
             touched.values.data() + static_cast<std::int64_t>(i) * width,
             width, first ? first + at : nullptr,
             second ? second + at : nullptr, parameters.tables[t].data() + at);
    }
  }
}

/// Notes the decay of a step, which rows take over when they are caught up.
void optimizer::decay_rows(double learning_rate, parameter_store& parameters) {
  if (options_.embedding_decay == 0)
    return;
  if (factors_.size() == most_factors)
    catch_up(parameters);
  factors_.push_back(
    static_cast<float>(1 - learning_rate * options_.embedding_decay));
}

void optimizer::catch_up(std::size_t table, std::span<const node_id> rows,
                         parameter_store& parameters) {
  if (factors_.empty())
    return;
  for (const auto row : rows)
    catch_up_row(table, row, parameters);
}

void optimizer::catch_up(parameter_store& parameters) {
  if (factors_.empty())
    return;
  for (std::size_t t = 0; t < had_.size(); ++t) {
    const auto rows = static_cast<std::int64_t>(had_[t].size());
    for (std::int64_t row = 0; row < rows; ++row)
      catch_up_row(t, row, parameters);
    std::fill(had_[t].begin(), had_[t].end(), 0);
  }
  factors_.clear();
}

void optimizer::catch_up_row(std::size_t table, std::int64_t row,
                             parameter_store& parameters) {
  auto& had = had_[table][static_cast<std::size_t>(row)];
  const auto width = widths_[table];
  shrink(factors_.data() + had, factors_.size() - had, width,
         parameters.tables[table].data() + row * width);
  had = static_cast<std::uint32_t>(factors_.size());
}

} // namespace graphmill
