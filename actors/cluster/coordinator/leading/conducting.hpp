#pragma once

#include "actors/cluster/base/coordinator_interface.hpp"
#include "messages/base/error.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace graphmill {

class cluster_notices;
struct conductor_config;
struct coordinator_config;
struct submitted_run;

/// Spawns CONDUCTORS of runs, whose members are daemons elsewhere. They send
/// the COORDINATOR `run_news_came` and `run_ended`.
class conducting {
public:
  /// A conductor is not there any more.
  using end_hook = std::function<void(const std::string& run,
                                      std::uint32_t attempt, const error&)>;

  conducting(coordinator_actor::pointer self, const coordinator_config& config,
             const cluster_notices& notices, end_hook ended);

  /// Begins an attempt whose daemons have prepared their shares.
  void begin(submitted_run& run);

private:
  void add_members(submitted_run& run, conductor_config& lead) const;
  void observe(submitted_run& run, conductor_config& lead) const;

  coordinator_actor::pointer self_;
  const coordinator_config& config_;
  const cluster_notices& notices_;
  end_hook ended_;
  down_watch deaths_;
};

} // namespace graphmill
