#include "actors/feed/prepared_feed.hpp"

#include "actors/run/member/open_member.hpp"
#include "partition/dataset/chosen_task.hpp"
#include "partition/dataset/data_records.hpp"
#include "partition/dataset/reopened_graph.hpp"
#include "partition/dataset/verification/verification.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/validation/edge_features.hpp"
#include "pipelines/definition/validation/edge_weights.hpp"
#include "pipelines/definition/validation/time_checks.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/flow/batch_size.hpp"
#include "pipelines/flow/epoch_plan.hpp"
#include "pipelines/flow/negatives.hpp"
#include "pipelines/flow/seed_table.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// For a step: a consumer may keep a batch for as long as it likes.
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

result<void> check_form(const batch_form& form, const definition& def,
                        const dataset_info& info) {
  if (form.merged && info.node_types.size() > 1)
    return fail(ec::invalid_argument,
                "\"{}\" has {} node types, so its edge types cannot be merged: "
                "leave merge_edge_types out",
                info.name, info.node_types.size());
  if (form.edge_weights && !has_edge_weights(info) && !form.visits)
    return fail(ec::invalid_argument,
                "edges of \"{}\" have no weights: leave edge_weights out",
                info.name);
  if (form.edge_features && !has_edge_features(info))
    return fail(ec::invalid_argument,
                "edges of \"{}\" have no features: leave edge_attr out",
                info.name);
  if (form.edge_features && form.merged && has_unlike_edge_features(info))
    return fail(
      ec::invalid_argument,
      "edge types of \"{}\" have different numbers of features, so "
      "they cannot be merged: leave merge_edge_types or edge_attr out",
      info.name);
  if (!form.ages)
    return ok();
  if (!def.sampler.is_timed())
    return fail(ec::invalid_argument,
                "edges have ages where seeds see their past alone: leave "
                "edge_ages out, or give time=\"strict\" or \"inclusive\"");
  const auto untimed = [](const edge_type_info& type) { return !type.timed; };
  if (form.merged && std::ranges::any_of(info.edge_types, untimed))
    return fail(ec::invalid_argument,
                "only some edge types of \"{}\" have times, so they cannot be "
                "merged: leave merge_edge_types or edge_ages out",
                info.name);
  return ok();
}

/// Fails if seeds that are to see their past alone have no time, would see next
/// to nothing, or get degrees, which also count what comes after them.
result<void> check_times(const feed_request& request, const definition& def,
                         const dataset_info& info) {
  if (!def.sampler.is_timed())
    return ok();
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  if (def.task.empty() && !target.timed)
    return fail(ec::invalid_argument,
                "nodes of type \"{}\" of \"{}\" have no times, so seeds have "
                "no past: import them with times (--node-time COLUMN), or say "
                "time=\"ignore\"",
                target.name, info.name);
  const auto shuffled =
    def.train.shuffle
    && request.shuffled.value_or(request.phase == phase::train);
  if (shuffled && !def.sampler.disjoint)
    return fail(ec::invalid_argument,
                "without disjoint, all seeds of a step see what was before "
                "the earliest of them, of which shuffling would leave little: "
                "give disjoint=True or shuffle=False");
  if (request.form.degrees)
    return fail(ec::invalid_argument,
                "degrees count edges of all times, also those after a seed: "
                "leave degrees out, or say time=\"ignore\"");
  return ok();
}

/// Fails if edges that the graph does not have are to have what its edges have.
result<void> check_made_edges(const batch_form& form,
                              const sampling_scheme& scheme) {
  if (form.visits && (form.edge_ids || form.edge_features || form.ages))
    return fail(ec::invalid_argument,
                "edges to visited nodes are no edges of the graph, and have no "
                "ids, features or ages: leave edge_ids, edge_attr and "
                "edge_ages out");
  if (scheme.subgraph != subgraph_kind::bidirectional)
    return ok();
  if (form.edge_features || form.ages)
    return fail(ec::invalid_argument,
                "reverses of sampled edges have no features and no ages: leave "
                "edge_attr and edge_ages out, or give "
                "subgraph_type=\"induced\"");
  for (std::size_t e = 0; e < scheme.opposites.size() && form.edge_ids; ++e)
    if (scheme.opposites[e] >= 0 && std::cmp_not_equal(scheme.opposites[e], e))
      return fail(ec::invalid_argument,
                  "reverses of sampled edges are of another edge type, and "
                  "have no ids there: leave edge_ids out, or give "
                  "subgraph_type=\"induced\"");
  return ok();
}

