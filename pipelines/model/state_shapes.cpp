#include "pipelines/model/state_shapes.hpp"

#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/optimizer.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace graphmill {

namespace {

/// In the order of `to_tensors`.
void add_shapes(const model_layout& layout, std::string_view prefix,
                std::vector<tensor_shape>& out) {
  for (const auto& dense : layout.parameters)
    out.push_back({std::string{prefix} + dense.name, dense.shape});
  for (const auto& table : layout.tables)
    out.push_back(
      {std::string{prefix} + table.name, {table.rows, table.width}});
}

/// The tensor of that name, in that shape.
result<const named_tensor*>
find_fitting(const std::vector<named_tensor>& tensors,
             const tensor_shape& wanted) {
  const auto found =
    std::ranges::find(tensors, wanted.name, &named_tensor::name);
  if (found == tensors.end())
    return fail(ec::invalid_data,
                "the weights hold no tensor {}; they are of another model",
                wanted.name);
  if (found->shape != wanted.shape || found->values.size() != wanted.size())
    return fail(ec::invalid_data,
                "tensor {} of the weights has shape [{}], the model needs "
                "[{}]; they are of another model or dataset",
                wanted.name, fmt::join(found->shape, ", "),
                fmt::join(wanted.shape, ", "));
  return &*found;
}

/// The edge type that a weight is of, as names of parameters have it:
/// "layer1.a__b__c.weight"; empty: it is of none.
std::string_view edge_type_in(std::string_view name) {
  const auto begin = name.find('.');
  if (begin == name.npos || name.find("__") == name.npos)
    return {};
  name.remove_prefix(begin + 1);
  for (const std::string_view end :
       {".attention.destination", ".attention.source", ".attention.weight",
        ".attention.prior", ".attention.edge", ".message.weight",
        ".pool.weight", ".pool.bias", ".edge.weight", ".edge.bias", ".weight",
        ".factors"})
    if (name.ends_with(end))
      return name.substr(0, name.size() - end.size());
  return {};
}

} // namespace

result<std::vector<tensor_shape>> state_shapes(const definition& def,
                                               const dataset_info& info) {
  GRAPHMILL_TRY(const auto layout, make_layout(def, info));
  const auto moments = optimizer::moments(def.optimizer);
  std::vector<tensor_shape> out;
  add_shapes(layout, {}, out);
  if (moments > 0)
    add_shapes(layout, state_names::first, out);
  if (moments > 1)
    add_shapes(layout, state_names::second, out);
  add_shapes(layout, state_names::best, out);
  return out;
}

result<void> check_state(const definition& def, const dataset_info& info,
                         const std::vector<tensor_shape>& told) {
  GRAPHMILL_TRY(const auto wanted, state_shapes(def, info));
  const auto best = std::ranges::count_if(wanted, [](const tensor_shape& one) {
    return one.name.starts_with(state_names::best);
  });
  const auto without_best = wanted.size() - static_cast<std::size_t>(best);
  if (told.size() != wanted.size() && told.size() != without_best)
    return fail(ec::invalid_data,
                "a state of {} tensors is none of this model, which has {}, or "
                "{} with its best weights",
                told.size(), without_best, wanted.size());
  for (std::size_t i = 0; i < told.size(); ++i)
    if (told[i].name != wanted[i].name || told[i].shape != wanted[i].shape)
      return fail(ec::invalid_data,
                  "tensor {} of the state is not {} in the shape that the "
                  "model has",
                  i, wanted[i].name);
  return ok();
}

result<void> check_restorable(const definition& def, const dataset_info& info,
                              const std::vector<named_tensor>& state) {
  GRAPHMILL_TRY(const auto shapes, state_shapes(def, info));
  const auto is_best = [](const auto& one) {
    return one.name.starts_with(state_names::best);
  };
  const auto has_best = std::ranges::any_of(state, is_best);
  for (const auto& wanted : shapes)
    if (has_best || !is_best(wanted))
      GRAPHMILL_TRYV(find_fitting(state, wanted));
  return ok();
}

result<void> check_no_others(const definition& def, const dataset_info& info,
                             const std::vector<named_tensor>& weights) {
  GRAPHMILL_TRY(const auto shapes, state_shapes(def, info));
  std::vector<std::string_view> others;
  std::set<std::string_view> edge_types;
  for (const auto& one : weights) {
    if (!is_weight(one.name)
        || std::ranges::find(shapes, one.name, &tensor_shape::name)
             != shapes.end())
      continue;
    others.push_back(one.name);
    const auto type = edge_type_in(one.name);
    if (!type.empty() && !info.find_edge_type(type))
      edge_types.insert(type);
  }
  if (!edge_types.empty())
    return fail(ec::invalid_data,
                "the weights have learnt from edges of type {}, and dataset "
                "\"{}\" has no such edge type: import it with that type, "
                "without edges if there are none",
                fmt::join(edge_types, ", "), info.name);
  if (!others.empty())
    return fail(ec::invalid_data,
                "the weights hold a tensor {}, which the model has not; they "
                "are of another model",
                others.front());
  return ok();
}

result<std::vector<named_tensor>>
begin_state(const definition& def, const dataset_info& info,
            const std::vector<named_tensor>& weights) {
  GRAPHMILL_TRYV(check_no_others(def, info, weights));
  GRAPHMILL_TRY(const auto shapes, state_shapes(def, info));
  std::vector<named_tensor> out;
  for (const auto& wanted : shapes) {
    if (wanted.name.starts_with(state_names::best))
      continue;
    auto& made = out.emplace_back(named_tensor{wanted.name, wanted.shape, {}});
    if (!is_weight(wanted.name)) {
      made.values.resize(wanted.size());
      continue;
    }
    GRAPHMILL_TRY(const auto* found, find_fitting(weights, wanted));
    made.values = found->values;
  }
  return out;
}

std::uint64_t most_state_values(const definition& def,
                                const dataset_info& info) {
  const auto shapes = state_shapes(def, info);
  if (!shapes)
    return 0;
  std::uint64_t out = 0;
  for (const auto& one : shapes.value())
    out += one.size();
  return out;
}

} // namespace graphmill
