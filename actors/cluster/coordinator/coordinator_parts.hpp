#pragma once

#include "actors/cluster/coordinator/runs/active_run.hpp"
#include "actors/http/api/cluster_feed.hpp"
#include "actors/transport/transport.hpp"
#include "messages/wire/cluster.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

// What the state of the COORDINATOR is made of.

namespace graphmill {

/// For the thread that writes checkpoints of a run: tells of them. Short epochs
/// do not push all else out of the events.
/// @param feed Null: nobody asks.
std::function<void(const std::string&)>
checkpoint_teller(const std::shared_ptr<cluster_feed>& feed,
                  const std::string& run);

/// For people: the step that comes next.
std::string place_name(const course_position& at);

/// Of the disk with the folder of runs, bytes; 0: not known. The COORDINATOR's
/// thread for files writes it, and it reads it.
struct disk_room {
  std::atomic<std::uint64_t> free{0};
  std::atomic<std::uint64_t> size{0};
  std::atomic<bool> is_looked_at{false}; ///< A look is under way.
};

/// Names of those who wait to follow the COORDINATOR. Its thread for the
/// history writes them, and it reads them.
struct stand_in_names {
  std::mutex mutex; ///< Held while they are copied or replaced.
  std::vector<std::string> all;
};

/// A client that waits for news of a run.
struct waiting_watcher {
  watch_request request;
  responder reply;
  std::chrono::steady_clock::time_point until;
};

/// A daemon that has asked to leave. It is answered once the runs that it has a
/// share of have ended, for until then its weights may be needed.
struct farewell {
  std::string daemon;
  std::string incarnation;
  responder reply;
};

} // namespace graphmill
