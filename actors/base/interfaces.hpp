#pragma once

#include "actors/base/caf_compat.hpp"
#include "actors/base/phase_steps.hpp"
#include "messages/base/ids.hpp"
#include "messages/wire/data.hpp"
#include "messages/wire/run.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "partition/sampling/sampling.hpp"
#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/flow/course.hpp"
#include "pipelines/flow/epoch_plan.hpp"
#include "pipelines/flow/negatives.hpp"
#include "pipelines/gradients/gradient_progress.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/model/replica.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Messages and typed interfaces that several actors share. These messages stay
// in the process: plain structs, payloads by shared pointer. Messages between
// daemons are in messages/. The job of a stage that only the DISPATCHER asks is
// beside that stage.

namespace graphmill {

// -- jobs of the worker pools

using job_clock = std::chrono::steady_clock;

/// The answer to a job after its `until`.
inline error asked_in_vain() {
  return fail(ec::timeout, "it was not done: whoever asked has given up");
}

/// `until` is when an asker of another daemon gives up. After that, no worker
/// begins the job or a hop of it.
struct neighbour_job {
  neighbour_request request;
  std::shared_ptr<const void> owner; ///< Keeps the request's spans alive.
  job_clock::time_point until = job_clock::time_point::max();
};
struct neighbour_answer {
  std::shared_ptr<neighbour_reply> reply;

  std::uint64_t byte_size() const { return reply ? reply->sources.size() : 0; }
};

/// What to read for a part's nodes or edges, and where to write it.
struct gather_item {
  gather_kind kind = gather_kind::features;
  node_type_id type = 0; ///< Of edge features: the edge type.
  /// Global, owned by the part. Of edge features: places in the part, or, with
  /// `edges`, destinations.
  std::span<const node_id> ids;
  std::span<const local_id> rows; ///< Target row of each; empty: in order.
  void* out = nullptr;
  /// Per edge type: in-edges that `in_weights` is not to count. Empty: of no
  /// type.
  std::span<const excluded_view> excluded{};
  /// Edges of higher levels do not count in `degrees` and `in_weights`.
  edge_level level = all_levels;
  /// [ids] Of edge features: original edge ids. Empty: `ids` are places.
  std::span<const edge_id> edges{};
};
struct gather_job {
  std::vector<gather_item> items;
  std::shared_ptr<const void> owner; ///< Keeps spans and targets alive.
  /// A number of the batch, unchanged if the batch is repeated. It chooses the
  /// values that are checked (`fetch.verify`).
  std::uint64_t batch = 0;
  job_clock::time_point until = job_clock::time_point::max();
};
struct gather_answer {
  std::uint64_t bytes = 0;

