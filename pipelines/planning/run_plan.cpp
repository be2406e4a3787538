#include "pipelines/planning/run_plan.hpp"

#include "messages/words/byte_text.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/sampling/rows/row_cache.hpp"
#include "pipelines/definition/sizes/trainer_sizes.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/flow/batch_size.hpp"
#include "pipelines/flow/negatives.hpp"
#include "pipelines/model/memory_estimate.hpp"
#include "pipelines/planning/budget_note.hpp"
#include "pipelines/task/chosen_target.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace graphmill {

namespace {

/// What a plan for the most trainers leaves open.
std::string size_note(const definition& def) {
  const auto& trainer = def.trainer;
  if (!trainer.sizes.empty())
    return fmt::format("the number of trainers changes after epochs/steps, as "
                       "`trainer.sizes` says: {}; the figures are of {}",
                       sizes_text(sizes_of(def)), trainer.replicas);
  return fmt::format("a run on a cluster has from {} to {} trainers, as its "
                     "daemons take them, and records when their number "
                     "changes; the figures are of {}",
                     trainer.min_replicas, trainer.replicas, trainer.replicas);
}

std::int64_t divided_up(std::int64_t total, std::int64_t by) {
  return total / by + (total % by != 0);
}

/// A batch of one trainer and what bounds it.
struct bounded_batch {
  planned_batch shown;
  subgraph_bound bound;
};

bounded_batch bound_batch(const definition& def, const dataset_info& info,
                          phase which, const sampling_scheme& sampling,
                          std::int64_t batch_size, std::int64_t seeds) {
  bounded_batch out;
  auto& shown = out.shown;
  const auto trainers = std::int64_t{def.trainer.replicas};
  shown.steps = divided_up(seeds, batch_size);
  shown.seeds = divided_up(std::min(batch_size, seeds), trainers);
  out.bound =
    bound_of(info, sampling, seed_bound(def, info, which, shown.seeds));
  const auto& nodes = out.bound.nodes;
  const auto& edges = out.bound.edges;
  shown.nodes = std::accumulate(nodes.begin(), nodes.end(), std::int64_t{0});
  shown.edges = std::accumulate(edges.begin(), edges.end(), std::int64_t{0});
  shown.bytes = bytes_of(out.bound, info, needs_of(def, info), sampling)
                + row_bound(def, info, which, shown.seeds);
  return out;
}

std::vector<planned_stage> plan_stages(const definition& def, part_id parts) {
  const run_extent whole{static_cast<std::uint32_t>(parts),
                         def.trainer.replicas, def.sampler.replicas, 0};
  std::vector<planned_stage> out;
  for (auto& stage : list_stages(def, whole))
    if (!stage.planned.name.empty())
      out.push_back(std::move(stage.planned));
  return out;
}

/// Bytes of a cache of remote rows: no more than there are of other parts.
planned_memory bound_cache(const definition& def, const dataset_info& info,
                           part_id parts) {
  planned_memory out{"cache of remote rows", 0};
  if (parts == 1 || def.fetch.cache == 0)
    return out;
  std::uint64_t total = 0;
  auto least = std::numeric_limits<std::uint64_t>::max();
  for (const auto& type : info.node_types)
    if (type.feature_width > 0) {
      const auto row = kept_row_bytes(type, rounds_features(def));
      total += static_cast<std::uint64_t>(type.count) * row;
      least = std::min(least, row);
    }
  const auto rows = std::min(def.fetch.cache, total);
  out.bytes = rows + rows / least * row_cache::bytes_per_row;
  return out;
}

/// Bytes of the analysis that chooses what to cache, before the first batch.
std::uint64_t choosing_bytes(const definition& def, const dataset_info& info,
                             part_id parts) {
  std::uint64_t nodes = 0;
  for (const auto& type : info.node_types)
    nodes += static_cast<std::uint64_t>(type.count);
  return parts == 1 || def.fetch.cache == 0 ? 0
                                            : nodes * inclusion::bytes_per_node;
}

/// Bytes for lists that threads of a sampling service read as a whole.
planned_memory bound_lists(const definition& def, const dataset_info& info,
                           part_id parts, const sampling_scheme& training,
                           const sampling_scheme& evaluation) {
  const auto longest =
    std::max(list_bytes(info, training), list_bytes(info, evaluation));
  return {"lists that are read whole",
          longest * def.sampler.threads * static_cast<std::uint64_t>(parts)};
}

void add_notes(const definition& def, const dataset_info& info,
               run_plan& plan) {
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  if (auto note = note_on_budget(plan))
    plan.notes.push_back(*std::move(note));
  if (target.class_count > unquestioned_classes)
    plan.notes.push_back(fmt::format(
      "there are {} classes: each is a row of weights, and the scores of a "
      "batch take {}; `graphmill inspect` says how many nodes they have",
      target.class_count,
      byte_text(static_cast<std::uint64_t>(
        std::max(plan.train.seeds, plan.evaluation.seeds) * target.class_count
        * std::int64_t{sizeof(float)}))));
  for (auto note : {note_on_graph(def, info), note_on_metric(def, info)})
    if (note)
      plan.notes.push_back(*std::move(note));
  if (std::min<std::int64_t>(def.train.batch_size, target.split_counts[0])
      < std::int64_t{def.trainer.replicas})
    plan.notes.push_back("there are fewer seeds per step than trainers, so "
                         "some have nothing to do");
  if (def.trainer.is_elastic())
    plan.notes.push_back(size_note(def));
}

} // namespace

