#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/base/timeouts.hpp"
#include "actors/remote/remote_part.hpp"
#include "messages/wire/data.hpp"
#include "pipelines/flow/stage_counters.hpp"

#include <spdlog/fwd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// A daemon that samples whole batches for others.
struct batch_source {
  std::string daemon;
  remote_call call; ///< Empty: it is this process, by `here`.
};

/// Remembers with how many seeds a batch was too large for a message. Shared by
/// all proxies of a process. Thread-safe.
class batch_limits {
public:
  bool allow(batch_kind kind, std::size_t seeds) const {
    return seeds < of(kind);
  }
  void was_too_large(batch_kind kind, std::size_t seeds) {
    auto& least = of(kind);
    auto known = least.load();
    while (seeds < known && !least.compare_exchange_weak(known, seeds))
      ;
  }

private:
  using number = std::atomic<std::size_t>;
  const number& of(batch_kind kind) const {
    return kind == batch_kind::train ? train_ : evaluate_;
  }
  number& of(batch_kind kind) {
    return kind == batch_kind::train ? train_ : evaluate_;
  }

  number train_{std::numeric_limits<std::size_t>::max()};
  number evaluate_{std::numeric_limits<std::size_t>::max()};
};

/// What a BATCH PROXY needs.
struct batch_proxy_config {
  std::string run;
  std::shared_ptr<const partitioned_graph> graph;
  /// Samples what is dealt to this process, and batches that are too large for
  /// a message.
  sampler_actor here;
  /// Batches are dealt to them in this order, by step and rank.
  std::vector<batch_source> sources;
  rank_id world = 1; ///< Trainers of the run in all.
  std::chrono::milliseconds timeout = timeouts::waiting_stage; ///< Of `here`.
  std::shared_ptr<batch_limits> limits = std::make_shared<batch_limits>();
  std::shared_ptr<buffer_pool> pool;
  std::shared_ptr<stage_counters> counters;
  std::shared_ptr<remote_counters> wire;
  std::shared_ptr<spdlog::logger> log;
};

/// Spawns an actor that answers like a SAMPLER, by asking daemons that sample
/// for others: one request per batch. Which daemon samples a batch changes
/// nothing in it. A batch that is too large for a message is sampled here, and
/// so is from then on every batch of its kind with as many seeds or more.
/// @pre there is a source
sampler_actor spawn_batch_proxy(caf::actor_system& system,
                                batch_proxy_config config);

} // namespace graphmill