  std::uint64_t byte_size() const { return bytes; }
};

/// A batch to sample, here or at another daemon.
struct sample_job {
  batch_key key;
  std::uint64_t stream = 0; ///< `stream_key` of the step.
  std::shared_ptr<const batch_seeds> seeds;
  std::shared_ptr<const sampling_scheme> scheme;
  job_clock::time_point until = job_clock::time_point::max();
};
struct sample_answer {
  std::shared_ptr<sampled_subgraph> graph;
};

// -- dispatcher, trainers, gradient group, conductor

/// A `phase_request` with what the stages of a member need for it.
struct phase_work : phase_request {
  std::shared_ptr<const seed_table> table; ///< The seeds: rows of it.
  std::shared_ptr<const epoch_plan> plan;
  std::shared_ptr<const sampling_scheme> sampling;
  std::shared_ptr<const link_negatives> negatives; ///< Null: there are none.
  bool outputs = false; ///< Compute predictions and embeddings.
  bool seeds = false;   ///< Report the seeds of each step.
};
struct begin_phase {
  std::shared_ptr<const phase_work> work;
};

/// A batch of a DISPATCHER has paused long enough.
struct pause_over {
  std::uint64_t sequence = 0;
  std::uint32_t attempt = 0;
};
/// A stage of a DISPATCHER has shut down; the run should have ended by now.
struct farewell_over {
  std::uint64_t sequence = 0;
  error cause;
};

/// A batch for a trainer, in step order.
struct step_input {
  std::uint64_t sequence = 0;
  std::shared_ptr<minibatch> batch;
  std::shared_ptr<const phase_work> work;
};
/// The trainer has finished a batch; its memory is free again.
struct step_finished {
  std::uint64_t sequence = 0;
  rank_id rank = 0;
};

/// A rank's gradients for a step of the group.
struct contribution {
  std::int64_t step = 0; ///< Counted over all epochs.
  rank_id rank = 0;
  std::shared_ptr<gradient_set> gradients;
  batch_metrics metrics; ///< Of the seeds that they were computed from.
  /// Set if the contribution is sent before backward has finished, which groups
  /// over daemons allow. It then reports the progress of backward, and the
  /// metrics.
  std::shared_ptr<gradient_progress> progress = nullptr;
};
struct reduced_gradients {
  std::shared_ptr<const gradient_set> sum; ///< Over all ranks, in rank order.
  bool last = false;                  ///< Every rank stops after applying this.
  std::vector<batch_metrics> metrics; ///< Of the step, by rank.
};
/// Ends the run after the current step.
struct stop_after_step {};

/// What the conductor asks all trainers between phases. `checkpoint` and `keep`
/// may also come within a phase. One trainer of a member answers `checkpoint`.
struct trainer_request {
  trainer_action action = trainer_action::snapshot;
  /// With `restore`: the result of `replica::state` after so many steps.
  std::shared_ptr<const std::vector<named_tensor>> state = nullptr;
  std::int64_t steps = 0;
};
struct trainer_state {
  rank_id rank = 0;
  std::string digest;     ///< With `snapshot`, `digest` and `restore`.
  std::int64_t steps = 0; ///< Training steps applied to its weights.
  /// With `weights`; trainers in this process send them with `snapshot`, too.
  /// With `checkpoint` and `keep`: the whole state of the replica.
  std::shared_ptr<const std::vector<named_tensor>> parameters;
  /// With `keep`: the step, and the sums of the epoch's steps over all ranks.
  /// Empty if the run cannot continue from there.
  std::optional<course_position> at = {};
  batch_metrics so_far = {};
};
/// The answers of all trainers of a member.
struct member_state {
  std::vector<trainer_state> trainers;
};
/// Sent before the first phase: choose the rows of a cache and fetch them.
struct fill_cache {};
struct cache_filled {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0; ///< Memory of the cache.
};
/// A member has spawned all its actors; its services accept requests.
struct member_ready {};
/// A trainer has stopped because of `reduced_gradients::last`.
struct trainer_stopped {
  rank_id rank = 0;
};

/// Anything that ends the run with an error.
struct run_failed {
  error reason;
};
/// The daemon of a member is lost and will send nothing more.
struct member_lost {
  std::size_t member = 0; ///< Its index among the members of the run.
  error reason;
};
struct start_run {};
/// The next epoch belongs to another attempt, with more trainers.
struct pause_run {};
struct cancel_run {
  bool now = false; ///< Do not finish the step.
};
/// A periodic message of an actor to itself.
struct tick {};
/// The compute thread of an actor has finished a job (`actor_thread`).
struct job_done {};

} // namespace graphmill

GRAPHMILL_LOCAL_MESSAGE(graphmill::neighbour_job)
GRAPHMILL_LOCAL_MESSAGE(graphmill::neighbour_answer)
GRAPHMILL_LOCAL_MESSAGE(graphmill::gather_job)
GRAPHMILL_LOCAL_MESSAGE(graphmill::gather_answer)
GRAPHMILL_LOCAL_MESSAGE(graphmill::sample_job)
GRAPHMILL_LOCAL_MESSAGE(graphmill::sample_answer)
GRAPHMILL_LOCAL_MESSAGE(graphmill::phase_request)
GRAPHMILL_LOCAL_MESSAGE(graphmill::begin_phase)
GRAPHMILL_LOCAL_MESSAGE(graphmill::pause_over)
GRAPHMILL_LOCAL_MESSAGE(graphmill::farewell_over)
GRAPHMILL_LOCAL_MESSAGE(graphmill::step_input)
GRAPHMILL_LOCAL_MESSAGE(graphmill::step_finished)
GRAPHMILL_LOCAL_MESSAGE(graphmill::step_result)
GRAPHMILL_LOCAL_MESSAGE(graphmill::contribution)
GRAPHMILL_LOCAL_MESSAGE(graphmill::reduced_gradients)
GRAPHMILL_LOCAL_MESSAGE(graphmill::stop_after_step)
GRAPHMILL_LOCAL_MESSAGE(graphmill::trainer_request)
GRAPHMILL_LOCAL_MESSAGE(graphmill::trainer_state)
GRAPHMILL_LOCAL_MESSAGE(graphmill::member_state)
GRAPHMILL_LOCAL_MESSAGE(graphmill::fill_cache)
GRAPHMILL_LOCAL_MESSAGE(graphmill::cache_filled)
GRAPHMILL_LOCAL_MESSAGE(graphmill::member_ready)
GRAPHMILL_LOCAL_MESSAGE(graphmill::trainer_stopped)
GRAPHMILL_LOCAL_MESSAGE(graphmill::run_failed)
GRAPHMILL_LOCAL_MESSAGE(graphmill::member_lost)
GRAPHMILL_LOCAL_MESSAGE(graphmill::start_run)
GRAPHMILL_LOCAL_MESSAGE(graphmill::pause_run)
GRAPHMILL_LOCAL_MESSAGE(graphmill::cancel_run)
GRAPHMILL_LOCAL_MESSAGE(graphmill::tick)
GRAPHMILL_LOCAL_MESSAGE(graphmill::job_done)

