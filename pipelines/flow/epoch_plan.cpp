#include "pipelines/flow/epoch_plan.hpp"

#include "messages/base/random.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace graphmill {

namespace {

void shuffle(std::span<seed_row> seeds, std::uint64_t key) {
  random_stream draws{key, 0};
  for (auto left = seeds.size(); left > 1; --left)
    std::swap(seeds[left - 1], seeds[draw_below(draws, left)]);
}

/// How many seeds each rank takes; the surplus goes to the first ranks.
std::vector<std::int64_t> equal_counts(std::int64_t total, rank_id ranks) {
  std::vector<std::int64_t> counts(ranks, total / ranks);
  for (rank_id r = 0; r < total % ranks; ++r)
    ++counts[r];
  return counts;
}

/// As above, but the surplus goes first to ranks near to which more seeds lie
/// than everybody takes.
/// @param near The near rank of each seed.
std::vector<std::int64_t> wanted_counts(std::int64_t total, rank_id ranks,
                                        std::span<const rank_id> near) {
  std::vector<std::int64_t> wanted(ranks, 0);
  for (auto r : near)
    ++wanted[r];
  const auto base = total / ranks;
  auto surplus = total % ranks;
  std::vector<std::int64_t> counts(ranks, base);
  for (const bool eager : {true, false})
    for (rank_id r = 0; r < ranks && surplus > 0; ++r)
      if ((wanted[r] > base) == eager) {
        ++counts[r];
        --surplus;
      }
  return counts;
}

} // namespace

epoch_plan::epoch_plan(std::int64_t rows, epoch_plan_options options,
                       std::uint64_t run_seed, phase which, std::int32_t epoch)
  : options_(std::move(options)), rows_(rows) {
  options_.batch_size = std::max<std::int64_t>(options_.batch_size, 1);
  options_.ranks = std::max<rank_id>(options_.ranks, 1);
  if (which != phase::train || !options_.shuffle)
    return;
  shuffled_.resize(static_cast<std::size_t>(rows));
  std::iota(shuffled_.begin(), shuffled_.end(), seed_row{0});
  shuffle(shuffled_, stream_key(run_seed, purpose::permutation,
                                static_cast<std::uint64_t>(epoch), 0));
}

std::int64_t epoch_plan::steps() const {
  return rows_ / options_.batch_size + (rows_ % options_.batch_size != 0);
}

std::int64_t epoch_plan::global_seeds(std::int64_t step) const {
  if (step < 0 || step >= steps())
    return 0;
  return std::min(options_.batch_size, rows_ - step * options_.batch_size);
}

std::vector<seed_row> epoch_plan::seeds(std::int64_t step, rank_id rank) const {
  if (rank < 0 || rank >= options_.ranks)
    return {};
  return std::move(split(step)[rank]);
}

std::vector<std::vector<seed_row>> epoch_plan::split(std::int64_t step) const {
  const auto seeds = of_step(step);
  const auto total = static_cast<std::int64_t>(seeds.size());
  std::vector<std::vector<seed_row>> out(options_.ranks);
  if (options_.order == seed_order::global) {
    auto next = seeds.begin();
    const auto counts = equal_counts(total, options_.ranks);
    for (rank_id r = 0; r < options_.ranks; ++r) {
      out[r].assign(next, next + counts[r]);
      next += counts[r];
    }
    return out;
  }
  // Each rank takes seeds near it, in the order of the step, until it has as
  // many as its count. The others are dealt out afterwards, in a second pass
  // over all seeds, so that every rank keeps the order of the step.
  constexpr rank_id nobody = -1;
  auto taker = near_ranks(seeds);
  auto room = wanted_counts(total, options_.ranks, taker);
  for (auto& r : taker)
    r = room[r] > 0 ? (--room[r], r) : nobody;
  rank_id free = 0;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    auto r = taker[i];
    if (r == nobody) {
      while (room[free] == 0)
        ++free;
      r = free;
      --room[free];
    }
    out[r].push_back(seeds[i]);
  }
  return out;
}

std::vector<seed_row> epoch_plan::of_step(std::int64_t step) const {
  const auto begin = step * options_.batch_size;
  std::vector<seed_row> out(static_cast<std::size_t>(global_seeds(step)));
  if (shuffled_.empty())
    std::iota(out.begin(), out.end(), begin);
  else
    std::copy_n(shuffled_.begin() + begin, out.size(), out.begin());
  return out;
}

std::vector<rank_id>
epoch_plan::near_ranks(std::span<const seed_row> seeds) const {
  std::vector<rank_id> near(seeds.size(), 0);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const auto part = options_.owner ? options_.owner(seeds[i]) : 0;
    near[i] = part % options_.ranks;
  }
  return near;
}

epoch_plan_options plan_options(const definition& def,
                                std::shared_ptr<const partitioned_graph> graph,
                                std::shared_ptr<const seed_table> seeds,
                                rank_id world, phase which) {
  epoch_plan_options out;
  out.batch_size =
    which == phase::train ? def.train.batch_size : def.evaluate.batch_size;
  out.ranks = world;
  out.shuffle = def.train.shuffle;
  // What comes out of weights does not depend on parts, whatever training did.
  out.order = trains_nothing(def) ? seed_order::global : def.train.seed_order;
  out.owner = [graph = std::move(graph),
               seeds = std::move(seeds)](seed_row row) {
    const auto& column = seeds->columns.front();
    return graph->owner(column.type_of(row), column.node_of(row));
  };
  return out;
}

std::vector<seed_chance>
seed_chances(const definition& def,
             const std::shared_ptr<const partitioned_graph>& graph,
             rank_id world, rank_id rank) {
  // Which seeds a rank takes differs little from epoch to epoch, or is left to
  // chance: more epochs would take time and tell little.
  constexpr std::uint32_t most_epochs = 8;
  const auto epochs = std::clamp(def.train.epochs, 1U, most_epochs);
  const auto seeds = table_of(graph, split::train);
  std::vector<seed_chance> out;
  std::int64_t steps = 1;
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    const epoch_plan plan{
      seeds->rows(), plan_options(def, graph, seeds, world, phase::train),
      def.seed, phase::train, static_cast<std::int32_t>(epoch)};
    steps = std::max<std::int64_t>(plan.steps(), 1);
    for (std::int64_t step = 0; step < plan.steps(); ++step)
      for (const auto row : plan.seeds(step, rank))
        for (const auto& column : seeds->columns)
          out.push_back({column.node_of(row), 1, column.type_of(row)});
  }
  const auto node = [](const seed_chance& seed) {
    return std::pair{seed.type, seed.id};
  };
  std::sort(out.begin(), out.end(),
            [node](const auto& a, const auto& b) { return node(a) < node(b); });
  std::size_t distinct = 0;
  for (const auto& seed : out)
    if (distinct != 0 && node(out[distinct - 1]) == node(seed))
      out[distinct - 1].chance += 1;
    else
      out[distinct++] = seed;
  out.resize(distinct);
  const auto batches = static_cast<float>(epochs) * static_cast<float>(steps);
  for (auto& seed : out)
    seed.chance = std::min(seed.chance / batches, 1.0F);
  return out;
}

} // namespace graphmill
