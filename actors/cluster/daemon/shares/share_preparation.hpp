#pragma once

#include "actors/run/data_guard.hpp"
#include "actors/run/member/member.hpp"
#include "messages/base/error.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/run.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/planning/storage_decision.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace graphmill {

/// What a daemon opens its shares of runs from.
struct share_sources {
  std::filesystem::path folder; ///< Of the graph.
  /// The graph as the daemon has known it from its start.
  std::shared_ptr<const partitioned_graph> graph;
  unsigned processors = 1; ///< To deal out to the trainers here.
  storage_choice storage;  ///< Of the parts here.
};

/// Whether a daemon has what a run wants of it.
/// @param daemon Its name. @param offer What it tells the coordinator of
/// itself. @param graph The one that it serves parts of.
result<void> check_deployment(const deployment& assignment,
                              const std::string& daemon,
                              const join_request& offer,
                              const partitioned_graph& graph);

/// How many runs at most share the memory of a daemon, this one included: those
/// that train at once, or more where feeds are on as well.
std::uint32_t sharers_of(const deployment& assignment);

/// Opens files and builds models, which takes a while: no handler may do it.
/// Reads the seeds again, after the records were made: what the daemon read at
/// its start may have been damaged, and put right since.
/// @param records Gets those of the files that are mapped or were read.
result<member_config> open_share(const deployment& assignment,
                                 const share_sources& from,
                                 data_guard::records& records);

} // namespace graphmill
