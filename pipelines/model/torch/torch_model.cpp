#include "pipelines/model/torch/torch_model.hpp"

#include "pipelines/kernels/table_gradient.hpp"
#include "pipelines/model/torch/torch_operations.hpp"
#include "pipelines/model/torch/torch_transformer.hpp"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace graphmill {

struct torch_model::impl {
  impl(const model_layout& shape, const parameter_store& values,
       const minibatch& input, const device_step& step)
    : layout(shape), batch(input), how(step), device(step.device) {
    for (std::size_t p = 0; p < layout.parameters.size(); ++p)
      parameters.push_back(
        tensor_on(device, values.at(layout, static_cast<int>(p)))
          .view(layout.parameters[p].shape)
          .requires_grad_(how.training));
    make_scales();
    make_inputs(values);
  }

  std::int64_t rows(int layer, node_type_id type) const {
    return batch.data.graph.nodes[type].found[layout.hops - layer - 1];
  }
  const at::Tensor& parameter(int number) const {
    return parameters[static_cast<std::size_t>(number)];
  }
  dropout dropout_of(int layer, std::size_t type) const {
    const auto off = !how.training || (layer == 0 && !layout.traits.drop_input);
    return {.key = how.key,
            .stream =
              stream_of(layer, static_cast<int>(type), batch.data.key.rank),
            .threshold = off ? 0 : layout.drop_threshold};
  }

  /// Of the weights of a relation's edges in attention.
  dropout edge_drop(int layer, std::size_t relation) const {
    return edge_dropout(how.key, layer, static_cast<int>(relation),
                        batch.data.key.rank,
                        how.training ? layout.attention_threshold : 0);
  }

  void make_scales();
  void make_inputs(const parameter_store& values);
  at::Tensor message(int layer, std::size_t relation,
                     const std::vector<at::Tensor>& h) const;
  at::Tensor across(int layer, std::size_t type,
                    const std::vector<at::Tensor>& h) const;
  at::Tensor layer_output(int layer, std::size_t type,
                          const std::vector<at::Tensor>& h) const;
  attention_terms terms_of(int layer, const at::Tensor& h,
                           std::int64_t count) const;
  std::vector<std::size_t> parameters_of(int layer) const;
  std::vector<at::Tensor> backward(int layer,
                                   const std::vector<at::Tensor>& gradients,
                                   gradient_set& out) const;
  std::vector<at::Tensor> backward_head(const at::Tensor& gradient,
                                        gradient_set& out) const;
  void make_logits(const std::vector<at::Tensor>& h);
  void set_table_gradients(const std::vector<at::Tensor>& found,
                           gradient_set& out) const;

  const model_layout& layout;
  const minibatch& batch;
  device_step how;
  at::Device device;
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> table_rows; ///< Per table: rows of the batch, leaves.
  std::vector<relation_scales> scales;
  std::vector<at::Tensor> inputs; ///< Per node type.
  /// Per layer and node type. While training, autograd records each layer for
  /// itself: what enters a later layer is a leaf.
  std::vector<std::vector<at::Tensor>> entering;
  std::vector<std::vector<at::Tensor>> leaving;
  std::vector<at::Tensor> jumping; ///< Seeds' rows of each layer, leaves.
  at::Tensor logits;
  at::Tensor host_logits;
  at::Tensor host_last_input;
};

void torch_model::impl::make_scales() {
  if (layout.traits.sums())
    scales = scales_of(layout, batch);
}

