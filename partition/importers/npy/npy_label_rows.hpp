#pragma once

#include "messages/base/error.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/importers/npy/npy_label_sets.hpp"
#include "partition/importers/npy/npy_source.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

/// Whether an array of labels has a row of several for each node.
/// @param wanted Whether they were asked for, so that a row may be of one.
bool has_label_rows(const npy_array& labels, bool wanted);

/// Reads rows of labels: 0 and 1 in numbers of any kind, or in all columns of a
/// node without labels -1, 255 or what is no number. An error names the first
/// value that is none of these. @returns [nodes, labels], as `label_kind` says.
result<std::vector<std::uint8_t>> read_label_rows(const npy_array& labels);

/// Makes nodes of a type have values, which its `labels` are: [count] or
/// [count, values], rounded to float32. A row is no number throughout where
/// nothing is known of a node. Fails if a number is not finite, or meta.json
/// speaks of another number of values.
result<void> derive_npy_values(npy_node_source& type, const npy_meta& meta);

/// Makes nodes of a type have several labels, which its `labels` are rows of.
/// Rows that mark one class each may be either, so that they must be asked for.
/// Fails if meta.json speaks of another number of labels.
/// @param wanted Whether they were asked for.
result<void> derive_npy_label_rows(npy_node_source& type, const npy_meta& meta,
                                   bool wanted);

} // namespace graphmill