std::uint64_t run_plan::total_memory() const {
  std::uint64_t total = 0;
  for (const auto& part : memory)
    total += part.bytes;
  return total;
}

result<run_plan> plan_run(const definition& def, const dataset_info& whole,
                          part_id parts) {
  GRAPHMILL_TRY(const auto info, choose_target(whole, def));
  GRAPHMILL_TRY(const auto sampling, resolve_fanouts(def, info));
  GRAPHMILL_TRY(const auto evaluation, resolve_evaluation_fanouts(def, info));
  const auto& seeds =
    info.node_types[static_cast<std::size_t>(info.target)].split_counts;
  const auto train = bound_batch(def, info, phase::train, sampling,
                                 def.train.batch_size, seeds[0]);
  // Given negatives of one of these splits make its batches other ones.
  const auto validation = bound_batch(def, info, phase::validation, evaluation,
                                      def.evaluate.batch_size, seeds[1]);
  const auto test = bound_batch(def, info, phase::test, evaluation,
                                def.evaluate.batch_size, seeds[2]);
  const auto size = [](const bounded_batch& of) {
    return of.shown.seeds == 0 ? std::pair<std::uint64_t, std::int64_t>{}
                               : std::pair{of.shown.bytes, of.shown.steps};
  };
  const auto& other = size(validation) < size(test) ? test : validation;
  run_plan plan;
  plan.stages = plan_stages(def, parts);
  plan.train = train.shown;
  plan.evaluation = other.shown;
  plan.total_steps = train.shown.steps * std::int64_t{def.train.epochs};
  if (def.train.max_steps != 0)
    plan.total_steps =
      std::min(plan.total_steps, std::int64_t{def.train.max_steps});
  plan.budget_bytes = def.budget.bytes;
  const auto trainers = std::uint64_t{def.trainer.replicas};
  plan.batches_in_flight = def.budget.batches * trainers;
  const auto costs = estimate_memory(def, info, train.bound);
  auto activations = costs.activations;
  for (const auto* of : {&validation, &test})
    if (of->shown.seeds != 0)
      activations = std::max(activations,
                             estimate_memory(def, info, of->bound).activations);
  plan.memory = {
    {batches_entry,
     std::max({def.budget.bytes, train.shown.bytes, other.shown.bytes,
               choosing_bytes(def, info, parts)})},
    {"parameters and optimizer", costs.parameters * trainers},
    {"activations", activations * trainers},
    {allowance_entry, memory_allowance},
  };
  if (auto cache = bound_cache(def, info, parts); cache.bytes != 0)
    plan.memory.insert(plan.memory.begin() + 1, std::move(cache));
  if (auto lists = bound_lists(def, info, parts, sampling, evaluation);
      lists.bytes != 0)
    plan.memory.insert(plan.memory.begin() + 1, std::move(lists));
  add_notes(def, info, plan);
  return plan;
}

} // namespace graphmill
