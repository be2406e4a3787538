#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/importers/graph_changes.hpp"
#include "partition/importers/incoming_labels.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// The labels that the user names as those of nodes and edges without a label
/// (--no-label). Value type.
class no_label_values {
public:
  no_label_values() = default;

  /// Fails if one is empty, or is there twice.
  static result<no_label_values> of(const std::vector<std::string>& values);

  bool empty() const { return values_.empty(); }
  const std::vector<std::string>& values() const { return values_; }

  /// The one that a label is, character by character; null: none.
  const std::string* find(std::string_view label) const;
  /// The one that is this number, however it is written; null: none.
  const std::string* find_number(double label) const;

  /// A sentence for each value that no label has.
  /// @param found Of all labels of the source.
  void note_unused(const unlabelled_nodes& found,
                   const note_callback& on_note) const;

private:
  std::vector<std::string> values_;
};

/// Makes no numbers of those that stand for no label.
/// @param first The place of the first one. @param width Of a row.
/// @param found Gets them: those of the first column, one for each row.
template <std::floating_point T>
void take_out(std::span<T> values, std::int64_t first, std::int64_t width,
              const no_label_values& none, unlabelled_nodes& found) {
  if (none.empty())
    return;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const auto* said = none.find_number(values[i])) {
      values[i] = std::numeric_limits<T>::quiet_NaN();
      if ((first + static_cast<std::int64_t>(i)) % width == 0)
        ++found[*said];
    }
}

/// Notes which labels stand for none, and of how many nodes.
/// @param where A file, a label set or a task. @param what Has labels.
void note_unlabelled(const unlabelled_nodes& found, std::string_view where,
                     const note_callback& on_note,
                     std::string_view what = "node");

/// Leaves out the seeds without a label.
/// @param labels [nodes] Below 0: none.
/// @returns how many there were.
std::int64_t drop_unlabelled(split_ids& seeds,
                             std::span<const std::int64_t> labels);

/// Notes how many seeds were left out, if any.
/// @param where As above.
void note_dropped_seeds(std::int64_t count, std::string_view where,
                        const note_callback& on_note);

} // namespace graphmill
