#include "actors/feed/prepared_feed.hpp"

#include "actors/run/member/open_member.hpp"
#include "partition/dataset/data_records.hpp"
#include "partition/dataset/reopened_graph.hpp"
#include "partition/dataset/verification/verification.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/validation/edge_weights.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/flow/batch_size.hpp"
#include "pipelines/flow/epoch_plan.hpp"
#include "pipelines/flow/seed_table.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// A consumer may keep a batch for as long as it likes.
constexpr std::uint32_t patience_seconds = 1u << 30;

result<definition> definition_of(const feed_request& request,
                                 const dataset_info& info) {
  if (!request.file.empty()) {
    GRAPHMILL_TRY(auto source,
                  load_definition(request.file, request.overrides));
    return source.value;
  }
  auto source =
    parse_definition(request.definition, "loader", request.overrides);
  if (!source.problems.empty())
    return to_error(source.problems);
  source.value.dataset = info.name; // The request names the folder.
  return source.value;
}

result<void> check_form(const batch_form& form, const dataset_info& info) {
  if (form.merged && info.node_types.size() > 1)
    return fail(ec::invalid_argument,
                "\"{}\" has {} node types, so its edge types cannot be merged: "
                "leave merge_edge_types out",
                info.name, info.node_types.size());
  if (form.edge_weights && !has_edge_weights(info))
    return fail(ec::invalid_argument,
                "edges of \"{}\" have no weights: leave edge_weights out",
                info.name);
  return ok();
}

/// The global ids of original ones, in their order.
result<std::vector<node_id>> global_ids(const std::vector<node_id>& wanted,
                                        const member_config& member) {
  const auto& info = member.graph->info();
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  for (const auto id : wanted)
    if (id < 0 || id >= target.count)
      return fail(ec::invalid_argument,
                  "seeds has node {}, but ids of type \"{}\" go from 0 to {}",
                  id, target.name, target.count - 1);
  auto sorted = wanted;
  std::ranges::sort(sorted);
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
      twice != sorted.end())
    return fail(ec::invalid_argument,
                "seeds has node {} twice: a batch has each seed once", *twice);
  GRAPHMILL_TRY(const auto global, member.graph->order(info.target));
  auto out = wanted;
  for (auto& id : out)
    id = global[static_cast<std::size_t>(id)];
  return out;
}

/// Has the samplers bring what the form takes.
std::shared_ptr<const sampling_scheme> with_form(const sampling_scheme& scheme,
                                                 const batch_form& form,
                                                 const batch_needs& needs) {
  auto out = scheme;
  out.edge_ids = form.edge_ids;
  out.weights = needs.weights;
  return std::make_shared<const sampling_scheme>(std::move(out));
}

/// What storage is decided by: batches alone take memory.
run_plan plan_of(const member_config& member, const sampling_scheme& scheme,
                 std::int64_t seeds) {
  const auto& info = member.graph->info();
  run_plan out;
  out.train.bytes =
    bytes_of(bound_of(info, scheme, seeds), info, member.needs, scheme);
  out.batches_in_flight = member.def.budget.batches;
  return out;
}

} // namespace

result<prepared_feed>
prepare_feed(const feed_request& request,
             const std::optional<std::vector<node_id>>& seeds) {
  prepared_feed out;
  GRAPHMILL_TRY(const auto seen, partitioned_graph::open(request.data));
  GRAPHMILL_TRY(auto def, definition_of(request, seen.info()));
  GRAPHMILL_TRYV(check_against(def, seen.info(), data_use::feeding));
  GRAPHMILL_TRYV(check_form(request.form, seen.info()));
  auto share = member_share::all(def, seen);
  share.ranks = {request.rank};
  share.world = request.world;
  GRAPHMILL_TRY(out.records, records_in(request.data, share.parts));
  // Its seeds are of the files that the records are of.
  GRAPHMILL_TRY(auto graph, reopen(request.data, seen));
  GRAPHMILL_TRY(out.member, open_member(def, std::move(graph), share));
  auto& member = out.member;
  GRAPHMILL_TRYV(still_unchanged(out.records, replaced_files::count));
  member.def.trainer.step_timeout = patience_seconds;
  member.needs = needs_of(request.form, member.graph->info());
  member.form = request.form;
  member.shuffled = request.shuffled;
  for (auto* scheme : {&member.train_scheme, &member.evaluate_scheme})
    *scheme = with_form(**scheme, request.form, member.needs);
  if (seeds) {
    GRAPHMILL_TRY(auto global, global_ids(*seeds, member));
    member.seeds =
      std::make_shared<const std::vector<node_id>>(std::move(global));
  }
  const auto table = member.seeds
                       ? table_of(member.graph->info(), member.seeds)
                       : table_of(member.graph, split_of(request.phase));
  const auto options =
    plan_options(def, member.graph, table, request.world, request.phase);
  out.seeds = table->rows();
  out.batch_size = options.batch_size;
  out.steps = (out.seeds + out.batch_size - 1) / out.batch_size;
  const auto& scheme = request.phase == phase::train ? member.train_scheme
                                                     : member.evaluate_scheme;
  const auto own =
    (std::min(out.seeds, out.batch_size) + request.world - 1) / request.world;
  GRAPHMILL_TRYV(
    settle_storage(member, request.storage, plan_of(member, *scheme, own)));
  return out;
}

} // namespace graphmill