void torch_model::impl::make_inputs(const parameter_store& values) {
  const auto& types = layout.layers.front().types;
  for (std::size_t t = 0; t < types.size(); ++t) {
    auto& input = inputs.emplace_back();
    const auto width = types[t].in;
    const auto count = batch.data.graph.nodes[t].found.back();
    const auto table = layout.table_of[t];
    if (table != absent)
      table_rows.emplace_back();
    if (width == 0)
      continue;
    if (table == absent) {
      input = features_on(device, layout.feature_rows[t],
                          batch.data.features[t].data(), count);
    } else {
      std::vector<float> rows(static_cast<std::size_t>(count * width));
      for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(rows.data() + i * width,
                    values.tables[table].data()
                      + batch.data.embedding_rows[t][i] * width,
                    static_cast<std::size_t>(width) * sizeof(float));
      table_rows.back() = tensor_on(device, {rows.data(), count, width})
                            .requires_grad_(how.training);
      input = table_rows.back();
    }
    input = drop(input, dropout_of(0, t));
  }
}

at::Tensor torch_model::impl::message(int layer, std::size_t relation,
                                      const std::vector<at::Tensor>& h) const {
  const auto& ends = layout.relations[relation];
  const auto& shape = layout.layers[layer];
  const auto edges = edges_on(device, batch.relations[relation].forward,
                              rows(layer, ends.destination));
  const auto& source = h[ends.source];
  const auto& weight = parameter(shape.weights[relation]);
  if (layout.traits.attends_by_relation())
    return attend_by_relation(
      at::mm(source, weight), parameter(shape.source_scores[relation]),
      at::mm(h[ends.destination].narrow(0, 0, edges.rows),
             parameter(shape.destination_scores[relation])),
      edges, edge_drop(layer, relation), shape.last);
  if (layout.traits.attends())
    return attend(at::mm(source, weight), terms_of(layer, source, edges.rows),
                  edges);
  if (layout.traits.message == message_form::maximum) {
    const auto rows =
      layout.traits.pools
        ? at::relu(at::mm(source, parameter(shape.pool_weights[relation]))
                   + parameter(shape.pool_biases[relation]))
        : source;
    return at::mm(largest_messages(rows, edges), weight);
  }
  const auto epsilon =
    shape.epsilon == absent ? at::Tensor{} : parameter(shape.epsilon);
  return at::mm(sum_messages(source, edges, scales[relation], epsilon), weight);
}

/// What a layer whose relations share their attention gives, but for its bias.
at::Tensor torch_model::impl::across(int layer, std::size_t type,
                                     const std::vector<at::Tensor>& h) const {
  const auto count = rows(layer, static_cast<node_type_id>(type));
  return torch_transformer{layout,
                           parameters,
                           h,
                           layer,
                           [&](std::size_t r) {
                             return edges_on(device, batch.relations[r].forward,
                                             count);
                           },
                           [&](std::size_t r) { return edge_drop(layer, r); }}
    .output(type, count);
}

/// @param h What enters the layer. @param count Rows that leave it.
attention_terms torch_model::impl::terms_of(int layer, const at::Tensor& h,
                                            std::int64_t count) const {
  const auto& shape = layout.layers[layer];
  const auto threshold = how.training ? layout.attention_threshold : 0;
  const auto rank = batch.data.key.rank;
  attention_terms out;
  out.source = parameter(shape.attention_source);
  if (shape.attention_destination != absent)
    out.destination = parameter(shape.attention_destination);
  if (shape.attention_weight != absent)
    out.y = at::mm(h.narrow(0, 0, count), parameter(shape.attention_weight));
  out.drop = edge_drop(layer, 0);
  out.drop_self = {how.key, self_stream_of(layer, rank), threshold};
  out.drop_messages = {how.key, message_stream_of(layer, rank),
                       how.training ? layout.message_threshold : 0};
  out.average = shape.last;
  return out;
}

