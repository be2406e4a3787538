#include "pipelines/model/passes/layer_end.hpp"

#include "pipelines/kernels/activation.hpp"
#include "pipelines/model/passes/gemm.hpp"

namespace graphmill {

namespace {

void scale_values(float by, matrix x) {
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.data[i] *= by;
}

} // namespace

layer_end::layer_end(const step_context& step, int layer, node_type_id type)
  : step_(&step), shape_(&step.layout.layers[layer].types[type]) {
  const auto rows = step.output_rows(layer, type);
  inner_ = {rows, shape_->sum, step.pool};
  if (gated())
    sums_ = {rows, shape_->sum, step.pool};
}

matrix layer_end::sums() {
  return gated() ? sums_.view() : inner_.view();
}

void layer_end::forward(const layer_input& input, std::int64_t begin,
                        std::int64_t end, matrix rows) {
  const auto inner = inner_.view();
  if (gated())
    gelu(sums_.view(), begin, end, inner);
  else
    activate(inner, step_->values_of(shape_->inner_bias).data, activation::relu,
             {}, begin, end, inner);
  multiply(inner.slice(begin, end), step_->values_of(shape_->inner), 0, rows);
  if (gated())
    gate().blend(input, begin, end, step_->values_of(shape_->skip), rows,
                 step_->pool);
}

void layer_end::backward(const layer_input& input, const_matrix upstream,
                         gradient_set& out) {
  gradient_ = {upstream.rows, shape_->sum, step_->pool};
  if (gated())
    backward_gated(input, upstream, out);
  else
    backward_perceptron(upstream, out);
}

void layer_end::backward_perceptron(const_matrix upstream, gradient_set& out) {
  add_product_tn(*step_->team, inner_.view(), upstream,
                 step_->gradient_of(shape_->inner, out), step_->pool);
  const auto gradient = gradient_.view();
  const auto weight = step_->values_of(shape_->inner);
  step_->team->for_pieces(
    upstream.rows, chunk_rows,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      multiply_nt(upstream.slice(begin, end), weight, 0,
                  gradient.slice(begin, end));
      activate_backward(inner_.view(), activation::relu, 1, begin, end,
                        gradient);
    });
  add_column_sums(gradient, 0, upstream.rows,
                  step_->gradient_of(shape_->inner_bias, out).data);
}

/// The product of the gate's gradient with both of its terms needs neither of
/// them: they are products, so that it is one of their weights with the
/// gradients of these.
void layer_end::backward_gated(const layer_input& input, const_matrix upstream,
                               gradient_set& out) {
  const auto rows = upstream.rows;
  const auto weight = step_->values_of(shape_->inner);
  const auto into = step_->gradient_of(shape_->inner, out);
  add_product_tn(*step_->team, inner_.view(), upstream, into, step_->pool);
  auto difference = inner_product(weight, into, weight.rows);
  scale_values(gate().share(), into);
  if (shape_->skip == absent) {
    difference -= inner_product(input.rows, upstream, rows);
  } else {
    const auto skipping = step_->values_of(shape_->skip);
    const auto skip_into = step_->gradient_of(shape_->skip, out);
    input.add_product_tn(*step_->team, upstream, skip_into, step_->pool);
    difference -= inner_product(skipping, skip_into, skipping.rows);
    scale_values(1 - gate().share(), skip_into);
  }
  *step_->gradient_of(shape_->gate, out).data +=
    static_cast<float>(gate().slope() * difference);
  const auto gradient = gradient_.view();
  const auto share = gate().share();
  step_->team->for_pieces(
    rows, chunk_rows, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      multiply_nt(upstream.slice(begin, end), weight, 0,
                  gradient.slice(begin, end));
      gelu_backward(sums_.view(), share, begin, end, gradient);
    });
}

void layer_end::add_input_gradient(const_matrix upstream, matrix into) const {
  if (gated())
    gate().add_own_gradient(upstream, step_->values_of(shape_->skip), into,
                            step_->pool);
}

} // namespace graphmill
