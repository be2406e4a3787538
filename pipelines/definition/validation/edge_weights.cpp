#include "pipelines/definition/validation/edge_weights.hpp"

#include "pipelines/definition/model_traits.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace graphmill {

bool has_edge_weights(const dataset_info& info) {
  return std::any_of(info.edge_types.begin(), info.edge_types.end(),
                     [](const edge_type_info& type) { return type.weighted; });
}

bool weighs_edges(const definition& def, const dataset_info& info) {
  // Visits of walks are weights, too.
  return def.model.edge_weights == edge_weight_use::use
         && traits_of(def.model.kind).weighs_edges()
         && (has_edge_weights(info)
             || def.sampler.method == sampling_method::pinsage);
}

std::optional<std::string> problem_with_edge_weights(const definition& def,
                                                     const dataset_info& info,
                                                     bool given) {
  const auto& traits = traits_of(def.model.kind);
  const auto ignored = def.model.edge_weights == edge_weight_use::ignore;
  if (!ignored && traits.hears() && !traits.weighs_edges()
      && has_edge_weights(info))
    return fmt::format("edges of {} have weights, and {} takes the largest "
                       "values of neighbours, which weigh nothing; set "
                       "model.edge_weights: ignore",
                       in_quotes(info.name), traits.name);
  if (!ignored || !given)
    return std::nullopt;
  if (!traits.hears())
    return fmt::format("`model.edge_weights` is for kinds that hear "
                       "neighbours, and {} does not; leave it out",
                       traits.name);
  if (!has_edge_weights(info) && def.sampler.method != sampling_method::pinsage)
    return fmt::format("`model.edge_weights` is `ignore`, but edges of {} have "
                       "no weights; leave it out",
                       in_quotes(info.name));
  return std::nullopt;
}

} // namespace graphmill
