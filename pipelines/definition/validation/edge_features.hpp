#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace graphmill {

/// Whether edges of any type of a dataset have features.
bool has_edge_features(const dataset_info& info);

/// Whether the layers of a definition's model read the features of a dataset's
/// edges. If not, they are not fetched.
bool reads_edge_features(const definition& def, const dataset_info& info);

/// Whether they read ages of edges. If not, ages are not sampled.
bool reads_ages(const definition& def, const dataset_info& info);

/// Columns that layers read of the age of an edge of a type.
std::int64_t age_columns(const definition& def, const edge_type_info& type);

/// Edge types that are one for the model and whose features differ.
bool has_unlike_edge_features(const dataset_info& info);

/// Whether the decoder reads those of the edges of its task.
bool decodes_edge_features(const definition& def);

/// How many of an edge the decoder reads; 0: none.
/// @param info As `choose_target` shows it.
std::int64_t decoded_edge_width(const definition& def,
                                const dataset_info& info);

/// What is wrong with `model.edge_features` for a dataset: a kind of model that
/// hears neighbours and cannot read features of edges, edge types that such a
/// kind merges and that differ in them, or `ignore` where there is nothing to
/// ignore.
/// @param given Whether the field stands in the definition's text.
std::optional<std::string> problem_with_edge_features(const definition& def,
                                                      const dataset_info& info,
                                                      bool given);

/// What is wrong with `model.edge_ages` for a dataset: edge types that a kind
/// merges, of which only some have times, or a device.
std::optional<std::string> problem_with_ages(const definition& def,
                                             const dataset_info& info);

/// What is wrong with `decoder.edge_features`.
/// @param info As `choose_target` shows it.
std::optional<std::string>
problem_with_decoded_features(const definition& def, const dataset_info& info);

} // namespace graphmill
