#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// Whether there is one label per node, each -1 or a class. An error names the
/// first node whose label is not.
result<void> check_labels(const node_type_info& type,
                          std::span<const std::int64_t> labels);

/// Whether each node has a row of labels as `label_kind` says. An error names
/// the first one that has not. @param rows [count, label_bytes()]
result<void> check_label_rows(const node_type_info& type,
                              std::span<const std::uint8_t> rows);

/// Of each node 0, or -1 if it has no labels: what says which nodes may be
/// seeds. @param rows As above, checked.
std::vector<std::int64_t> labelled_nodes(const node_type_info& type,
                                         std::span<const std::uint8_t> rows);

/// Whether all seeds are nodes, labelled, unique, and in one split only. An
/// error names the first one that is not.
/// @param labels Empty if the type has none; below 0: a node has none.
/// @param need_seeds Whether it is an error if all splits are empty.
result<void> check_seeds(const node_type_info& type,
                         std::span<const std::int64_t> labels,
                         const std::array<std::vector<node_id>, 3>& splits,
                         bool need_seeds);

} // namespace graphmill
