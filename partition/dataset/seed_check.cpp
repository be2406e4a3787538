#include "partition/dataset/seed_check.hpp"

#include "partition/dataset/label_rows.hpp"

#include <algorithm>

namespace graphmill {

namespace {

constexpr std::uint8_t nowhere = 255;

} // namespace

result<void> check_labels(const node_type_info& type,
                          std::span<const std::int64_t> labels) {
  if (type.class_count == 0)
    return fail(ec::invalid_data, "labels given for {}, which has no classes",
                type.name);
  if (type.has_label_rows())
    return fail(ec::invalid_data,
                "one label each given for nodes of {}, which {}", type.name,
                traits_of(type.labels).instead);
  if (std::ssize(labels) != type.count)
    return fail(ec::invalid_data, "{} labels given for the {} nodes of {}",
                labels.size(), type.count, type.name);
  const auto bad = std::ranges::find_if_not(labels, [&](std::int64_t label) {
    return label >= -1 && label < type.class_count;
  });
  if (bad != labels.end())
    return fail(ec::invalid_data,
                "label of {} node {} is {}; 0 to {} expected, or -1 for none",
                type.name, bad - labels.begin(), *bad, type.class_count - 1);
  return ok();
}

result<void> check_label_rows(const node_type_info& type,
                              std::span<const std::uint8_t> rows) {
  if (!type.has_label_rows())
    return fail(ec::invalid_data, "rows of labels given for {}, which has {}",
                type.name, type.class_count > 0 ? "classes" : "no labels");
  const auto width = static_cast<std::size_t>(type.class_count);
  const auto& labels = traits_of(type.labels);
  if (rows.size() != static_cast<std::size_t>(type.count) * type.label_bytes())
    return fail(
      ec::invalid_data, "{} values given for {} labels of the {} nodes of {}",
      rows.size() / size_of(labels.element), width, type.count, type.name);
  if (const auto bad = find_bad_label(type.labels, rows, width))
    return fail(ec::invalid_data, "{} {} of {} node {} is {}; {}", labels.unit,
                *bad % width, type.name, *bad / width,
                label_text(type.labels, rows, *bad), labels.expected);
  return ok();
}

std::vector<std::int64_t> labelled_nodes(const node_type_info& type,
                                         std::span<const std::uint8_t> rows) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(type.count));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = is_known(type.labels, type.class_count, rows, i) ? 0 : -1;
  return out;
}

result<void> check_seeds(const node_type_info& type,
                         std::span<const std::int64_t> labels,
                         const std::array<std::vector<node_id>, 3>& splits,
                         bool need_seeds) {
  if (need_seeds
      && std::ranges::all_of(splits, [](const auto& s) { return s.empty(); }))
    return fail(ec::invalid_data,
                "no split of {} has a node; there would be nothing to train "
                "on: say shares such as --split 0.8,0.1,0.1, or give the "
                "training nodes",
                type.name);
  std::vector<std::uint8_t> split_of;
  for (auto which : all_splits) {
    const auto& ids = splits[static_cast<std::size_t>(which)];
    if (!ids.empty() && !labels.empty())
      split_of.resize(static_cast<std::size_t>(type.count), nowhere);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto place = [&] {
        return fmt::format("{} split of {}: seed {}", file_stem(which),
                           type.name, i);
      };
      if (ids[i] < 0 || ids[i] >= type.count)
        return fail(ec::invalid_data,
                    "{} is node {}, which does not exist ({} "
                    "nodes)",
                    place(), ids[i], type.count);
      const auto node = static_cast<std::size_t>(ids[i]);
      if (labels.empty() || labels[node] < 0)
        return fail(ec::invalid_data, "{} is node {}, which has no label",
                    place(), ids[i]);
      if (split_of[node] != nowhere)
        return fail(ec::invalid_data,
                    "{} is node {}, which is in the {} split already", place(),
                    ids[i], file_stem(static_cast<split>(split_of[node])));
      split_of[node] = static_cast<std::uint8_t>(which);
    }
  }
  return ok();
}

} // namespace graphmill
