#include "actors/cluster/daemon/shares/share_preparation.hpp"

#include "actors/process/processors.hpp"
#include "actors/run/member_setup.hpp"
#include "partition/dataset/data_records.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/reopened_graph.hpp"
#include "partition/dataset/verification/verification.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/planning/run_plan.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace graphmill {

namespace {

member_share share_of(const deployment& assignment) {
  member_share out;
  out.world = static_cast<rank_id>(assignment.daemon_of_rank.size());
  out.parts = assignment.parts_of(assignment.you);
  for (std::size_t r = 0; r < assignment.daemon_of_rank.size(); ++r)
    if (assignment.daemon_of_rank[r] == assignment.you)
      out.ranks.push_back(static_cast<rank_id>(r));
  return out;
}

/// Faults on purpose may be for other daemons alone.
void keep_own_faults(definition& def, const std::string& daemon) {
  const auto& theirs = def.faults.daemons;
  if (!theirs.empty()
      && std::find(theirs.begin(), theirs.end(), daemon) == theirs.end())
    def.faults = {};
}

/// What the outputs of a run are, if the dataset does not say it.
result<std::optional<label_meaning>> learnt_by(const deployment& assignment) {
  if (!assignment.learnt)
    return std::optional<label_meaning>{};
  const auto& told = *assignment.learnt;
  const auto kind = label_kind_of(told.kind);
  if (!kind || told.count <= 0)
    return fail(
      ec::invalid_argument,
      "run {} is refused: the kind of labels of its weights is unknown here",
      assignment.run);
  return std::optional{label_meaning{*kind, told.type, told.count}};
}

/// The share of a daemon that serves parts to a feed.
result<member_config>
open_served(const deployment& assignment, const definition& def,
            const std::shared_ptr<const partitioned_graph>& graph,
            const member_share& share, const storage_choice& storage) {
  if (!share.ranks.empty())
    return fail(ec::invalid_argument, "run {} is a feed, which is not for here",
                assignment.run);
  GRAPHMILL_TRYV(check_against(def, graph->info(), data_use::feeding));
  GRAPHMILL_TRY(auto out, open_member(def, graph, share, data_use::feeding));
  GRAPHMILL_TRYV(settle_storage(out, storage, run_plan{}));
  return out;
}

} // namespace

result<void> check_deployment(const deployment& assignment,
                              const std::string& daemon,
                              const join_request& offer,
                              const partitioned_graph& graph) {
  if (!offer.fault.empty())
    return fail(ec::invalid_data, "{}", offer.fault);
  if (assignment.dataset_digest != offer.dataset_digest
      || std::ssize(assignment.owner_of_part) != graph.part_count())
    return fail(ec::invalid_data,
                "run {} is on another dataset than the one "
                "that daemon \"{}\" serves",
                assignment.run, daemon);
  const auto& mine = offer.parts;
  for (const auto p : assignment.parts_of(assignment.you))
    if (std::find(mine.begin(), mine.end(), p) == mine.end())
      return fail(ec::invalid_argument, "daemon \"{}\" does not serve part {}",
                  daemon, p);
  return ok();
}

std::uint32_t sharers_of(const deployment& assignment) {
  return std::max(assignment.runs_at_once,
                  static_cast<std::uint32_t>(assignment.beside.size()) + 1);
}

result<member_config> open_share(const deployment& assignment,
                                 const share_sources& from,
                                 data_guard::records& records) {
  const auto share = share_of(assignment);
  GRAPHMILL_TRY(records, records_in(from.folder, share.parts));
  GRAPHMILL_TRY(const auto learnt, learnt_by(assignment));
  GRAPHMILL_TRY(const auto graph,
                as_learnt(reopen(from.folder, *from.graph), learnt));
  GRAPHMILL_TRYV(check_provable(assignment.def, *graph));
  auto setup = cluster_setup(assignment.def);
  keep_own_faults(setup.def, assignment.daemons[assignment.you].name);
  setup.storage = from.storage;
  setup.storage.sharers = sharers_of(assignment);
  settle_threads(setup.def, share.ranks.size(), from.processors);
  GRAPHMILL_TRY(auto out, assignment.feed
                            ? open_served(assignment, setup.def, graph, share,
                                          setup.storage)
                            : prepare_member(setup, graph, share));
  GRAPHMILL_TRYV(still_unchanged(records, replaced_files::count));
  return out;
}

} // namespace graphmill
