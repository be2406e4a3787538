#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/files/npy/npy.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// Whether an array is a list: of one extent, or of several of which only one
/// is not 1.
bool is_list(const npy_array& array);

/// Fails unless an array of labels has one for each node.
result<void> expect_one_label_each(const npy_array& labels, std::int64_t nodes);

/// The ids of the nodes that a mask marks. Fails unless it has a truth value,
/// or 0 or 1, for each node.
result<std::vector<node_id>> marked_nodes(const npy_array& mask,
                                          std::int64_t nodes);

/// Fails if a label is no number of a class, nor -1 for a node without one.
/// @param classes How many meta.json tells of, if it does and they are not to
/// be numbered anew.
result<void> expect_labels(const npy_array& labels,
                           std::optional<std::int64_t> classes);

/// The number of classes of labels that nobody has counted: one past the
/// largest, for labels are numbers of classes. Each class costs a row of
/// weights and a score for every seed, so labels of which most numbers are
/// nobody's, such as ids of something, are refused with a sentence that says
/// what to do.
result<std::int64_t> count_classes(const npy_array& labels);

/// The labels that there are, ascending, negative ones left out: what
/// `renumber_labels` makes classes of.
result<std::vector<std::int64_t>> label_values(const npy_array& labels);

/// Puts the place of each label among `values` in its place; negative ones
/// stay as they are.
void renumber_labels(std::span<const std::int64_t> values,
                     std::span<std::int64_t> labels);

/// The names of classes that were labels before.
/// @param names Of the labels, by their numbers; the others are called by their
/// number.
std::vector<std::string>
names_of_labels(std::span<const std::int64_t> values,
                std::span<const std::string> names = {});

} // namespace graphmill