/// The places of edge types in a task, by their names. None are named: its
/// only one.
result<std::vector<std::int32_t>>
places_of(const std::vector<std::string>& names, const dataset_info& info,
          const edge_task_info& task) {
  std::vector<std::int32_t> out;
  for (const auto& name : names) {
    const auto type = info.find_edge_type(name);
    const auto at =
      type ? std::find(task.edge_types.begin(), task.edge_types.end(), *type)
           : task.edge_types.end();
    if (at == task.edge_types.end())
      return fail(ec::invalid_argument,
                  "pairs are of edge type \"{}\", which task \"{}\" of \"{}\" "
                  "does not have",
                  name, task.name, info.name);
    out.push_back(static_cast<std::int32_t>(at - task.edge_types.begin()));
  }
  if (out.empty() && task.edge_types.size() > 1)
    return fail(ec::invalid_argument,
                "task \"{}\" of \"{}\" has {} edge types: give pairs for each "
                "of them by its name",
                task.name, info.name, task.edge_types.size());
  if (out.empty())
    out.push_back(0);
  return out;
}

/// The edges that a consumer names.
/// @param numbers As `feed_request::own_pairs` says.
result<std::shared_ptr<const seed_table>>
rows_named(const std::vector<node_id>& numbers, const feed_request& request,
           const partitioned_graph& graph) {
  const auto& info = graph.info();
  const auto& task = *chosen_task(info);
  GRAPHMILL_TRY(const auto places, places_of(request.edge_types, info, task));
  std::vector<named_edge> edges;
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) {
    if (numbers[i + 2] < 0 || numbers[i + 2] >= std::ssize(places))
      return fail(ec::invalid_data, "a consumer has named edge type {} of {}",
                  numbers[i + 2], places.size());
    const named_edge edge{numbers[i], numbers[i + 1],
                          places[static_cast<std::size_t>(numbers[i + 2])]};
    const auto& type = info.edge_types[static_cast<std::size_t>(
      task.edge_types[static_cast<std::size_t>(edge.relation)])];
    for (const auto& [id, end] :
         {std::pair{edge.source, type.source},
          std::pair{edge.destination, type.destination}}) {
      const auto& nodes = info.node_types[static_cast<std::size_t>(end)];
      if (id < 0 || id >= nodes.count)
        return fail(ec::invalid_argument,
                    "pairs have node {}, but ids of type \"{}\" go from 0 to "
                    "{}",
                    id, nodes.name, nodes.count - 1);
    }
    edges.push_back(edge);
  }
  return table_of(graph, edges);
}

