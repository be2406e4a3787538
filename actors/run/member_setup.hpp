#pragma once

#include "actors/run/checkpoints/checkpoint_writer.hpp"
#include "actors/run/conductor.hpp"
#include "actors/run/member/open_member.hpp"
#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/label_sets.hpp"
#include "pipelines/flow/seed_table.hpp"
#include "pipelines/planning/storage_decision.hpp"
#include "pipelines/results/checkpoint.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

/// What to do with a definition.
enum class run_mode : std::uint8_t {
  train,    ///< The whole course.
  epoch,    ///< One epoch of training, nothing else.
  evaluate, ///< One pass over a split with given weights.
  /// The same with the weights of `run_setup::from`; several processes may have
  /// parts.
  evaluate_together,
  predict, ///< One pass over all nodes, with outputs.
  /// The same in the order of original ids, or over rows of a task of edges, of
  /// which several processes may have parts; with the weights of
  /// `run_setup::from`, and in pieces, for whoever takes what they tell.
  predict_in_order,
};

/// What all processes of a run know of it.
struct run_setup {
  definition def;
  run_mode mode = run_mode::train;
  /// Of both modes of evaluation, and of mode predict_in_order with a task of
  /// edges whose rows are predicted.
  split evaluated = split::test;
  /// Of these: as which phase and epoch of a run neighbours are drawn.
  graphmill::phase drawn_as = graphmill::phase::test;
  std::int32_t drawn_in = 0;
  /// Of mode evaluate: outputs of the rows are told in place of outcomes.
  bool outputs = false;
  std::vector<named_tensor> weights; ///< Of modes evaluate and predict.
  storage_choice storage;            ///< Of this process.
  /// Of modes train, evaluate_together and predict_in_order: what the run goes
  /// on from.
  std::optional<training_state> from = {};
  /// Where it ends in order, to go on with another number of trainers.
  std::optional<run_point> pause_at = {};
  /// Of mode predict: original ids, ascending, each once; none: all nodes.
  std::vector<node_id> nodes = {};
  /// Of mode predict and a task of edges: what to predict.
  std::vector<named_edge> edges = {};
  /// Of mode predict: what outputs mean, where labels of the data do not tell.
  std::optional<label_meaning> learnt = {};
};

/// What a cluster does with a definition. The caller adds what the run goes on
/// from, and what is of its own process.
run_setup cluster_setup(definition def);

/// As which phase of a run a split is evaluated: its validation, or its test.
constexpr phase drawn_as(split which) {
  return which == split::validation ? phase::validation : phase::test;
}

/// Opens the parts, builds the replicas and works out what to sample. The
/// caller adds links, log and gauges. This takes a while, so no handler may do
/// it.
/// @param whole As it was opened; the member has it as the definition's
/// `labels` or `task` show it.
result<member_config>
prepare_member(const run_setup& run,
               std::shared_ptr<const partitioned_graph> whole,
               const member_share& share);

/// The CONDUCTOR's config for a run. The caller adds members and observer.
conductor_config conductor_of(const run_setup& run,
                              const partitioned_graph& graph, rank_id world);

/// Has the checkpoints of a run written. Does nothing if its definition wants
/// none.
/// @param of What each checkpoint says of the run; its folder and log.
/// @param lines `run_folder::metrics_until`, in the conductor's thread.
/// @returns who writes them; to be finished when the run has ended.
std::shared_ptr<checkpoint_writer>
keep_checkpoints(run_observer& observer, const definition& def,
                 checkpoint_writer::setting of,
                 std::function<result<metrics_part>(std::int32_t)> lines);

} // namespace graphmill
