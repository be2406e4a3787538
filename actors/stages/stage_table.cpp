#include "actors/stages/stage_table.hpp"

#include "partition/disk/row_reader.hpp"

namespace graphmill {

namespace {

stage_report count(const char* what, std::uint64_t items,
                   std::uint64_t bytes = 0) {
  stage_report out;
  out.stage = what;
  out.items = items;
  out.bytes = bytes;
  return out;
}

void add_disk(const disk_counters& disk, std::vector<stage_report>& to) {
  auto reader = count("row reader", disk.rows, disk.bytes);
  reader.replicas = disk.readers;
  reader.busy_seconds = double(disk.busy_ns.load()) * 1e-9;
  reader.cpu_seconds = double(disk.cpu_ns.load()) * 1e-9;
  to.push_back(std::move(reader));
  to.push_back(count("disk: rows wanted", disk.wanted));
  to.push_back(count("disk: rows found", disk.found));
  to.push_back(count("disk: rows shared", disk.shared));
  to.push_back(count("disk: reads", disk.reads, disk.bytes));
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

std::vector<stage_report> stage_table::reports() const {
  std::vector<stage_report> out;
  const auto& proxy = (*this)[stage_kind::batch_proxy];
  for (const auto& stage : stages)
    if (stage && (stage != proxy || stage->report().replicas != 0))
      out.push_back(stage->report());
  if (disk)
    add_disk(*disk, out);
  return out;
}

} // namespace graphmill
