#include "partition/importers/npy/npy_labels.hpp"

#include "messages/words/number_text.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/importers/npy/npy_values.hpp"

#include <algorithm>
#include <map>
#include <optional>

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

bool is_list(const npy_array& array) {
  return std::ranges::count_if(array.shape(),
                               [](std::int64_t extent) { return extent != 1; })
         <= 1;
}

result<void> expect_one_label_each(const npy_array& labels,
                                   std::int64_t nodes) {
  if (is_list(labels) && labels.size() == nodes)
    return ok();
  return labels.expect_shape({nodes});
}

result<std::vector<node_id>> marked_nodes(const npy_array& mask,
                                          std::int64_t nodes) {
  if (mask.shape().size() == 2 && !is_list(mask))
    return fail(ec::invalid_data,
                "{} has {} columns, and one split is expected: save the column "
                "of one, or each as a mask of its own for a label set "
                "(train_mask.NAME.npy)",
                mask.path().string(), mask.shape()[1]);
  if (!is_list(mask) || mask.size() != nodes)
    return fail(ec::invalid_data,
                "{} has {} elements; a mask has one for each of the {} nodes",
                mask.path().string(), mask.size(), nodes);
  GRAPHMILL_TRY(const auto values, read_integers(mask));
  std::vector<node_id> marked;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0 && values[i] != 1)
      return fail(ec::invalid_data,
                  "{}: element {} is {}; a mask holds true and false, or 1 "
                  "and 0",
                  mask.path().string(), i, values[i]);
    if (values[i] == 1)
      marked.push_back(static_cast<node_id>(i));
  }
  return marked;
}

std::map<std::int64_t, std::string>
numbers_for_none(const no_label_values& none,
                 std::span<const std::string> names) {
  std::map<std::int64_t, std::string> out;
  for (const auto& text : none.values()) {
    const auto named = std::ranges::find(names, text);
    const auto number = named == names.end()
                          ? number_from<std::int64_t>(text)
                          : std::optional{named - names.begin()};
    if (number)
      out.emplace(*number, text);
  }
  return out;
}

result<std::vector<std::int64_t>>
read_class_labels(const npy_array& labels,
                  const std::map<std::int64_t, std::string>& none,
                  unlabelled_nodes& found) {
  GRAPHMILL_TRY(auto values, read_integers(labels));
  std::map<std::int64_t, std::int64_t> nodes;
  for (auto& label : values)
    if (label == -1 || none.contains(label)) {
      ++nodes[label];
      label = -1;
    }
  for (const auto& [label, count] : nodes) {
    const auto said = none.find(label);
    found.emplace(said == none.end() ? "-1" : said->second, count);
  }
  return values;
}

result<void> expect_labels(const std::filesystem::path& path,
                           std::span<const std::int64_t> labels,
                           std::optional<std::int64_t> classes) {
  const auto bad = std::ranges::find_if(labels, [&classes](std::int64_t label) {
    return label < -1 || (classes && label >= *classes);
  });
  if (bad == labels.end())
    return ok();
  const auto node = bad - labels.begin();
  if (*bad < -1)
    return fail(ec::invalid_data,
                "{}: the label of node {} is {}; classes count from 0, and -1 "
                "is for nodes without a label. If {} is, too, import with "
                "--no-label {}",
                path.string(), node, *bad, *bad, *bad);
  return fail(ec::invalid_data,
              "{}: the label of node {} is {}, and meta.json tells of {} "
              "classes, 0 to {}: correct its \"num_classes\" or "
              "\"class_names\", or the label; if it stands for no label, "
              "import with --no-label {}",
              path.string(), node, *bad, *classes, *classes - 1, *bad);
}

result<std::int64_t> count_classes(const std::filesystem::path& path,
                                   std::span<const std::int64_t> labels) {
  const auto most = std::ranges::max_element(labels);
  const auto largest =
    most == labels.end() ? -1 : std::max<std::int64_t>(*most, -1);
  if (largest >= most_classes)
    return fail(ec::invalid_data,
                "{}: its labels go up to {}, and there can be {} classes: {}",
                path.string(), largest, most_classes, renumbering_advice);
  if (largest >= unquestioned_classes && mostly_holes(labels, largest))
    return fail(ec::invalid_data,
                "{}: its labels go up to {}, which would make {} classes, most "
                "of them without a node: {}, or say num_classes in meta.json "
                "if there are that many",
                path.string(), largest, largest + 1, renumbering_advice);
  return largest + 1;
}

std::vector<std::int64_t> label_values(std::span<const std::int64_t> labels) {
  std::vector<std::int64_t> values{labels.begin(), labels.end()};
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

std::vector<std::string> names_of_labels(std::span<const std::int64_t> values,
                                         std::span<const std::string> names) {
  std::vector<std::string> out;
  for (auto value : values)
    out.push_back(value < std::ssize(names)
                    ? names[static_cast<std::size_t>(value)]
                    : std::to_string(value));
  return out;
}

} // namespace graphmill
