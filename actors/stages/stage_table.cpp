#include "actors/stages/stage_table.hpp"

#include "partition/disk/row_reader.hpp"

namespace graphmill {

namespace {

std::shared_ptr<stage_counters> counters(const char* stage,
                                         std::size_t replicas) {
  return std::make_shared<stage_counters>(stage,
                                          static_cast<std::uint32_t>(replicas));
}

disk_use report_of(const disk_counters& disk) {
  disk_use out;
  out.readers.stage = "row reader";
  out.readers.replicas = disk.readers;
  out.readers.items = disk.rows;
  out.readers.bytes = disk.bytes;
  out.readers.busy_seconds = double(disk.busy_ns.load()) * 1e-9;
  out.readers.cpu_seconds = double(disk.cpu_ns.load()) * 1e-9;
  out.rows_wanted = disk.wanted;
  out.rows_found = disk.found;
  out.rows_shared = disk.shared;
  out.reads = {disk.reads, disk.bytes};
  return out;
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

work_report stage_table::report() const {
  work_report out;
  for (const auto& stage :
       {sampling_service, sampler, batch_proxy, feature_service, fetcher,
        batcher, trainer, gradient_group})
    if (stage && (stage != batch_proxy || stage->report().replicas != 0))
      out.stages.push_back(stage->report());
  if (disk)
    out.disk = report_of(*disk);
  return out;
}

} // namespace graphmill
