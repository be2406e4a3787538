#pragma once

#include "actors/remote/calls/row_audit.hpp"
#include "actors/remote/interfaces.hpp"
#include "actors/remote/rank_links.hpp"
#include "actors/remote/remote_part.hpp"
#include "actors/remote/serving/reply_gauge.hpp"
#include "actors/run/member/member.hpp"
#include "actors/transport/transport.hpp"
#include "messages/wire/run.hpp"
#include "partition/sampling/rows/row_cache.hpp"
#include "partition/sampling/rows/row_census.hpp"
#include "pipelines/gradients/devices/orphan_threads.hpp"
#include "pipelines/health/peer_flows.hpp"

#include <memory>

namespace graphmill {

/// What a daemon's share of a run needs to reach the others.
struct share_surroundings {
  std::shared_ptr<transport> net;
  data_server_actor data;                ///< Of this daemon.
  std::shared_ptr<rank_inboxes> inboxes; ///< The same.
  std::shared_ptr<orphan_threads> orphans;
  unsigned processors = 1; ///< To deal out to the trainers here.
  /// What the data server's answers take; null: that is not known.
  std::shared_ptr<const reply_gauge> answers = nullptr;
  /// What goes between here and other daemons; null: nobody counts it.
  std::shared_ptr<peer_flows> flows = nullptr;
};

/// The stages of a share of a run.
stage_table stages_of(const deployment& assignment,
                      const member_config& member);

/// What the links of a share count and keep, for all parts together.
struct share_traffic {
  std::shared_ptr<remote_counters> wire;    ///< While batches are made.
  std::shared_ptr<remote_counters> filling; ///< While the cache is filled.
  std::shared_ptr<row_cache> cache; ///< Empty; filled if the run has one.
  std::shared_ptr<row_audit> audit; ///< Null: nothing is checked.
  /// Of rows that are asked for while batches are made, without a cache.
  std::shared_ptr<row_census> census;
};

/// The links of `member`, which has everything else: proxies of parts and of
/// samplers of other daemons, the offer of its own parts and samplers to them,
/// and a gradient group over processes if ranks live in several. From here on
/// flows are counted anew.
remote_access access_of(const deployment& assignment,
                        const member_config& member, const stage_table& stages,
                        const share_surroundings& around,
                        const share_traffic& traffic);

} // namespace graphmill
