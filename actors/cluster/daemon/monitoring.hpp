#pragma once

#include "actors/process/logs/log_ring.hpp"
#include "messages/base/error.hpp"
#include "pipelines/figures/cluster_feed.hpp"
#include "pipelines/figures/figures_board.hpp"

#include <spdlog/fwd.h>

#include <functional>
#include <memory>

namespace graphmill {

struct incoming_request;

/// Hands a request to the COORDINATOR, as one that came over the network. From
/// any thread; it answers while there is none, too.
using coordinator_port = std::function<void(const incoming_request&)>;

/// How a daemon can be watched, as over HTTP. Owned by its main thread.
struct monitoring {
  /// Where actors leave their figures; null if nobody could see them.
  std::shared_ptr<figures_board> board;
  /// Where a coordinator leaves what becomes of them; null of any other daemon.
  std::shared_ptr<cluster_feed> feed;
  /// Shows both from now on, until this is gone. What fails is a line of the
  /// log: a cluster works without. @param lines Of all logs of the cluster,
  /// which a coordinator shows. @param port To the coordinator, if it is here.
  std::function<void(const std::shared_ptr<spdlog::logger>& log,
                     const std::shared_ptr<const log_ring>& lines,
                     const coordinator_port& port)>
    start;
};

/// Prepares it; nothing is bound yet. Fails if what is asked for is not
/// allowed.
/// @param leads The daemon is the coordinator.
using monitoring_maker = std::function<result<monitoring>(bool leads)>;

} // namespace graphmill
