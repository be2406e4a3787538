#include "actors/run/member_setup.hpp"

#include "actors/run/training_sink.hpp"
#include "pipelines/definition/edge_predictions.hpp"
#include "pipelines/definition/measured_seeds.hpp"
#include "pipelines/definition/validation/time_checks.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/definition/yaml/problem.hpp"
#include "pipelines/flow/output_blocks.hpp"
#include "pipelines/kernels/cross_entropy.hpp"
#include "pipelines/model/state_shapes.hpp"
#include "pipelines/model/threads.hpp"
#include "pipelines/model/torch/devices.hpp"
#include "pipelines/planning/run_plan.hpp"
#include "pipelines/planning/storage_decision.hpp"
#include "pipelines/results/safetensors.hpp"
#include "pipelines/task/chosen_target.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace graphmill {

namespace {

/// How many training seeds each class has, which takes the labels of all parts.
result<std::vector<std::int64_t>> count_classes(const member_config& member) {
  const auto& info = member.graph->info();
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  std::vector<std::int64_t> out(static_cast<std::size_t>(target.class_count));
  if (member.graph->task()) {
    const auto rows = table_of(member.graph, split::train);
    for (const auto label : rows->edges->classes)
      ++out[static_cast<std::size_t>(label)];
    return out;
  }
  for (const auto seed : member.graph->seeds(split::train)) {
    const auto part = member.graph->owner(info.target, seed);
    const auto& data = member.shards[static_cast<std::size_t>(part)];
    if (!data)
      return fail(ec::invalid_argument,
                  "`train.balance_classes` needs the labels of all parts, and "
                  "part {} is elsewhere: give `train.class_weights` instead",
                  part);
    const auto& nodes = data->nodes(info.target);
    const auto row = static_cast<std::size_t>(seed - nodes.begin);
    const auto label = row < nodes.labels.size() ? nodes.labels[row] : -1;
    if (label >= 0 && label < target.class_count) // Others fail their batch.
      ++out[static_cast<std::size_t>(label)];
  }
  return out;
}

/// @param member Whose parts are open.
result<std::vector<std::shared_ptr<replica>>>
make_replicas(const run_setup& run, const member_config& member) {
  std::vector<std::shared_ptr<replica>> out;
  const auto& info = member.graph->info();
  const auto count = member.ranks.size();
  auto def = run.def;
  const auto trains =
    run.mode == run_mode::train || run.mode == run_mode::epoch;
  if (trains && def.train.balance_classes) {
    GRAPHMILL_TRY(const auto counts, count_classes(member));
    def.train.class_weights = balanced_weights(counts);
  }
  const auto begins_with =
    trains && !run.from ? def.model.weights : std::string{};
  tensor_file begin;
  if (!begins_with.empty()) {
    GRAPHMILL_TRY(begin, read_safetensors(begins_with));
    GRAPHMILL_TRYV(check_no_others(def, info, begin.tensors));
  }
  for (std::size_t i = 0; i < count; ++i) {
    def.trainer.device = device_of(run.def.trainer.device, i, cuda_devices());
    GRAPHMILL_TRY(auto made, replica::create(def, info));
    if (run.mode == run_mode::evaluate || run.mode == run_mode::predict) {
      GRAPHMILL_TRYV(check_no_others(def, info, run.weights));
      GRAPHMILL_TRYV(made->load(run.weights));
    }
    if (!begins_with.empty())
      GRAPHMILL_TRYV(made->load(begin.tensors));
    out.push_back(std::move(made));
  }
  return out;
}

bool evaluates(const run_setup& run) {
  return run.mode == run_mode::evaluate
         || run.mode == run_mode::evaluate_together;
}

/// Whether trainers take their first weights over from `run_setup::from`.
bool takes_over(const run_setup& run) {
  return run.mode == run_mode::train || run.mode == run_mode::evaluate_together
         || run.mode == run_mode::predict_in_order;
}

/// What is for clusters alone is no definition of another mode.
result<void> check_mode(const run_setup& run) {
  const auto& wanted = run.def.evaluate;
  if (wanted.predict && run.mode != run_mode::predict_in_order)
    return fail(ec::invalid_argument,
                "`evaluate.predict` is for a cluster, where `graphmill submit "
                "--predict RUN` sends such a run: leave it out, or predict "
                "here by `graphmill predict RUN`");
  if (wanted.only != measured_split::none
      && run.mode != run_mode::evaluate_together
      && run.mode != run_mode::predict_in_order)
    return fail(ec::invalid_argument,
                "`evaluate.only` is for a cluster, where `graphmill submit "
                "--evaluate RUN` sends such a run: leave it out, or measure "
                "here by `graphmill evaluate RUN`");
  return ok();
}

/// How many seeds evaluation runs over, where these are not those of the test
/// split.
std::optional<std::int64_t> other_seeds(const run_setup& run,
                                        const partitioned_graph& graph) {
  if (evaluates(run))
    return seed_count(graph.info(), run.def, run.evaluated);
  if (run.mode != run_mode::predict && run.mode != run_mode::predict_in_order)
    return std::nullopt;
  const auto& info = graph.info();
  if (!run.def.task.empty() && run.mode == run_mode::predict)
    return std::ssize(run.edges);
  if (predicts_outputs(run.def)) {
    const auto chosen = choose_target(info, run.def);
    return chosen ? rows_of(output_blocks(chosen.value())) : 0;
  }
  if (!run.def.task.empty())
    return seed_count(info, run.def, run.evaluated);
  return run.nodes.empty() ? info.node_types[info.target].count
                           : std::ssize(run.nodes);
}

/// The global ids of original ones. @param wanted Ascending.
/// @param member Whose parts are open.
result<std::vector<node_id>> global_ids(std::span<const node_id> wanted,
                                        const member_config& member) {
  const auto& graph = *member.graph;
  const auto target = graph.info().target;
  std::vector<node_id> out;
  for (std::size_t p = 0; p < member.shards.size(); ++p) {
    if (!member.shards[p])
      return fail(
        ec::invalid_argument,
        "predicting a list of nodes needs all parts, and part {} is elsewhere",
        p);
    const auto& own = member.shards[p]->nodes(target);
    for (auto id = own.begin; id < own.end; ++id)
      if (std::binary_search(wanted.begin(), wanted.end(), own.original(id)))
        out.push_back(id);
  }
  if (out.size() != wanted.size())
    return fail(
      ec::not_found, "only {1} of {0} listed nodes exist; ids go from 0 to {2}",
      wanted.size(), out.size(), graph.info().node_types[target].count - 1);
  return out;
}

/// What evaluation runs over instead of the test split; null: that split.
/// @param member Whose parts are open.
result<std::shared_ptr<const std::vector<node_id>>>
seeds_of(const run_setup& run, const member_config& member) {
  const auto count = other_seeds(run, *member.graph);
  // A process that only serves data has no batches, and needs no order.
  if (!count
      || (run.mode == run_mode::predict_in_order && member.ranks.empty()))
    return std::shared_ptr<const std::vector<node_id>>{};
  std::vector<node_id> out;
  if (run.mode == run_mode::predict_in_order) {
    GRAPHMILL_TRY(out, member.graph->order(member.graph->info().target));
  } else if (evaluates(run)) {
    const auto seeds = member.graph->seeds(run.evaluated);
    out.assign(seeds.begin(), seeds.end());
  } else if (run.nodes.empty()) {
    out.resize(static_cast<std::size_t>(*count));
    std::iota(out.begin(), out.end(), node_id{0});
  } else {
    GRAPHMILL_TRY(out, global_ids(run.nodes, member));
  }
  return std::make_shared<const std::vector<node_id>>(std::move(out));
}

/// The rows of a task of edges that are predicted in order. Null without
/// trainers: there are no batches.
/// @param member Whose parts are open.
result<std::shared_ptr<const seed_table>>
rows_in_order(const run_setup& run, const member_config& member) {
  if (member.ranks.empty())
    return std::shared_ptr<const seed_table>{};
  if (!predicts_outputs(run.def))
    return table_of(member.graph, run.evaluated);
  GRAPHMILL_TRYV(check_named_pairs(run.def));
  return table_of(*member.graph, edges_of(output_blocks(member.graph->info())));
}

/// Fails if rows that share the time of their step are not in the order of
/// time.
/// @param member With its rows or seeds, if they are not those of a split.
result<void> check_order(const run_setup& run, const member_config& member) {
  const auto& def = run.def;
  if (!def.sampler.is_timed() || def.sampler.disjoint || member.ranks.empty())
    return ok();
  const auto name = in_quotes(member.graph->info().name);
  const auto of_evaluation = std::int64_t{def.evaluate.batch_size};
  if (member.rows)
    return check_order_of_time(*member.rows, "rows of " + name, of_evaluation);
  if (member.seeds)
    return check_order_of_time(*table_of(*member.graph, member.seeds),
                               "seeds of " + name, of_evaluation);
  if (member.evaluated)
    return check_order_of_time(*table_of(member.graph, *member.evaluated),
                               "rows of " + name, of_evaluation);
  GRAPHMILL_TRYV(check_order_of_time(*table_of(member.graph, split::train),
                                     "training rows of " + name,
                                     std::int64_t{def.train.batch_size}));
  if (run.mode == run_mode::epoch)
    return ok();
  GRAPHMILL_TRYV(check_order_of_time(*table_of(member.graph, split::validation),
                                     "validation rows of " + name,
                                     of_evaluation));
  return check_order_of_time(*table_of(member.graph, split::test),
                             "test rows of " + name, of_evaluation);
}

/// What the steps of a piece of a pass give, at the most, unless one alone
/// gives more: daemons hold it until the coordinator has taken it.
constexpr std::int64_t piece_bytes = std::int64_t{32} << 20;
constexpr std::int64_t most_piece_steps = 4096;

/// Predicts all rows, by pieces of a pass.
course predicting(const run_setup& run, std::int64_t rows,
                  const dataset_info& info) {
  const auto batch = std::int64_t{run.def.evaluate.batch_size};
  const auto chosen = choose_target(info, run.def);
  const auto& seen = chosen ? chosen.value() : info;
  const auto columns =
    told_columns(run.def, seen.node_types[seen.target].class_count);
  const auto row_bytes = static_cast<std::int64_t>(sizeof(node_id))
                         + columns * static_cast<std::int64_t>(sizeof(float));
  return course::in_pieces(phase::test, (rows + batch - 1) / batch,
                           std::clamp(piece_bytes / (batch * row_bytes),
                                      std::int64_t{1}, most_piece_steps));
}

course course_of(const run_setup& run, const std::array<std::int64_t, 3>& seeds,
                 const dataset_info& info) {
  if (run.mode == run_mode::predict_in_order)
    return predicting(run, seeds[static_cast<std::size_t>(phase::test)], info);
  if (evaluates(run))
    return course::only(run.drawn_as, run.drawn_in);
  if (run.mode != run_mode::train)
    return course::only(run.mode == run_mode::epoch ? phase::train
                                                    : phase::test);
  const auto of = [&seeds](phase which) {
    return seeds[static_cast<std::size_t>(which)];
  };
  const auto batch = std::int64_t{run.def.train.batch_size};
  return course::training(run.def, of(phase::validation) != 0,
                          can_be_measured(info, run.def, split::test),
                          (of(phase::train) + batch - 1) / batch);
}

} // namespace