/// Chooses the rows of a task that the feed is of, and settles what they have.
/// @param own As `feed_request::own_pairs` says; none: rows are of the split.
result<void> settle_rows(const feed_request& request,
                         const std::optional<std::vector<node_id>>& own,
                         member_config& member) {
  const auto& info = member.graph->info();
  const auto& task = *chosen_task(info);
  auto& form = *member.form;
  if (request.own_seeds)
    return fail(ec::invalid_argument,
                "seeds are nodes, and rows of task \"{}\" of \"{}\" are edges: "
                "give a LinkLoader `pairs`",
                task.name, info.name);
  if (form.rows == link_row_form::triplets && !traits_of(task.kind).negatives)
    return fail(ec::invalid_argument,
                "triplets are links and their negatives, and rows of task "
                "\"{}\" of \"{}\" have labels: take pairs",
                task.name, info.name);
  if (!request.negatives || own)
    member.negatives = nullptr;
  if (own) {
    GRAPHMILL_TRYV(check_named_pairs(member.def));
    if (form.ages)
      return fail(ec::invalid_argument,
                  "pairs have no time, so that edges have no ages for them: "
                  "leave edge_ages out");
    GRAPHMILL_TRY(member.rows, rows_named(*own, request, *member.graph));
    form.labels = false;
  }
  if (!member.negatives)
    return ok();
  // The negatives of no rows say which ends are replaced.
  const auto of_none = member.negatives->of(
    *table_of(member.graph, split_of(request.phase)), {}, request.phase, 0, 0);
  if (of_none.full)
    return fail(ec::invalid_argument,
                "all nodes are ranked in evaluations of this definition, so "
                "there are no negatives of each edge: make "
                "`evaluate.negatives` smaller than the number of nodes, or "
                "take none");
  const auto joint =
    !of_none.joint_destinations.empty() || !of_none.joint_sources.empty();
  if (joint && form.rows == link_row_form::pairs)
    return fail(ec::invalid_argument,
                "all edges of a step share joint negatives, so there are no "
                "pairs of them: take triplets, or negatives of each edge");
  const auto paired = of_none.wrong_pairs > 0;
  form.wrong_destinations = paired || of_none.wrong_destinations > 0
                            || !of_none.joint_destinations.empty();
  form.wrong_sources =
    paired || of_none.wrong_sources > 0 || !of_none.joint_sources.empty();
  return ok();
}

/// The graph with the type of the seeds as its target: nodes of other types
/// than the dataset's own target have no labels and no splits.
result<partitioned_graph> with_seed_type(partitioned_graph graph,
                                         const feed_request& request) {
  const auto& info = graph.info();
  const auto& type = request.seed_type;
  if (type.empty()
      || info.node_types[static_cast<std::size_t>(info.target)].name == type)
    return graph;
  if (!request.own_seeds)
    return fail(ec::invalid_argument,
                "a split has seeds of the target type alone: give seeds");
  return graph.with_unknown_labels({.type = type});
}

std::shared_ptr<const seed_table> seeds_fed(const member_config& member,
                                            phase which) {
  if (member.rows)
    return member.rows;
  return member.seeds ? table_of(*member.graph, member.seeds)
                      : table_of(member.graph, split_of(which));
}

/// Has the samplers bring what the form takes.
std::shared_ptr<const sampling_scheme> with_form(const sampling_scheme& scheme,
                                                 const batch_form& form,
                                                 const batch_needs& needs) {
  auto out = scheme;
  out.edge_ids = form.edge_ids;
  out.weights = needs.weights;
  out.places = needs.edge_features;
  out.least_blocks = 2; // Edges into all nodes, not into seeds alone.
  out.ages = needs.ages;
  return std::make_shared<const sampling_scheme>(std::move(out));
}

/// The plan by which storage is chosen: a feed has no model, so that batches
/// alone take memory.
run_plan plan_of(const member_config& member, const sampling_scheme& scheme,
                 phase which, std::int64_t seeds) {
  const auto& info = member.graph->info();
  run_plan out;
  out.train.bytes =
    bytes_of(bound_of(info, scheme, seed_bound(member.def, info, which, seeds)),
             info, member.needs, scheme)
    + row_bound(member.def, info, which, seeds) * (1 + member.needs.row_copies);
  out.batches_in_flight = member.def.budget.batches;
  return out;
}

} // namespace

