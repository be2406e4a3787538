#pragma once

#include "actors/member.hpp"
#include "actors/remote/interfaces.hpp"
#include "actors/remote/route.hpp"
#include "actors/transport/transport.hpp"
#include "messages/run.hpp"
#include "pipelines/gradients/parking.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// How long daemons may take to open what they need for a run.
inline constexpr std::chrono::milliseconds deployment_patience =
  std::chrono::minutes{5};

/// What a daemon's share of a run needs to reach the others.
struct share_surroundings {
  std::shared_ptr<transport> net;
  data_server_actor data; ///< Of this daemon.
  std::shared_ptr<parking> lot;
  std::string interface_name; ///< For Gloo; empty: by the address.
};

/// The stages of a share of a run.
stage_table stages_of(const deployment& what, const member_config& member);

/// Links of the share of `member`, which is complete but for them: proxies to
/// parts that others serve and to samplers of others, own parts and samplers
/// offered to others, and a gradient group over processes if ranks live in
/// several.
/// @param counters Of everything that goes over the wire, one for all parts.
member_links links_of(const deployment& what, const member_config& member,
                      const stage_table& stages,
                      const share_surroundings& around,
                      std::shared_ptr<remote_counters> counters);

} // namespace graphmill
