#include "pipelines/definition/model_traits.hpp"
#include "pipelines/definition/validation/edge_features.hpp"
#include "pipelines/definition/validation/edge_weights.hpp"
#include "pipelines/definition/validation/time_checks.hpp"
#include "pipelines/definition/validation/validation.hpp"

#include <algorithm>

namespace graphmill {

std::vector<std::string> edge_type_names(const dataset_info& info) {
  std::vector<std::string> names;
  for (std::size_t e = 0; e < info.edge_types.size(); ++e) {
    names.push_back(info.edge_type_name(static_cast<edge_type_id>(e)));
    names.push_back(info.edge_types[e].name);
  }
  return names;
}

result<sampling_scheme> resolve_fanouts(const definition& def,
                                        const dataset_info& info) {
  sampling_scheme scheme;
  scheme.kind = def.sampler.kind();
  scheme.weights = weighs_edges(def, info);
  scheme.places = reads_edge_features(def, info);
  if (!def.task.empty())
    scheme.level = 0; // What is held out carries no message.
  scheme.time = time_rule_of(def, info);
  for (const auto fanout : def.sampler.fanouts)
    scheme.fanouts.emplace_back(info.edge_types.size(), fanout);
  for (const auto& [key, values] : def.sampler.edge_fanouts) {
    const auto type = info.find_edge_type(key);
    if (!type)
      return fail(ec::invalid_argument, "{} has no edge type {}{}",
                  in_quotes(info.name), in_quotes(key),
                  suggestion(key, edge_type_names(info)));
    if (values.size() != scheme.fanouts.size())
      return fail(ec::invalid_argument,
                  "the fanouts of {} are for {} hops, those of `default` for "
                  "{}",
                  in_quotes(key), values.size(), scheme.fanouts.size());
    for (std::size_t hop = 0; hop < values.size(); ++hop)
      scheme.fanouts[hop][static_cast<std::size_t>(*type)] = values[hop];
  }
  if (const auto& traits = traits_of(def.model.kind);
      traits.looks_up && !traits.hears())
    for (auto& hop : scheme.fanouts)
      std::fill(hop.begin(), hop.end(), 0);
  return scheme;
}

result<sampling_scheme> resolve_evaluation_fanouts(const definition& def,
                                                   const dataset_info& info) {
  GRAPHMILL_TRY(auto scheme, resolve_fanouts(def, info));
  if (def.evaluate.visible == visible_edges::past)
    scheme.level = all_levels; // Times keep later edges away.
  if (def.evaluate.neighbours == neighbour_use::sampled)
    return scheme;
  scheme.kind = draw_kind::without_replacement;
  for (auto& hop : scheme.fanouts)
    for (auto& fanout : hop)
      fanout = fanout == 0 ? 0 : -1;
  return scheme;
}

} // namespace graphmill
