#include "partition/dataset/meaning/opposite_type.hpp"
#include "partition/sampling/node_budget.hpp"
#include "pipelines/definition/model_traits.hpp"
#include "pipelines/definition/validation/edge_features.hpp"
#include "pipelines/definition/validation/edge_weights.hpp"
#include "pipelines/definition/validation/time_checks.hpp"
#include "pipelines/definition/validation/validation.hpp"

#include <fmt/format.h>

namespace graphmill {

std::vector<std::string> edge_type_names(const dataset_info& info) {
  std::vector<std::string> names;
  for (std::size_t e = 0; e < info.edge_types.size(); ++e) {
    names.push_back(info.edge_type_name(static_cast<edge_type_id>(e)));
    names.push_back(info.edge_types[e].name);
  }
  return names;
}

namespace {

/// The fanouts of all hops: of types by number, -1 for those without a name of
/// their own.
/// @param find The number of a type, by its name.
template <class Find>
result<void> fill_fanouts(const definition& def, std::size_t types, Find find,
                          std::vector<std::vector<std::int32_t>>& out) {
  for (const auto fanout : def.sampler.fanouts)
    out.emplace_back(types, fanout);
  for (const auto& [key, values] : def.sampler.edge_fanouts) {
    GRAPHMILL_TRY(const auto type, find(key));
    if (values.size() != out.size())
      return fail(ec::invalid_argument,
                  "the fanouts of {} are for {} hops, those of `default` for "
                  "{}",
                  in_quotes(key), values.size(), out.size());
    for (std::size_t hop = 0; hop < values.size(); ++hop)
      out[hop][static_cast<std::size_t>(type)] = values[hop];
  }
  return ok();
}

result<node_type_id> node_type_named(const dataset_info& info,
                                     const std::string& name) {
  const auto type = info.find_node_type(name);
  if (!type)
    return fail(ec::invalid_argument, "{}", no_node_type(info, name));
  return *type;
}

result<edge_type_id> edge_type_named(const dataset_info& info,
                                     const std::string& name) {
  const auto type = info.find_edge_type(name);
  if (!type)
    return fail(ec::invalid_argument, "{} has no edge type {}{}",
                in_quotes(info.name), in_quotes(name),
                suggestion(name, edge_type_names(info)));
  return *type;
}

/// What methods need that do not take in-edges out of lists alone.
result<void> settle_method(const definition& def, const dataset_info& info,
                           sampling_scheme& scheme) {
  const auto& sampler = def.sampler;
  if (draws_lists(sampler.method))
    return ok();
  scheme.method = sampler.method;
  scheme.walk = {1, static_cast<std::int32_t>(sampler.walk_length), 0};
  if (sampler.method == sampling_method::pinsage) {
    scheme.walk.walks = static_cast<std::int32_t>(sampler.walks);
    scheme.walk.stop = static_cast<std::uint64_t>(sampler.restart * 0x1p+32);
    return ok();
  }
  scheme.subgraph = subgraph_kind::induced;
  if (sampler.method == sampling_method::saint)
    return ok();
  scheme.fanouts.clear();
  GRAPHMILL_TRYV(fill_fanouts(
    def, info.node_types.size(),
    [&info](const auto& name) { return node_type_named(info, name); },
    scheme.budgets));
  for (std::size_t hop = 0; hop < scheme.budgets.size(); ++hop)
    scheme.fanouts.emplace_back(info.edge_types.size(),
                                node_budget::most_proposals);
  return ok();
}

/// The types of reverses, or of the way back.
result<void> settle_opposites(const dataset_info& info,
                              sampling_scheme& scheme) {
  const auto walks = scheme.method == sampling_method::pinsage;
  if (!walks && scheme.subgraph != subgraph_kind::bidirectional)
    return ok();
  for (edge_type_id type = 0; type < std::ssize(info.edge_types); ++type) {
    const auto opposite =
      scheme.samples(type) ? opposite_type(info, type) : std::nullopt;
    if (auto wrong = problem_with_opposite(info, scheme, type))
      return fail(ec::invalid_argument, "{}", *wrong);
    scheme.opposites.push_back(opposite.value_or(-1));
  }
  return ok();
}

} // namespace

result<sampling_scheme> resolve_fanouts(const definition& def,
                                        const dataset_info& info) {
  sampling_scheme scheme;
  scheme.kind = def.sampler.kind();
  scheme.weights = weighs_edges(def, info);
  scheme.places = reads_edge_features(def, info);
  if (!def.task.empty())
    scheme.level = 0; // What is held out carries no message.
  scheme.time = time_rule_of(def, info);
  scheme.ages = reads_ages(def, info);
  if (def.sampler.method != sampling_method::hgt)
    GRAPHMILL_TRYV(fill_fanouts(
      def, info.edge_types.size(),
      [&info](const auto& name) { return edge_type_named(info, name); },
      scheme.fanouts));
  if (const auto& traits = traits_of(def.model.kind);
      traits.looks_up && !traits.hears()) {
    scheme.fanouts.assign(def.sampler.fanouts.size(),
                          std::vector<std::int32_t>(info.edge_types.size()));
    return scheme;
  }
  scheme.subgraph = def.sampler.subgraph;
  GRAPHMILL_TRYV(settle_method(def, info, scheme));
  GRAPHMILL_TRYV(settle_opposites(info, scheme));
  return scheme;
}

std::string no_node_type(const dataset_info& info, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& type : info.node_types)
    names.push_back(type.name);
  return fmt::format(
    "{} has no node type {}{}, and `sampler.method: hgt` takes "
    "as many nodes of each type as `sampler.fanouts` says",
    in_quotes(info.name), in_quotes(name), suggestion(name, names));
}

std::optional<std::string> problem_with_opposite(const dataset_info& info,
                                                 const sampling_scheme& scheme,
                                                 edge_type_id type) {
  const auto& about = info.edge_types[static_cast<std::size_t>(type)];
  const auto walks = scheme.method == sampling_method::pinsage;
  if (!scheme.samples(type) || (walks && about.source == about.destination))
    return std::nullopt;
  const auto opposite = opposite_type(info, type);
  if (!opposite)
    return fmt::format(
      "edge type {} of {} has no reverse type (rev_{}): import "
      "with --reverse, or set its fanouts to 0",
      in_quotes(info.edge_type_name(type)), in_quotes(info.name), about.name);
  if (!walks && !scheme.samples(*opposite))
    return fmt::format("edge type {} of {} is sampled, and that of its "
                       "reverses, {}, is not: set the fanouts of both to 0, or "
                       "of none",
                       in_quotes(info.edge_type_name(type)),
                       in_quotes(info.name),
                       in_quotes(info.edge_type_name(*opposite)));
  return std::nullopt;
}

result<sampling_scheme> resolve_evaluation_fanouts(const definition& def,
                                                   const dataset_info& info) {
  GRAPHMILL_TRY(auto scheme, resolve_fanouts(def, info));
  if (def.evaluate.visible == visible_edges::past)
    scheme.level = all_levels; // Times keep later edges away.
  if (def.evaluate.neighbours == neighbour_use::sampled)
    return scheme;
  scheme.kind = draw_kind::without_replacement;
  scheme.method = sampling_method::uniform;
  scheme.budgets.clear();
  scheme.subgraph = subgraph_kind::directional; // Rows have all in-edges.
  for (auto& hop : scheme.fanouts)
    for (auto& fanout : hop)
      fanout = fanout == 0 ? 0 : -1;
  return scheme;
}

} // namespace graphmill
