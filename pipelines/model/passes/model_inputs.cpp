#include "pipelines/model/passes/model_inputs.hpp"

#include "partition/sampling/rows/packed_rows.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/model/passes/gemm.hpp"

#include <cstring>

namespace graphmill {

model_inputs::model_inputs(const step_context& step)
  : rows_(step.layout.table_of.size()), made_(step.layout.table_of.size()),
    sparse_(step.layout.table_of.size()) {
  const auto& first = step.layout.layers.front();
  for (std::size_t t = 0; t < first.types.size(); ++t)
    if (first.types[t].in != 0)
      fill(step, static_cast<node_type_id>(t));
}

void model_inputs::fill(const step_context& step, node_type_id type) {
  const auto& layout = step.layout;
  const auto& data = step.batch.data;
  const auto width = layout.layers.front().types[type].in;
  const auto rows = step.input_rows(0, type);
  const auto table = layout.table_of[type];
  const_matrix input{data.features[type].data(), rows, width};
  const auto packed = layout.feature_rows[type].packed();
  const auto drop = step.dropout_of(0, type);
  if (layout.multiplies_packed(type)) {
    sparse_[type].emplace(input.data, rows, layout.feature_rows[type], drop);
    rows_[type] = {nullptr, rows, width};
    return;
  }
  if (table != absent || packed || drop.threshold != 0)
    made_[type] = {rows, width, step.pool};
  if (packed)
    input = unpack_rows(step, type, rows);
  if (table != absent) {
    const auto* values = step.parameters.tables[table].data();
    for (std::int64_t i = 0; i < rows; ++i)
      std::memcpy(made_[type].view().row(i),
                  values + data.embedding_rows[type][i] * width,
                  static_cast<std::size_t>(width) * sizeof(float));
    input = made_[type].view();
  }
  if (drop.threshold != 0) {
    auto out = made_[type].view();
    step.team->for_pieces(
      rows, chunk_rows, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        activate(input, nullptr, activation::none, drop, from, to, out);
      });
    input = out;
  }
  rows_[type] = input;
}

/// Rows with all their zeros, so that all that is computed of them is that of
/// dense features, with the same bits.
const_matrix model_inputs::unpack_rows(const step_context& step,
                                       node_type_id type, std::int64_t rows) {
  const auto& form = step.layout.feature_rows[type];
  const auto* from = step.batch.data.features[type].data();
  const auto out = made_[type].view();
  step.team->for_pieces(
    rows, chunk_rows, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i)
        unpack(from + static_cast<std::size_t>(i) * form.floats(), form,
               out.row(i));
    });
  return out;
}

} // namespace graphmill
