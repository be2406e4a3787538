#pragma once

#include "actors/cluster/client/client.hpp"
#include "messages/base/progress.hpp"
#include "messages/definition/definition.hpp"
#include "pipelines/results/checkpoint.hpp"

#include <optional>
#include <string>

namespace graphmill {

/// Submits a definition. Weights that the run is to begin with
/// (`model.weights`) lie here, where no daemon can read them: they are sent
/// before, as a checkpoint of a run that has yet to take its first step.
/// The cluster sees by what they have learnt from whether they can be of use
/// there.
/// @param learnt What that is, if it is known; else the run tells that the file
/// of weights lies in, if any.
/// @returns the id of the run.
result<std::string>
submit_run(cluster_client& client, definition def, bool tensorboard,
           const progress_callback& tell,
           std::optional<learnt_from> learnt = std::nullopt);

} // namespace graphmill