at::Tensor
torch_model::impl::layer_output(int layer, std::size_t type,
                                const std::vector<at::Tensor>& h) const {
  const auto& shape = layout.layers[layer];
  const auto& here = shape.types[type];
  const auto count = rows(layer, static_cast<node_type_id>(type));
  const auto perceptron = here.inner_bias != absent;
  auto y = parameter(perceptron ? here.inner_bias : here.bias)
             .expand({count, perceptron ? here.sum : here.out});
  if (here.self != absent)
    y = y + at::mm(h[type].narrow(0, 0, count), parameter(here.self));
  if (layout.traits.attends_across())
    y = y + across(layer, type, h);
  for (std::size_t r = 0; r < layout.relations.size(); ++r)
    if (shape.weights[r] != absent && !layout.traits.attends_across()
        && layout.relations[r].destination == static_cast<node_type_id>(type))
      y = y + message(layer, r, h);
  if (perceptron)
    y = at::mm(at::relu(y), parameter(here.inner)) + parameter(here.bias);
  if (here.residual)
    y = y + h[type].narrow(0, 0, count);
  if (here.norm_gain != absent)
    y = at::layer_norm(y, {here.out}, parameter(here.norm_gain),
                       parameter(here.norm_shift));
  if (shape.after == activation::relu)
    y = at::relu(y);
  if (shape.after == activation::elu)
    y = at::elu(y);
  return shape.last ? y : drop(y, dropout_of(layer + 1, type));
}

std::vector<std::size_t> torch_model::impl::parameters_of(int layer) const {
  const auto end = layer + 1 == layout.hops ? layout.dense_size
                                            : layout.layers[layer + 1].offset;
  std::vector<std::size_t> out;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (const auto at = layout.parameters[p].offset;
        at >= layout.layers[layer].offset && at < end)
      out.push_back(p);
  return out;
}

/// Sets the gradients of a layer's parameters.
/// @param gradients Of what leaves the layer; undefined ones are zero.
/// @returns those of what enters it: rows per node type; of the first layer
/// rows per table.
std::vector<at::Tensor>
torch_model::impl::backward(int layer, const std::vector<at::Tensor>& gradients,
                            gradient_set& out) const {
  std::vector<at::Tensor> roots, root_gradients;
  for (std::size_t t = 0; t < gradients.size(); ++t)
    if (gradients[t].defined()) {
      roots.push_back(leaving[layer][t]);
      root_gradients.push_back(gradients[t]);
    }
  const auto own = parameters_of(layer);
  std::vector<at::Tensor> leaves;
  for (auto p : own)
    leaves.push_back(parameters[p]);
  const auto& inner = layer == 0 ? table_rows : entering[layer];
  std::vector<std::size_t> places;
  for (std::size_t t = 0; t < inner.size(); ++t)
    if (inner[t].defined()) {
      places.push_back(t);
      leaves.push_back(inner[t]);
    }
  std::vector<at::Tensor> below(inner.size());
  if (roots.empty())
    return below;
  const auto found = torch::autograd::grad(roots, leaves, root_gradients,
                                           c10::nullopt, false, true);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!found[i].defined())
      continue;
    const auto host = found[i].to(at::kCPU).contiguous();
    std::copy_n(host.data_ptr<float>(), host.numel(),
                out.dense.data() + layout.parameters[own[i]].offset);
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    below[places[i]] = found[own.size() + i];
  return below;
}

/// Sets the gradients of the head's parameters.
/// @returns those of what each layer gives for the seeds.
std::vector<at::Tensor>
torch_model::impl::backward_head(const at::Tensor& gradient,
                                 gradient_set& out) const {
  auto leaves = jumping;
  for (auto p : {layout.jumping_weight, layout.jumping_bias})
    leaves.push_back(parameter(p));
  auto found = torch::autograd::grad({logits}, leaves, {gradient});
  for (auto p : {layout.jumping_bias, layout.jumping_weight}) {
    const auto host = found.back().to(at::kCPU).contiguous();
    std::copy_n(host.data_ptr<float>(), host.numel(),
                out.dense.data()
                  + layout.parameters[static_cast<std::size_t>(p)].offset);
    found.pop_back();
  }
  return found;
}

