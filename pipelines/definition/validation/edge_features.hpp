#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

#include <optional>
#include <string>

namespace graphmill {

/// Whether edges of any type of a dataset have features.
bool has_edge_features(const dataset_info& info);

/// Whether the layers of a definition's model read the features of a dataset's
/// edges. If not, they are not fetched.
bool reads_edge_features(const definition& def, const dataset_info& info);

/// Whether the decoder reads those of the edges of its task.
bool decodes_edge_features(const definition& def);

/// What is wrong with `model.edge_features` for a dataset: a kind of model that
/// hears neighbours and cannot read features of edges, edge types that such a
/// kind merges and that differ in them, or `ignore` where there is nothing to
/// ignore.
/// @param given Whether the field stands in the definition's text.
std::optional<std::string> problem_with_edge_features(const definition& def,
                                                      const dataset_info& info,
                                                      bool given);

/// What is wrong with `decoder.edge_features`.
/// @param info As `choose_target` shows it.
std::optional<std::string>
problem_with_decoded_features(const definition& def, const dataset_info& info);

} // namespace graphmill
