#pragma once

#include "messages/definition/definition.hpp"
#include "messages/wire/cluster.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace graphmill {

/// Where a run would go, a row per daemon: the parts that it is the first owner
/// of, and those that it serves beside another one.
std::string placement_text(const plan_reply& placed);

/// {"name", "cluster",
///  "daemons": [{"name", "parts", "replicas", "samples", "ranks"}]}
nlohmann::json placement_json(const definition& def, const std::string& address,
                              const plan_reply& placed);

} // namespace graphmill
