#include "pipelines/planning/cache_report.hpp"

#include "messages/base/random.hpp"
#include "partition/sampling/rows/hot_nodes.hpp"
#include "pipelines/definition/placement.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/flow/epoch_plan.hpp"
#include "pipelines/flow/negatives.hpp"
#include "pipelines/flow/step_seeds.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace graphmill {

namespace {

constexpr std::array fractions{0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0};

/// One daemon with trainers, how much it expects to want each node's row, and
/// in how many batches of the epoch it did.
struct trainer_daemon {
  std::vector<part_id> parts;
  std::vector<rank_id> ranks;
  node_scores expected;
  node_scores wanted;
};

class row_count {
public:
  row_count(const definition& def,
            std::shared_ptr<const partitioned_graph> graph)
    : def_(def), graph_(std::move(graph)) {}

  result<cache_report> run(std::int32_t epoch) {
    GRAPHMILL_TRY(scheme_, resolve_fanouts(def_, info()));
    if (!draws_lists(scheme_.method))
      return fail(ec::invalid_argument,
                  "no chances of nodes are known for walks and budgets "
                  "(sampler.method), so caches by them cannot be compared");
    GRAPHMILL_TRY(negatives_, link_negatives::make(graph_, def_));
    for (part_id p = 0; p < graph_->part_count(); ++p) {
      GRAPHMILL_TRY(auto part, graph_->open_shard(p));
      shards_.push_back(std::move(part));
    }
    GRAPHMILL_TRYV(place_trainers());
    GRAPHMILL_TRYV(analyse());
    const auto table = table_of(graph_, split::train);
    const epoch_plan plan{
      table->rows(),
      plan_options(def_, graph_, table, trainers(), phase::train), def_.seed,
      phase::train, epoch};
    for (std::int64_t step = 0; step < plan.steps(); ++step)
      GRAPHMILL_TRYV(count_step(table, plan, epoch, step));
    return report(plan.steps());
  }

private:
  const dataset_info& info() const { return graph_->info(); }
  rank_id trainers() const {
    return static_cast<rank_id>(def_.trainer.replicas);
  }

  /// A daemon per part, each with room for its share of the trainers.
  result<void> place_trainers() {
    const auto parts = graph_->part_count();
    std::vector<daemon_offer> offers;
    for (part_id p = 0; p < parts; ++p)
      offers.push_back(
        {fmt::format("{:04}", p),
         "",
         {p},
         static_cast<std::uint32_t>((trainers() + parts - 1) / parts)});
    GRAPHMILL_TRY(const auto where, place(def_, parts, offers));
    for (std::uint16_t d = 0; d < where.daemons.size(); ++d)
      if (auto ranks = where.ranks_of(d); !ranks.empty())
        daemons_.push_back({where.parts_of(d), std::move(ranks), {}, {}});
    return ok();
  }

  /// Bytes of a cache, from the rows of a part on average.
  std::uint64_t budget(double fraction) const {
    double rows = 0;
    for (const auto& type : info().node_types)
      rows +=
        static_cast<double>(type.count)
        * static_cast<double>(kept_row_bytes(type, rounds_features(def_)));
    return static_cast<std::uint64_t>(fraction * rows / graph_->part_count());
  }

  result<void> analyse() {
    degrees_ = no_scores(info());
    for (const auto& part : shards_)
      add_degrees(*part, degrees_);
    for (auto& daemon : daemons_) {
      daemon.expected = no_scores(info());
      daemon.wanted = no_scores(info());
      for (auto rank : daemon.ranks)
        GRAPHMILL_TRYV(add_inclusion(
          *graph_, shards_, scheme_,
          seed_chances(def_, graph_, trainers(), rank), daemon.expected));
    }
    return ok();
  }

  result<void> count_step(const std::shared_ptr<const seed_table>& table,
                          const epoch_plan& plan, std::int32_t epoch,
                          std::int64_t step) {
    const auto key =
      stream_key(def_.seed, purpose::train, static_cast<std::uint64_t>(epoch),
                 static_cast<std::uint64_t>(step));
    const step_seeds seeds{table, info(), plan.split(step), scheme_.time,
                           def_.train.exclude == exclusion::pair};
    for (auto& daemon : daemons_)
      for (auto rank : daemon.ranks) {
        negative_lists negatives;
        if (negatives_)
          negatives =
            negatives_->of(*table, seeds.rows(rank), phase::train, epoch, step);
        GRAPHMILL_TRY(const auto batch, sample(*graph_, shards_, scheme_, key,
                                               seeds.batch(rank, negatives)));
        count(batch, daemon);
      }
    return ok();
  }

  void count(const sampled_subgraph& batch, trainer_daemon& daemon) const {
    for (std::size_t t = 0; t < batch.nodes.size(); ++t) {
      if (info().node_types[t].feature_width == 0)
        continue;
      const auto type = static_cast<node_type_id>(t);
      for (auto id : batch.nodes[t].ids) {
        const auto owner = graph_->owner(type, id);
        if (std::find(daemon.parts.begin(), daemon.parts.end(), owner)
            != daemon.parts.end())
          continue;
        daemon.wanted[t][static_cast<std::size_t>(id)] += 1;
      }
    }
  }

  /// Rows that a daemon asks for, with a cache chosen by `scores`.
  std::uint64_t asked(const trainer_daemon& daemon, const node_scores& scores,
                      std::uint64_t bytes) const {
    const auto hot = choose_hot_nodes(*graph_, daemon.parts, scores, bytes,
                                      rounds_features(def_));
    double rows = 0;
    for (std::size_t t = 0; t < daemon.wanted.size(); ++t) {
      rows +=
        std::accumulate(daemon.wanted[t].begin(), daemon.wanted[t].end(), 0.0);
      for (auto id : hot.ids[t])
        rows -= daemon.wanted[t][static_cast<std::size_t>(id)];
    }
    return static_cast<std::uint64_t>(rows);
  }

  cache_report report(std::int64_t steps) const {
    cache_report out{graph_->part_count(), trainers(), steps, {}};
    for (auto fraction : fractions) {
      cache_size size{fraction, budget(fraction)};
      for (const auto& daemon : daemons_) {
        size.vip += asked(daemon, daemon.expected, size.bytes);
        size.degree += asked(daemon, degrees_, size.bytes);
        size.least += asked(daemon, daemon.wanted, size.bytes);
      }
      out.sizes.push_back(size);
    }
    return out;
  }

  const definition& def_;
  std::shared_ptr<const partitioned_graph> graph_;
  sampling_scheme scheme_;
  std::shared_ptr<const link_negatives> negatives_;
  std::vector<std::shared_ptr<const shard>> shards_;
  std::vector<trainer_daemon> daemons_;
  node_scores degrees_;
};

} // namespace

result<cache_report>
count_remote_rows(const definition& def,
                  const std::shared_ptr<const partitioned_graph>& graph,
                  std::int32_t epoch) {
  return row_count{def, graph}.run(epoch);
}

} // namespace graphmill
