#pragma once

#include "messages/base/ids.hpp"
#include "messages/wire/run.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

/// The owners of a part, by their positions in the deployment, in the order in
/// which its receiver asks them: itself, then those on its host, then all
/// others. Among equals each asker begins with another one, and for each part
/// with another one, so that they are asked evenly. All addresses of loopback
/// count as one host.
std::vector<std::uint16_t> owner_order(const deployment& assignment,
                                       part_id part);

} // namespace graphmill
