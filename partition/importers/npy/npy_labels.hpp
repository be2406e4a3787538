#pragma once

#include "messages/base/error.hpp"
#include "partition/files/npy.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

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
std::vector<std::string> names_of_labels(std::span<const std::int64_t> values);

} // namespace graphmill
