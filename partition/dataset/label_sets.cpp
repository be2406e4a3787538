#include "partition/dataset/label_sets.hpp"

#include "messages/base/printable.hpp"
#include "partition/dataset/dataset_names.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

namespace graphmill {

namespace {

std::string with_set(std::string_view stem, std::string_view set) {
  return set.empty() ? fmt::format("{}.npy", stem)
                     : fmt::format("{}.{}.npy", stem, set);
}

} // namespace

std::string labels_file(std::string_view set) {
  return with_set("labels", set);
}

std::string seeds_file(split which, std::string_view set) {
  return with_set(file_stem(which), set);
}

std::optional<std::size_t> find_label_set(const node_type_info& type,
                                          std::string_view name) {
  const auto at =
    std::ranges::find(type.label_sets, name, &label_set_info::name);
  if (at == type.label_sets.end())
    return std::nullopt;
  return static_cast<std::size_t>(at - type.label_sets.begin());
}

result<void> check_label_set_names(const node_type_info& type,
                                   std::string_view where) {
  if (type.label_sets.size() > most_label_sets)
    return fail(ec::invalid_data,
                "{}: {} has {} label sets; at most {} expected", where,
                type.name, type.label_sets.size(), most_label_sets);
  std::set<std::string_view> names;
  for (const auto& set : type.label_sets) {
    GRAPHMILL_TRYV(check_name(set.name, where));
    // labels.blocks.npy holds the digests of blocks of labels.npy.
    if (set.name == "blocks" || set.name.ends_with(".blocks"))
      return fail(ec::invalid_data,
                  "{}: a label set of {} is called \"{}\"; \"blocks\" names "
                  "other files",
                  where, type.name, set.name);
    if (!names.insert(set.name).second)
      return fail(ec::invalid_data, "{}: {} has two label sets \"{}\"", where,
                  type.name, set.name);
  }
  return ok();
}

node_type_info with_labels_of(const node_type_info& type,
                              const label_set_info& set) {
  auto out = type;
  out.class_count = set.class_count;
  out.class_names = set.class_names;
  out.split_counts = set.split_counts;
  out.labels = set.labels;
  return out;
}

std::vector<opened_labels> labels_in(const dataset& data, node_type_id type) {
  const auto& arrays = data.nodes(type);
  std::vector<opened_labels> out{{"", arrays}};
  const auto& sets =
    data.info().node_types[static_cast<std::size_t>(type)].label_sets;
  for (std::size_t s = 0; s < sets.size(); ++s)
    out.push_back({sets[s].name, arrays.label_sets[s]});
  return out;
}

result<dataset_info> choose_labels(const dataset_info& info,
                                   std::string_view name) {
  if (name.empty())
    return info;
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  if (const auto set = find_label_set(target, name)) {
    auto out = info;
    out.node_types[static_cast<std::size_t>(info.target)] =
      with_labels_of(target, target.label_sets[*set]);
    return out;
  }
  std::string there;
  for (const auto& set : target.label_sets)
    there += fmt::format("{}\"{}\"", there.empty() ? "" : ", ", set.name);
  return fail(ec::invalid_argument,
              "nodes of type \"{}\" of \"{}\" have no label set \"{}\"; {}",
              target.name, info.name, name,
              there.empty() ? "they have no others than their own, which a "
                              "definition without `labels` takes"
                            : "there are " + there);
}

result<label_meaning> meaning_of_labels(const dataset_info& info,
                                        std::string_view name) {
  GRAPHMILL_TRY(const auto chosen, choose_labels(info, name));
  const auto& target =
    chosen.node_types[static_cast<std::size_t>(chosen.target)];
  return label_meaning{target.labels, target.name, target.class_count,
                       target.class_names};
}

std::string difference(const label_meaning& here, const label_meaning& there) {
  if (here.type != there.type)
    return format_printable("they are of nodes of type {} here and {} there",
                            here.type, there.type);
  if (here.count != there.count)
    return fmt::format("there are {} here and {} there", here.count,
                       there.count);
  for (std::size_t i = 0; i < std::min(here.names.size(), there.names.size());
       ++i)
    if (here.names[i] != there.names[i])
      return format_printable("number {} is `{}` here and `{}` there", i,
                              here.names[i], there.names[i]);
  return {};
}

result<dataset_info> with_unknown_labels(const dataset_info& info,
                                         const label_meaning& labels) {
  const auto found = info.find_node_type(labels.type);
  if (!found)
    return fail(ec::invalid_data, "\"{}\" has no node type \"{}\"", info.name,
                labels.type);
  auto out = info;
  out.target = *found;
  auto& target = out.node_types[static_cast<std::size_t>(*found)];
  target.labels = labels.kind;
  target.class_count = labels.count;
  target.class_names = labels.names;
  target.split_counts = {};
  target.label_sets.clear();
  return out;
}

} // namespace graphmill
