#include "actors/cluster/coordinator/leading/resumption.hpp"

#include "actors/cluster/coordinator/leading/run_checks.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/definition/definition_changes.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/flow/course.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/model/state_shapes.hpp"
#include "pipelines/results/run_folder.hpp"
#include "pipelines/task/chosen_target.hpp"

#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Whether a run on the same dataset may go on by this definition.
result<void> check_resumption(const checkpoint& before, const definition& def,
                              bool with_changes) {
  const auto then = parse_record(before.definition);
  if (!then.problems.empty())
    return to_error(then.problems);
  GRAPHMILL_TRYV(check_same_validation(then.value, def));
  if (with_changes)
    return ok();
  return check_unchanged(then.value, def);
}

/// A run that has come to its end is gone on with only if there is something to
/// train.
result<void> check_steps_left(const coordinator_config& config,
                              const std::string& run, const definition& def,
                              const course_position& at) {
  const auto seeds = seed_count(config.graph->info(), def, split::train);
  if (has_steps_left(def, seeds, at))
    return ok();
  const auto folder = run_folder::reopen(config.runs / run);
  if (!folder || folder.value().summary_at_end().is_null())
    return ok();
  return fail(ec::invalid_argument,
              "run {} has finished, and no step is left to train: `--set "
              "train.epochs=N --with-changes` trains it for longer",
              run);
}

/// Reads what a client has uploaded, if it is no larger than weights, two
/// moments and best weights of the model are.
result<checkpoint> read_upload(const upload_folder& from, const definition& def,
                               const dataset_info& info) {
  GRAPHMILL_TRY(const auto layout, make_layout(def, info));
  return from.read(4 * static_cast<std::uint64_t>(layout.parameter_count()));
}

/// Whether a client has uploaded what a run is to begin with (`submit_run`),
/// and not where one stood.
bool is_beginning(const checkpoint& sent) {
  return sent.dataset_digest.empty() && sent.state.at == course_position{};
}

error without_weights(const definition& def) {
  const auto predicts = def.evaluate.predict;
  return fail(ec::invalid_argument,
              "a run that {} begins with the weights of a finished run: "
              "`graphmill submit --{} RUN` sends them",
              predicts ? "predicts" : "evaluates alone",
              predicts ? "predict" : "evaluate");
}

/// A run that begins with weights goes on with a checkpoint from before its
/// first step.
result<checkpoint> begin_with(const std::vector<named_tensor>& weights,
                              const coordinator_config& config,
                              const dataset_info& info, const definition& def) {
  GRAPHMILL_TRY(auto state, begin_state(def, info, weights));
  checkpoint out;
  out.state.tensors =
    std::make_shared<const std::vector<named_tensor>>(std::move(state));
  out.definition = definition_yaml(def);
  out.dataset_digest = config.offer.dataset_digest;
  out.data = config.data;
  out.world = static_cast<rank_id>(def.trainer.replicas);
  out.parts = config.graph->part_count();
  return out;
}

} // namespace

/// The checkpoint that a run goes on from, checked; none: it begins anew.
result<std::optional<checkpoint>>
checkpoint_before(const coordinator_config& config,
                  const partitioned_graph& graph, const definition& def,
                  const resumption& from) {
  const auto& info = graph.info();
  if (from.wanted.run.empty() && !from.uploaded) {
    if (trains_nothing(def))
      return without_weights(def);
    return std::optional<checkpoint>{};
  }
  GRAPHMILL_TRY(auto before, from.uploaded
                               ? read_upload(*from.uploaded, def, info)
                               : checkpoint_of(config.runs, from.wanted));
  if (from.uploaded && is_beginning(before)) {
    GRAPHMILL_TRY(before, begin_with(*before.state.tensors, config, info, def));
    return std::optional{std::move(before)};
  }
  // What has been trained since is not what its run would end with.
  if (trains_nothing(def) && before.state.at != course_position{})
    return without_weights(def);
  GRAPHMILL_TRYV(check_dataset(config, before.dataset_digest));
  GRAPHMILL_TRYV(check_resumption(before, def, from.wanted.with_changes));
  GRAPHMILL_TRYV(check_restorable(def, info, *before.state.tensors));
  if (!from.uploaded && from.wanted.checkpoint.empty())
    GRAPHMILL_TRYV(
      check_steps_left(config, from.wanted.run, def, before.state.at));
  return std::optional{std::move(before)};
}

} // namespace graphmill
