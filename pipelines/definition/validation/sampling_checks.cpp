#include "pipelines/definition/validation/sampling_checks.hpp"

#include "pipelines/definition/model_traits.hpp"
#include "pipelines/definition/validation/edge_features.hpp"
#include "pipelines/definition/validation/edge_weights.hpp"
#include "pipelines/definition/validation/validation.hpp"

#include <fmt/format.h>

namespace graphmill {

namespace {

/// What the checks work on.
struct checked_sampling {
  const definition& def;
  const dataset_info& info;
  std::vector<std::pair<std::string, std::string>>& problems;

  void report(const char* path, std::string text) const {
    problems.emplace_back(path, std::move(text));
  }
};

void check_method(const checked_sampling& c) {
  if (c.def.sampler.method == sampling_method::weighted
      && !has_edge_weights(c.info))
    c.report("sampler.method",
             fmt::format("`sampler.method` is `weighted`, but edges of {} have "
                         "no weights; leave it out, or import weights",
                         in_quotes(c.info.name)));
}

/// Types that need a type of their reverses, or a way back.
void check_opposites(const checked_sampling& c) {
  const auto& sampler = c.def.sampler;
  const auto walks = sampler.method == sampling_method::pinsage;
  if (!walks && sampler.subgraph != subgraph_kind::bidirectional)
    return;
  auto plain = c.def;
  plain.sampler.subgraph = subgraph_kind::directional;
  plain.sampler.method = sampling_method::uniform;
  auto scheme = resolve_fanouts(plain, c.info);
  if (!scheme)
    return; // That is reported with the name of the type.
  scheme.value().method = sampler.method;
  for (edge_type_id type = 0; type < std::ssize(c.info.edge_types); ++type)
    if (auto text = problem_with_opposite(c.info, scheme.value(), type))
      c.report(walks ? "sampler.method" : "sampler.subgraph", *std::move(text));
}

/// Edges that the graph does not have have neither features nor ages.
void check_features(const checked_sampling& c) {
  if (reads_ages(c.def, c.info)) {
    if (c.def.sampler.subgraph == subgraph_kind::bidirectional)
      c.report("sampler.subgraph",
               "`sampler.subgraph: bidirectional` adds edges without ages, "
               "which the model reads; use induced, or leave out "
               "model.edge_ages");
    if (c.def.sampler.method == sampling_method::pinsage)
      c.report("sampler.method",
               "`sampler.method: pinsage` makes edges of visits, without "
               "ages, which the model reads; leave out model.edge_ages");
  }
  if (!reads_edge_features(c.def, c.info))
    return;
  if (c.def.sampler.subgraph == subgraph_kind::bidirectional)
    c.report("sampler.subgraph",
             "`sampler.subgraph: bidirectional` adds edges without features, "
             "which the model reads; use induced, or set model.edge_features: "
             "ignore");
  if (c.def.sampler.method == sampling_method::pinsage)
    c.report("sampler.method",
             "`sampler.method: pinsage` makes edges of visits, without "
             "features, which the model reads; set model.edge_features: "
             "ignore");
}

/// Visits are not the neighbours that degrees count.
void check_degrees(const checked_sampling& c) {
  const auto& traits = traits_of(c.def.model.kind);
  if (c.def.sampler.method == sampling_method::pinsage
      && traits.needs_degrees())
    c.report("sampler.method",
             fmt::format("`sampler.method: pinsage` weighs messages by visits, "
                         "and {} divides by degrees; use another kind, such as "
                         "sage",
                         traits.name));
}

} // namespace

std::vector<std::pair<std::string, std::string>>
problems_with_sampling(const definition& def, const dataset_info& info,
                       bool feeding) {
  std::vector<std::pair<std::string, std::string>> out;
  const checked_sampling c{def, info, out};
  check_method(c);
  check_opposites(c);
  if (!feeding) {
    check_features(c);
    check_degrees(c);
  }
  return out;
}

} // namespace graphmill
