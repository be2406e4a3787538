#include "actors/run/member/open_member.hpp"

#include "partition/disk/row_reader.hpp"
#include "pipelines/definition/validation/time_checks.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/task/chosen_target.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace graphmill {

namespace {

/// Stages wait for the disk more than they work: so many as batches that can be
/// in flight keep it busy.
constexpr std::uint32_t most_waiting = 16;

/// Leaves the parts on disk.
result<void> read_from_disk(member_config& member) {
  member.disk = std::make_shared<disk_counters>();
  member.row_readers.resize(member.shards.size());
  for (std::size_t p = 0; p < member.shards.size(); ++p) {
    const auto& part = member.shards[p];
    if (!part)
      continue;
    leave_on_disk(*part);
    const auto features = bytes_of(*part).features;
    if (features == 0)
      continue;
    row_reader::options options;
    options.rounded = rounds_features(member.def);
    options.cache_bytes = static_cast<std::uint64_t>(
      double(member.storage.memory.row_cache) * double(features)
      / double(member.storage.data.features));
    GRAPHMILL_TRY(member.row_readers[p],
                  row_reader::start(part, options, member.disk));
  }
  auto& def = member.def;
  def.budget.bytes = member.storage.batch_bytes;
  const auto stages = std::min<std::uint64_t>(
    most_waiting, std::uint64_t{def.budget.batches} * def.trainer.replicas);
  for (auto* count : {&def.sampler.replicas, &def.sampler.threads,
                      &def.fetch.replicas, &def.fetch.threads})
    *count = std::max(*count, static_cast<std::uint32_t>(stages));
  return ok();
}

} // namespace

member_share member_share::all(const definition& def,
                               const partitioned_graph& graph) {
  member_share out;
  out.world = static_cast<rank_id>(def.trainer.replicas);
  out.parts.resize(static_cast<std::size_t>(graph.part_count()));
  std::iota(out.parts.begin(), out.parts.end(), part_id{0});
  out.ranks.resize(def.trainer.replicas);
  std::iota(out.ranks.begin(), out.ranks.end(), rank_id{0});
  return out;
}

result<member_config>
open_member(const definition& def,
            std::shared_ptr<const partitioned_graph> whole,
            const member_share& share, data_use use, bool negatives) {
  auto graph = std::move(whole);
  if (!def.labels.empty() || !def.task.empty()) {
    GRAPHMILL_TRY(auto chosen, choose_target(*graph, def));
    graph = std::make_shared<const partitioned_graph>(std::move(chosen));
  }
  const auto& info = graph->info();
  GRAPHMILL_TRY(auto train_scheme, resolve_fanouts(def, info));
  GRAPHMILL_TRY(auto evaluate_scheme, resolve_evaluation_fanouts(def, info));
  member_config out;
  out.def = def;
  out.graph = graph;
  out.shards.resize(static_cast<std::size_t>(graph->part_count()));
  for (auto part : share.parts) {
    GRAPHMILL_TRY(auto opened, graph->open_shard(part));
    if (use != data_use::weights_alone)
      GRAPHMILL_TRYV(check_visible_past(def, *opened));
    out.shards[static_cast<std::size_t>(part)] = std::move(opened);
  }
  out.world = share.world;
  out.ranks = share.ranks;
  if (!share.ranks.empty() && negatives) {
    GRAPHMILL_TRY(out.negatives, link_negatives::make(graph, def));
  }
  out.train_scheme =
    std::make_shared<const sampling_scheme>(std::move(train_scheme));
  out.evaluate_scheme =
    std::make_shared<const sampling_scheme>(std::move(evaluate_scheme));
  return out;
}

result<void> settle_storage(member_config& member, const storage_choice& choice,
                            const run_plan& plan) {
  part_bytes data;
  for (const auto& part : member.shards)
    if (part)
      data += bytes_of(*part);
  member.storage =
    decide_storage(member.def, plan, choice, data, memory_available());
  if (member.storage.from_disk) {
    GRAPHMILL_TRYV(read_from_disk(member));
  } else if (choice.where == storage_kind::automatic) { // They surely fit.
    for (const auto& part : member.shards)
      if (part)
        keep_in_memory(*part);
  }
  member.pool = buffer_pool::make(member.def.budget.bytes);
  return ok();
}

} // namespace graphmill