run_setup cluster_setup(definition def) {
  run_setup out;
  if (def.evaluate.predict) {
    out.mode = run_mode::predict_in_order;
    out.evaluated = split_of(def.evaluate.only).value_or(split::test);
  } else if (const auto only = split_of(def.evaluate.only)) {
    out.mode = run_mode::evaluate_together;
    out.evaluated = *only;
    out.drawn_as = drawn_as(*only);
    out.drawn_in = static_cast<std::int32_t>(def.train.epochs) - 1;
  }
  out.def = std::move(def);
  return out;
}

result<member_config>
prepare_member(const run_setup& run,
               std::shared_ptr<const partitioned_graph> whole,
               const member_share& share) {
  const auto learns =
    run.mode == run_mode::train || run.mode == run_mode::epoch;
  const auto use = learns ? data_use::training : data_use::weights_alone;
  GRAPHMILL_TRYV(check_against(run.def, whole->info(), use));
  GRAPHMILL_TRYV(check_mode(run));
  // A score must not depend on negatives. Other neighbours may be drawn for a
  // row beside them: a seed is expanded in the first hop, also where the row
  // finds it in a later one.
  const auto predicts = run.outputs || run.mode == run_mode::predict
                        || run.mode == run_mode::predict_in_order;
  GRAPHMILL_TRY(auto out,
                open_member(run.def, std::move(whole), share, use, !predicts));
  keep_libraries_single_threaded();
  GRAPHMILL_TRY(out.models, make_replicas(run, out));
  out.sink = spawn_training_sink;
  out.needs = needs_of(out.def, out.graph->info());
  if (out.graph->task() && evaluates(run)) {
    out.evaluated = run.evaluated;
  } else if (out.graph->task() && run.mode == run_mode::predict) {
    GRAPHMILL_TRYV(check_named_pairs(run.def));
    GRAPHMILL_TRY(out.rows, table_of(*out.graph, run.edges));
  } else if (out.graph->task() && run.mode == run_mode::predict_in_order) {
    GRAPHMILL_TRY(out.rows, rows_in_order(run, out));
  } else {
    GRAPHMILL_TRY(out.seeds, seeds_of(run, out));
  }
  GRAPHMILL_TRYV(check_order(run, out));
  out.outputs = predicts;
  GRAPHMILL_TRY(const auto plan,
                plan_run(out.def, out.graph->info(), out.graph->part_count()));
  GRAPHMILL_TRYV(settle_storage(out, run.storage, plan));
  return out;
}

