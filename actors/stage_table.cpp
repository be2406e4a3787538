#include "actors/stage_table.hpp"

namespace graphmill {

namespace {

std::shared_ptr<stage_counters> counters(const char* stage,
                                         std::size_t replicas) {
  return std::make_shared<stage_counters>(stage,
                                          static_cast<std::uint32_t>(replicas));
}

} // namespace

stage_table stage_table::of(const definition& def, std::size_t parts,
                            std::size_t trainers) {
  // Without trainers there are no batches to sample.
  return of(def, parts, trainers, trainers == 0 ? 0 : def.sampler.replicas, 0);
}

stage_table stage_table::of(const definition& def, std::size_t parts,
                            std::size_t trainers, std::size_t samplers,
                            std::size_t proxies) {
  const auto loaders = trainers == 0 ? 0u : 1u;
  stage_table out;
  out.sampling_service =
    counters("sampling service", parts * def.sampler.threads);
  out.sampler = counters("sampler", samplers);
  out.batch_proxy = counters("sampler proxy", proxies);
  out.feature_service = counters("feature service", parts * def.fetch.threads);
  out.fetcher = counters("fetcher", loaders * def.fetch.replicas);
  out.batcher = counters("batcher", trainers);
  out.trainer = counters("trainer", trainers);
  out.gradient_group = counters("gradient group", trainers == 0 ? 0 : 1);
  return out;
}

std::vector<stage_report> stage_table::reports() const {
  std::vector<stage_report> out;
  for (const auto& stage :
       {sampling_service, sampler, batch_proxy, feature_service, fetcher,
        batcher, trainer, gradient_group})
    if (stage && (stage != batch_proxy || stage->report().replicas != 0))
      out.push_back(stage->report());
  return out;
}

} // namespace graphmill
