#pragma once

#include "actors/cluster/client/client.hpp"
#include "messages/base/progress.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

#include <optional>
#include <string>

namespace graphmill {

/// Submits a definition. Weights that the run is to begin with
/// (`model.weights`) lie here, where no daemon can read them: they are sent
/// before, as a checkpoint of a run that has yet to take its first step.
/// @param learnt What labels these weights have learnt, if the cluster is to
/// refuse others: those that a run is to predict.
/// @returns the id of the run.
result<std::string> submit_run(cluster_client& client, definition def,
                               bool tensorboard, const progress_callback& tell,
                               std::optional<label_kind> learnt = std::nullopt);

} // namespace graphmill
