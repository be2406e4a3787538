#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/wire/cluster.hpp"
#include "pipelines/definition/placement.hpp"

#include <cstdint>
#include <string>

namespace graphmill {

class active_runs;
class daemon_registry;
struct definition;
struct submitted_run;

/// Where a run could go in the cluster as it is now. Pure.
class run_places {
public:
  /// @param parts Of the dataset.
  run_places(const daemon_registry& registry, const active_runs& active,
             part_id parts)
    : registry_(registry), active_(active), parts_(parts) {}

  part_id parts() const { return parts_; }

  /// Where a run can go on an otherwise empty cluster; else why it cannot, and
  /// what it waits for.
  result<placement> now(const definition& def) const;

  /// The same for a run that is submitted: what is draining will be back, so
  /// that the run may wait for it.
  result<void> check(const definition& def) const;

  /// Where a feed can go. Its consumer takes no trainers, and so has no slot.
  result<placement> of_feed(const definition& def,
                            const std::string& consumer) const;

  /// The same for a feed that is begun.
  result<void> check_feed(const definition& def,
                          const std::string& consumer) const;

  /// Where a run that is on could go anew, beside the others.
  result<placement> beside(const definition& def,
                           const submitted_run& run) const;

  /// Fails if the definition names a daemon that the cluster has never had. One
  /// that is away need not come, if others will do.
  result<void> check_names(const definition& def) const;

  /// Why a run waits that finds daemons, but no slots on them.
  error without_slots() const;

private:
  result<placement> among(const definition& def, daemon_state up_to) const;
  result<placement> feed_among(const definition& def,
                               const std::string& consumer,
                               daemon_state up_to) const;

  const daemon_registry& registry_;
  const active_runs& active_;
  part_id parts_;
};

} // namespace graphmill
