#include "actors/stages/stage_table.hpp"

#include "partition/disk/row_reader.hpp"

namespace graphmill {

namespace {

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
  const run_extent extent{
    static_cast<std::uint32_t>(parts), static_cast<std::uint32_t>(trainers),
    static_cast<std::uint32_t>(samplers), static_cast<std::uint32_t>(proxies)};
  stage_table out;
  for (const auto& stage : list_stages(def, extent))
    out.stages[static_cast<std::size_t>(stage.kind)] =
      std::make_shared<stage_counters>(stage.name, stage.workers);
  return out;
}

work_report stage_table::report() const {
  work_report out;
  const auto& proxy = (*this)[stage_kind::batch_proxy];
  for (const auto& stage : stages)
    if (stage && (stage != proxy || stage->report().replicas != 0))
      out.stages.push_back(stage->report());
  if (disk)
    out.disk = report_of(*disk);
  return out;
}

} // namespace graphmill
