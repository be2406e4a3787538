#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/sampling/time_limits.hpp"

#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// What seeds may hear of by time.
time_rule time_rule_of(const definition& def, const dataset_info& info);

/// Fails if pairs that a user names would hear of nothing: they are of a time
/// after all edges, from which a window does not reach back to one.
result<void> check_named_pairs(const definition& def);

/// The problems of fields about times for a dataset, by path: times that the
/// dataset or its rows lack, that would be ignored without a word, and what has
/// no meaning together with them.
/// @param info As `choose_target` shows it.
/// @param feeding Whether batches go to a model that is defined elsewhere.
std::vector<std::pair<std::string, std::string>>
problems_with_times(const definition& def, const dataset_info& info,
                    bool feeding);

} // namespace graphmill
