#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/sampling/time_limits.hpp"

#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// What seeds may see by time.
time_rule time_rule_of(const definition& def, const dataset_info& info);

/// Fails if pairs that a user names would see nothing, or of edges without
/// an age: they are of a time after all edges, from which a window does not
/// reach back to one.
result<void> check_named_pairs(const definition& def);

/// Fails if rows see edges that are held out (`evaluate.visible: past`), and
/// lists of a part are not in the order of time over all splits: a model that
/// learns from such a part is measured on rows that are older than what it
/// learns. Reads two times for each split and list.
result<void> check_visible_past(const definition& def, const shard& part);

/// How many rows of a split are older than the last training row, where that
/// matters: with `evaluate.visible: past`.
/// @param graph As the definition's `task` shows it.
result<std::int64_t> count_early_rows(const definition& def,
                                      const partitioned_graph& graph,
                                      split which);

/// The problems of fields about times for a dataset, by path: times that the
/// dataset or its rows lack, that would be ignored without a word, and what has
/// no meaning together with them.
/// @param info As `choose_target` shows it.
/// @param feeding Whether batches go to a model that is defined elsewhere.
std::vector<std::pair<std::string, std::string>>
problems_with_times(const definition& def, const dataset_info& info,
                    bool feeding);

} // namespace graphmill
