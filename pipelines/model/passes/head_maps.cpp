#include "pipelines/model/passes/head_maps.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

owned_matrix zero_map(std::int64_t rows, std::int64_t columns,
                      const std::shared_ptr<buffer_pool>& pool) {
  owned_matrix out{rows, columns, pool};
  std::fill_n(out.data(), rows * columns, 0.0f);
  return out;
}

float score_scale(std::int64_t head_width) {
  return 1.0f / std::sqrt(static_cast<float>(head_width));
}

} // namespace

owned_matrix query_map(const_matrix attention, const float* prior,
                       const std::shared_ptr<buffer_pool>& pool) {
  const auto d = attention.columns;
  auto out = zero_map(attention.rows, attention.rows, pool);
  for (std::int64_t row = 0; row < attention.rows; ++row) {
    const auto first = row / d * d; // Of the head.
    const auto scale = prior[row / d] * score_scale(d);
    for (std::int64_t c = 0; c < d; ++c)
      out.view().row(first + c)[row] = attention.row(row)[c] * scale;
  }
  return out;
}

owned_matrix message_map(const_matrix message,
                         const std::shared_ptr<buffer_pool>& pool) {
  const auto d = message.columns;
  auto out = zero_map(message.rows, message.rows, pool);
  for (std::int64_t row = 0; row < message.rows; ++row)
    std::copy_n(message.row(row), d, out.view().row(row) + row / d * d);
  return out;
}

owned_matrix feature_map(const_matrix weight, std::int64_t heads,
                         const std::shared_ptr<buffer_pool>& pool) {
  const auto d = weight.columns / heads;
  auto out = zero_map(heads * weight.rows, weight.columns, pool);
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t f = 0; f < weight.rows; ++f)
      std::copy_n(weight.row(f) + h * d, d,
                  out.view().row(h * weight.rows + f) + h * d);
  return out;
}

void add_query_map_gradient(const_matrix gradient, const_matrix attention,
                            const float* prior, matrix attention_into,
                            float* prior_into) {
  const auto d = attention.columns;
  const auto scale = score_scale(d);
  for (std::int64_t head = 0; head < attention.rows / d; ++head) {
    double sum = 0;
    for (auto row = head * d; row < (head + 1) * d; ++row)
      for (std::int64_t c = 0; c < d; ++c) {
        const auto change = gradient.row(head * d + c)[row] * scale;
        attention_into.row(row)[c] += change * prior[head];
        sum += double(change) * attention.row(row)[c];
      }
    prior_into[head] += static_cast<float>(sum);
  }
}

void add_message_map_gradient(const_matrix gradient, matrix into) {
  const auto d = into.columns;
  for (std::int64_t row = 0; row < into.rows; ++row)
    for (std::int64_t c = 0; c < d; ++c)
      into.row(row)[c] += gradient.row(row)[row / d * d + c];
}

void add_feature_map_gradient(const_matrix gradient, std::int64_t heads,
                              matrix into) {
  const auto d = into.columns / heads;
  for (std::int64_t f = 0; f < into.rows; ++f)
    for (std::int64_t c = 0; c < into.columns; ++c)
      into.row(f)[c] += gradient.row(c / d * into.rows + f)[c];
}

} // namespace graphmill