result<prepared_feed>
prepare_feed(const feed_request& request,
             const std::optional<std::vector<node_id>>& seeds) {
  prepared_feed out;
  GRAPHMILL_TRY(const auto opened, partitioned_graph::open(request.data));
  GRAPHMILL_TRY(const auto seen, with_seed_type(opened, request));
  GRAPHMILL_TRY(auto def, definition_of(request, seen.info()));
  if (seen.hides_labels() && !def.labels.empty())
    return fail(ec::invalid_argument,
                "seeds of type \"{}\" have no labels: leave labels out",
                request.seed_type);
  GRAPHMILL_TRYV(check_against(def, seen.info(), data_use::feeding));
  auto form = request.form;
  form.trees = def.sampler.is_timed() && def.sampler.disjoint;
  form.visits = def.sampler.method == sampling_method::pinsage;
  GRAPHMILL_TRYV(check_form(form, def, seen.info()));
  GRAPHMILL_TRYV(check_times(request, def, seen.info()));
  auto share = member_share::all(def, seen);
  if (request.cluster)
    share.parts.clear();
  share.ranks = {request.rank};
  share.world = out.world = request.world;
  GRAPHMILL_TRY(out.records, records_in(request.data, share.parts));
  // Opened again, so that seeds are read from the files that were recorded.
  GRAPHMILL_TRY(const auto again, reopen(request.data, opened));
  GRAPHMILL_TRY(auto of_seeds, with_seed_type(*again, request));
  auto graph = std::make_shared<const partitioned_graph>(std::move(of_seeds));
  const auto learns = split_of(request.phase) == split::train;
  GRAPHMILL_TRY(out.member, open_member(def, std::move(graph), share,
                                        learns ? data_use::feeding
                                               : data_use::weights_alone));
  out.def = def;
  auto& member = out.member;
  GRAPHMILL_TRYV(still_unchanged(out.records, replaced_files::count));
  member.def.trainer.step_timeout = patience_seconds;
  member.form = form;
  member.needs = needs_of(*member.form, member.graph->info());
  if (chosen_task(member.graph->info()) != nullptr) {
    GRAPHMILL_TRYV(settle_rows(request, seeds, member));
  } else if (request.own_pairs) {
    return fail(ec::invalid_argument,
                "pairs are edges of a task: name the task");
  }
  member.shuffled = request.shuffled;
  GRAPHMILL_TRYV(check_made_edges(form, *member.train_scheme));
  for (auto* scheme : {&member.train_scheme, &member.evaluate_scheme})
    *scheme = with_form(**scheme, *member.form, member.needs);
  if (seeds && !member.rows) {
    GRAPHMILL_TRY(member.seeds, pass_seeds{member.graph}.of(*seeds));
  }
  const auto table = seeds_fed(member, request.phase);
  const auto options =
    plan_options(def, member.graph, table, request.world, request.phase);
  if (def.sampler.is_timed() && !def.sampler.disjoint)
    GRAPHMILL_TRYV(check_order_of_time(*table, "seeds", options.batch_size));
  out.seeds = table->rows();
  out.batch_size = options.batch_size;
  out.steps = (out.seeds + out.batch_size - 1) / out.batch_size;
  const auto& scheme = request.phase == phase::train ? member.train_scheme
                                                     : member.evaluate_scheme;
  out.hops = scheme->blocks();
  const auto own =
    (std::min(std::max(out.seeds, request.most_seeds), out.batch_size)
     + request.world - 1)
    / request.world;
  GRAPHMILL_TRYV(settle_storage(member, request.storage,
                                plan_of(member, *scheme, request.phase, own)));
  return out;
}

std::string answer_of(const prepared_feed& prepared, std::size_t arena_bytes) {
  const auto& member = prepared.member;
  return opened_frame({member.graph->info(), member.def, *member.form,
                       prepared.hops, prepared.seeds, prepared.batch_size,
                       arena_bytes, member.graph->part_count(),
                       prepared.world});
}

pass_seeds seeds_of(const prepared_feed& prepared) {
  const auto& sampler = prepared.def.sampler;
  return pass_seeds{prepared.member.graph, prepared.batch_size,
                    sampler.is_timed() && !sampler.disjoint};
}

phase_request phase_of(const feed_request& request, const feed_pass& pass) {
  phase_request out;
  out.phase = request.phase;
  out.epoch = pass.epoch;
  out.first = pass.first;
  out.steps = pass.steps;
  out.own_seeds = pass.seeds;
  return out;
}

} // namespace graphmill