conductor_config conductor_of(const run_setup& run,
                              const partitioned_graph& graph, rank_id world) {
  std::array<std::int64_t, 3> seeds{};
  const auto other = other_seeds(run, graph);
  for (auto which : {phase::train, phase::validation, phase::test})
    seeds[static_cast<std::size_t>(which)] =
      other.value_or(seed_count(graph.info(), run.def, split_of(which)));
  conductor_config out{
    run.def, world, seeds, course_of(run, seeds, graph.info()), {}, {}};
  out.wanted = measures_of(run.def, graph.info());
  if (takes_over(run))
    out.from = run.from;
  if (run.mode == run_mode::train)
    out.pause_at = run.pause_at;
  return out;
}

std::shared_ptr<checkpoint_writer>
keep_checkpoints(run_observer& observer, const definition& def,
                 checkpoint_writer::setting of,
                 std::function<result<metrics_part>(std::int32_t)> lines) {
  if (def.checkpoint.keep == 0)
    return nullptr;
  of.keep = def.checkpoint.keep;
  auto writer = std::make_shared<checkpoint_writer>(std::move(of));
  observer.on_checkpoint_due = [writer](bool last) {
    return writer->begin(last);
  };
  observer.on_checkpoint = [writer, lines](training_state state) {
    auto told = lines(state.at.epoch);
    if (told)
      writer->write(std::move(state), std::move(told).value());
    else
      writer->missed(told.error());
  };
  observer.on_checkpoint_missed = [writer](const error& reason) {
    writer->missed(reason);
  };
  return writer;
}

} // namespace graphmill
