#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/importers/no_label_values.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
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

/// The numbers that stand for no label, each with the text that says so. Texts
/// that are neither integers nor names of classes are passed over.
/// @param names Of classes, by their numbers; may be empty.
std::map<std::int64_t, std::string>
numbers_for_none(const no_label_values& none,
                 std::span<const std::string> names);

/// The integers in an array: one label for each node, -1 where it stands for
/// none.
/// @param none As above; -1 does in any case.
/// @param found Gets the labels that stand for none.
result<std::vector<std::int64_t>>
read_class_labels(const npy_array& labels,
                  const std::map<std::int64_t, std::string>& none,
                  unlabelled_nodes& found);

/// Fails if a label is no number of a class, nor -1 for a node without one.
/// @param path Of the array, here and below. @param labels As they were read.
/// @param classes How many meta.json tells of, if it does and they are not to
/// be numbered anew.
result<void> expect_labels(const std::filesystem::path& path,
                           std::span<const std::int64_t> labels,
                           std::optional<std::int64_t> classes);

/// The number of classes of labels that nobody has counted: one past the
/// largest, for labels are numbers of classes. Each class costs a row of
/// weights and a score for every seed, so labels of which most numbers are
/// nobody's, such as ids of something, are refused with a sentence that says
/// what to do.
result<std::int64_t> count_classes(const std::filesystem::path& path,
                                   std::span<const std::int64_t> labels);

/// The labels that there are, ascending, negative ones left out: what
/// `renumber_labels` makes classes of.
std::vector<std::int64_t> label_values(std::span<const std::int64_t> labels);

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
