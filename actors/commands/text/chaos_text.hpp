#pragma once

#include "actors/cluster/client/chaos_plan.hpp"
#include "messages/wire/cluster.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace graphmill {

/// A fault of a plan, and what became of it.
struct chaos_outcome {
  planned_fault fault;
  std::string outcome; ///< "asked", or why not; empty: not come to yet.
};

/// A plan as lines for people: when, since its begin, and what.
std::string plan_text(const std::vector<planned_fault>& plan);

nlohmann::json to_json(const chaos_outcome& done);

/// Kinds from a list as in kill,cut. Fails on a name that is none, on one that
/// comes twice, and if there is none.
result<std::vector<chaos_kind>> parse_chaos_kinds(const std::string& list);

/// The names of the daemons of a cluster, in order. Fails with `permission` if
/// one of those that are not lost does not let itself be harmed.
result<std::vector<std::string>>
daemons_for_chaos(const std::vector<daemon_status>& daemons);

} // namespace graphmill
