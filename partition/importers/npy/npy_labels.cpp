#include "partition/importers/npy/npy_labels.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/importers/npy/npy_values.hpp"

#include <algorithm>

namespace graphmill {

namespace {

constexpr const char* renumbering_advice =
  "import with --renumber-labels, which numbers the labels that there are and "
  "keeps them as names of classes";

/// Whether fewer than half of the numbers up to the largest label are labels.
bool mostly_holes(std::span<const std::int64_t> labels, std::int64_t largest) {
  std::vector<bool> seen(static_cast<std::size_t>(largest) + 1);
  std::int64_t distinct = 0;
  for (auto label : labels)
    if (label >= 0 && !seen[static_cast<std::size_t>(label)]) {
      seen[static_cast<std::size_t>(label)] = true;
      ++distinct;
    }
  return distinct < (largest + 1) / 2;
}

} // namespace

result<std::int64_t> count_classes(const npy_array& labels) {
  GRAPHMILL_TRY(const auto values, read_integers(labels));
  const auto most = std::ranges::max_element(values);
  const auto largest =
    most == values.end() ? -1 : std::max<std::int64_t>(*most, -1);
  if (largest >= most_classes)
    return fail(ec::invalid_data,
                "{}: its labels go up to {}, and there can be {} classes: {}",
                labels.path().string(), largest, most_classes,
                renumbering_advice);
  if (largest >= unquestioned_classes && mostly_holes(values, largest))
    return fail(ec::invalid_data,
                "{}: its labels go up to {}, which would make {} classes, most "
                "of them without a node: {}, or say num_classes in meta.json "
                "if there are that many",
                labels.path().string(), largest, largest + 1,
                renumbering_advice);
  return largest + 1;
}

result<std::vector<std::int64_t>> label_values(const npy_array& labels) {
  GRAPHMILL_TRY(auto values, read_integers(labels));
  std::erase_if(values, [](std::int64_t label) { return label < 0; });
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void renumber_labels(std::span<const std::int64_t> values,
                     std::span<std::int64_t> labels) {
  for (auto& label : labels)
    if (label >= 0)
      label = std::ranges::lower_bound(values, label) - values.begin();
}

std::vector<std::string> names_of_labels(std::span<const std::int64_t> values) {
  std::vector<std::string> names;
  for (auto value : values)
    names.push_back(std::to_string(value));
  return names;
}

} // namespace graphmill
