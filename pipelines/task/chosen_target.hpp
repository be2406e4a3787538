#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/chosen_task.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/shard.hpp"

#include <cstdint>

namespace graphmill {

/// A dataset as a definition learns it: what `choose_labels` gives, or, with
/// `task`, what `choose_task` gives. Choosing again changes nothing. Fails,
/// with those that there are, if there is no such task or label set, or if a
/// definition names both.
result<dataset_info> choose_target(const dataset_info& info,
                                   const definition& def);

/// The same of a graph, by `with_labels` or `with_task`.
result<partitioned_graph> choose_target(const partitioned_graph& graph,
                                        const definition& def);

/// How many seeds of a split a definition learns: nodes, or edges of its task.
/// None if the dataset lacks what the definition learns.
std::int64_t seed_count(const dataset_info& info, const definition& def,
                        split which);

/// Whether some seed of a split can be measured: of the test split of a task of
/// edges, none may have a label.
bool can_be_measured(const dataset_info& info, const definition& def,
                     split which);

/// The meaning of the labels of what `choose_target` chooses.
result<label_meaning> meaning_of_target(const dataset_info& info,
                                        const definition& def);

} // namespace graphmill