namespace graphmill {

/// A worker, and the WORKER POOL in front of several, accept jobs and answer
/// them.
template <class Job, class Answer>
using worker_actor = caf::typed_actor<answers<Job, Answer>>;

/// The SAMPLING SERVICE of a part: neighbours of its nodes.
using sampling_service_actor = worker_actor<neighbour_job, neighbour_answer>;
/// The FEATURE SERVICE of a part: rows and values of its nodes.
using feature_service_actor = worker_actor<gather_job, gather_answer>;
/// The SAMPLER: seeds to blocks.
using sampler_actor = worker_actor<sample_job, sample_answer>;

/// The DISPATCHER admits batches in step order as credit allows, sends them
/// through the stages, and hands them to the trainers in order.
using dispatcher_actor = caf::typed_actor<
  // Starts a pass over a split; the one before it has ended.
  takes<begin_phase>,
  // INTERNAL: checks for credit that is held too long.
  takes<tick>,
  // INTERNAL: repeats a batch.
  takes<pause_over>,
  // INTERNAL: a batch was lost to a stage that has shut down.
  takes<farewell_over>>;

/// A TRAINER owns a replica of the model and the thread that computes on it.
using trainer_actor = caf::typed_actor<
  // A batch, in step order. The answer comes when its memory is free again,
  // before the gradients are reduced.
  answers<step_input, step_finished>,
  // Keeps or restores the best weights, copies the present ones, or loads those
  // of a checkpoint.
  answers<trainer_request, trainer_state>,
  // INTERNAL: the compute thread has finished.
  takes<job_done>>;

/// The GRADIENT GROUP adds the gradients of all ranks, step by step.
using gradient_group_actor = caf::typed_actor<
  // Answered when every rank has contributed to the step.
  answers<contribution, reduced_gradients>,
  // Marks the next sum as the last one.
  takes<stop_after_step>>;

/// The CACHE FILLER of a member that fetches rows of other daemons.
using cache_filler_actor = caf::typed_actor<
  // Answered when the cache is filled and open; once.
  answers<fill_cache, cache_filled>>;

/// A MEMBER of a run: the stages and trainers of one process.
using member_actor = caf::typed_actor<
  // Begins a pass over a split; the one before it has ended.
  takes<phase_request>,
  // Ends the run after the current step.
  takes<stop_after_step>,
  // Asks all its trainers, or fills its cache.
  answers<trainer_request, member_state>>;

/// What the MEMBERS of a run report to its CONDUCTOR.
using run_reports_actor = caf::typed_actor<
  // A MEMBER has spawned its actors.
  takes<member_ready>,
  // A TRAINER has finished a step.
  takes<step_result>,
  // A TRAINER has stopped after the last step.
  takes<trainer_stopped>,
  // An actor cannot go on.
  takes<run_failed>>;

/// The CONDUCTOR leads a run through its phases and ends it.
using conductor_actor = run_reports_actor::extend<
  // Begins the first phase.
  takes<start_run>,
  // The deployer of the MEMBERS has lost one; the run fails.
  takes<member_lost>,
  // The deployer of the members has room for more after the epoch.
  takes<pause_run>,
  // The user asks to stop.
  takes<cancel_run>>;

} // namespace graphmill
