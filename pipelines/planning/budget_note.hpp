#pragma once

#include "pipelines/planning/run_plan.hpp"

#include <optional>
#include <string>

namespace graphmill {

/// A warning if a batch may take more than what there is for all batches;
/// nothing otherwise.
std::optional<std::string> note_on_budget(const run_plan& plan);

} // namespace graphmill
