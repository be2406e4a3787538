#pragma once

#include "actors/cluster/client/client.hpp"
#include "messages/base/progress.hpp"
#include "messages/definition/definition.hpp"

#include <string>

namespace graphmill {

/// Submits a definition. Weights that the run is to begin with
/// (`model.weights`) lie here, where no daemon can read them: they are sent
/// before, as a checkpoint of a run that has yet to take its first step.
/// @returns the id of the run.
result<std::string> submit_run(cluster_client& client, definition def,
                               bool tensorboard, const progress_callback& tell);

} // namespace graphmill
