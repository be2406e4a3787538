#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/base/request_watch.hpp"
#include "pipelines/flow/seed_batch.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// A batch between its seeds and its trainer. Each stage takes out what the one
/// before it has made, and leaves what it makes itself.
struct batch_in_making {
  batch_key key;
  std::uint64_t stream = 0; ///< `stream_key` of the step.
  std::shared_ptr<const seed_batch> seeds;
  std::vector<seed_row> rows; ///< Of the seeds' table.
  bool edges = false;         ///< Whether rows are edges.
  std::shared_ptr<const sampling_scheme> scheme;
  std::int64_t global_seeds = 0; ///< Of the step, on all ranks.

  std::shared_ptr<sampled_subgraph> graph;
  std::shared_ptr<fetched_batch> fetched;
  std::shared_ptr<minibatch> made; ///< By the last stage: for the trainer.
};

/// A stage on the way of every batch, as the DISPATCHER drives it. The way is a
/// list of them: the DISPATCHER knows neither their jobs nor their answers.
struct batch_stage {
  /// How the DISPATCHER asks. One of the two functions is called, later.
  struct asking {
    dispatcher_actor::pointer self;
    request_watch& watch;
    std::chrono::milliseconds silence; ///< Of the stage, at the most.
    std::function<void()> on_answer;   ///< It is in the batch.
    std::function<void(const caf::error&)> on_error;
  };

  std::string_view name; ///< Of a literal; in errors and notices.
  /// Asks the stage for its part of the batch.
  std::function<void(const std::shared_ptr<batch_in_making>&, asking)> ask;
  /// What the batch takes from now on, if this stage makes that known; before,
  /// bytes are reserved by bound.
  std::function<std::uint64_t(const batch_in_making&)> bytes;
};

/// The entry of the stage behind `actor`. @param job Makes its job of a batch.
/// @param put Puts its answer into the batch.
template <class Answer, class Handle, class Job, class Put>
batch_stage make_stage(std::string_view name, Handle actor, Job job, Put put) {
  batch_stage out;
  out.name = name;
  out.ask = [actor = std::move(actor), job,
             put](const std::shared_ptr<batch_in_making>& batch,
                  batch_stage::asking how) {
    auto on_answer = [batch, put,
                      then = std::move(how.on_answer)](const Answer& answer) {
      put(*batch, answer);
      then();
    };
    how.watch.ask(how.self, actor, how.silence, job(*batch))
      .then(std::move(on_answer), std::move(how.on_error));
  };
  return out;
}

} // namespace graphmill