/// @param found Gradients of the rows of each table.
void torch_model::impl::set_table_gradients(
  const std::vector<at::Tensor>& found, gradient_set& out) const {
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    auto& sparse = out.tables.emplace_back();
    if (!table_rows[t].defined())
      continue;
    const auto& ids = batch.data.embedding_rows[layout.tables[t].type];
    const auto host = found[t].defined() ? found[t].to(at::kCPU).contiguous()
                                         : at::zeros(table_rows[t].sizes());
    set_table_gradient({host.data_ptr<float>(), host.size(0), host.size(1)},
                       ids.span(), sparse);
  }
}

/// @param h What the last layer gives.
void torch_model::impl::make_logits(const std::vector<at::Tensor>& h) {
  logits = h[layout.target];
  if (layout.jumps()) {
    const auto joined = at::cat(jumping, 1);
    host_last_input = joined.detach().to(at::kCPU).contiguous();
    logits = at::mm(joined, parameter(layout.jumping_weight))
             + parameter(layout.jumping_bias);
  }
  host_logits = logits.detach().to(at::kCPU).contiguous();
}

torch_model::torch_model(const model_layout& layout,
                         const parameter_store& parameters,
                         const minibatch& batch, const device_step& how)
  : impl_(std::make_unique<impl>(layout, parameters, batch, how)) {}

torch_model::~torch_model() = default;

const_matrix torch_model::forward() {
  const c10::AutoGradMode record{impl_->how.training};
  const auto& layout = impl_->layout;
  auto h = impl_->inputs;
  for (int l = 0; l < layout.hops; ++l) {
    if (l + 1 == layout.hops)
      impl_->host_last_input = h[layout.target]
                                 .narrow(0, 0, impl_->rows(l, layout.target))
                                 .detach()
                                 .to(at::kCPU)
                                 .contiguous();
    if (impl_->how.training && l > 0)
      for (auto& rows : h)
        if (rows.defined())
          rows = rows.detach().requires_grad_();
    std::vector<at::Tensor> next(h.size());
    for (std::size_t t = 0; t < h.size(); ++t)
      if (layout.layers[l].types[t].out != 0)
        next[t] = impl_->layer_output(l, t, h);
    if (layout.jumps())
      impl_->jumping.push_back(
        next[layout.target]
          .narrow(0, 0, impl_->rows(layout.hops - 1, layout.target))
          .detach()
          .requires_grad_(impl_->how.training));
    if (impl_->how.training) {
      impl_->entering.push_back(std::move(h));
      impl_->leaving.push_back(next);
    }
    h = std::move(next);
  }
  impl_->make_logits(h);
  const auto& host = impl_->host_logits;
  return {host.data_ptr<float>(), host.size(0), host.size(1)};
}

const_matrix torch_model::last_input() {
  const auto& host = impl_->host_last_input;
  return {host.data_ptr<float>(), host.size(0), host.size(1)};
}

void torch_model::backward(const_matrix gradient, gradient_set& out,
                           const gradient_sink& on_final) {
  const auto& layout = impl_->layout;
  begin_gradients(layout, impl_->how.statistic, out);
  out.tables.clear();
  std::vector<at::Tensor> gradients(layout.table_of.size());
  const auto upstream = tensor_on(impl_->device, gradient);
  std::vector<at::Tensor> of_layers;
  if (layout.jumps())
    of_layers = impl_->backward_head(upstream, out);
  else
    gradients[layout.target] = upstream;
  for (int l = layout.hops; l-- > 0;) {
    if (layout.jumps()) {
      auto& of_target = gradients[layout.target];
      if (!of_target.defined())
        of_target = at::zeros_like(impl_->leaving[l][layout.target]);
      of_target = of_target.clone();
      of_target.narrow(0, 0, of_layers[l].size(0)).add_(of_layers[l]);
    }
    gradients = impl_->backward(l, gradients, out);
    if (on_final)
      on_final(layout.layers[l].offset);
    impl_->leaving[l].clear(); // With what autograd has kept for it.
    impl_->entering[l].clear();
  }
  impl_->set_table_gradients(gradients, out);
}

} // namespace graphmill
