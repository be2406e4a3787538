#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

#include <optional>
#include <string>

namespace graphmill {

/// Whether edges of any type of a dataset have weights.
bool has_edge_weights(const dataset_info& info);

/// Whether the model of a definition reads the weights of a dataset's edges. If
/// not, they are not sampled, and nothing tells the dataset from one that has
/// none.
bool weighs_edges(const definition& def, const dataset_info& info);

/// What is wrong with `model.edge_weights` for a dataset: a kind of model that
/// hears neighbours and cannot weigh them, or `ignore` where there is nothing
/// to ignore.
/// @param given Whether the field stands in the definition's text.
std::optional<std::string> problem_with_edge_weights(const definition& def,
                                                     const dataset_info& info,
                                                     bool given);

} // namespace graphmill
