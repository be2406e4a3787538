#include "partition/importers/npy/npy_label_sets.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/importers/npy/npy_label_rows.hpp"
#include "partition/importers/npy/npy_labels.hpp"
#include "partition/importers/npy/npy_values.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace graphmill {

namespace {

constexpr std::string_view npy_end = ".npy";

/// What the files of a label set are called before its name.
constexpr auto set_file_stems =
  std::to_array<std::string_view>({"labels", "train_idx", "val_idx", "test_idx",
                                   "train_mask", "val_mask", "test_mask"});

/// The label set that a file belongs to; empty: it is none of a set.
std::string_view set_of_file(std::string_view file, std::string_view prefix) {
  if (!file.starts_with(prefix) || !file.ends_with(npy_end))
    return {};
  const auto name =
    file.substr(prefix.size(), file.size() - prefix.size() - npy_end.size());
  for (auto stem : set_file_stems)
    if (name.size() > stem.size() + 1 && name.starts_with(stem)
        && name[stem.size()] == '.')
      return name.substr(stem.size() + 1);
  return {};
}

/// The labels of a set, or of the type where the set is a split alone.
result<incoming_labels>
read_labels(npy_folder& folder, const std::string& prefix,
            const std::string& set, const npy_node_source& type,
            const npy_meta& meta, const npy_source_options& options) {
  npy_node_source shown;
  shown.name = type.name;
  shown.count = type.count;
  const auto file = fmt::format("{}labels.{}.npy", prefix, set);
  GRAPHMILL_TRY(shown.labels, folder.array_if_there(file));
  if (!shown.labels && !type.labels)
    return fail(ec::invalid_data,
                "{}: label set \"{}\" has a split alone, and there is neither "
                "{}labels.npy nor {} that it could be of",
                folder.path().string(), set, prefix, file);
  if (shown.labels) {
    const auto named = [&set](const std::vector<std::string>& names) {
      return std::ranges::find(names, set) != names.end();
    };
    GRAPHMILL_TRYV(
      derive_npy_labels(shown, meta,
                        {.renumber = options.renumber,
                         .multi_label = named(options.multi_label_sets),
                         .regression = named(options.regression_sets),
                         .set = set,
                         .none = options.no_label}));
  }
  const auto& from = shown.labels ? shown : type;
  incoming_labels out{.name = set,
                      .labels = {},
                      .class_count = from.class_count,
                      .class_names = from.class_names,
                      .kind = from.kind,
                      .rows = from.label_rows,
                      .unlabelled = shown.unlabelled,
                      .drops_unlabelled = !options.no_label.empty()};
  if (!traits_of(from.kind).rows) {
    GRAPHMILL_TRY(out.labels, classes_of(from));
  }
  return out;
}

} // namespace

result<std::vector<std::string>> class_names_in(const npy_meta& meta) {
  std::vector<std::string> names;
  const auto at = meta.find("class_names");
  if (at == meta.end())
    return names;
  const auto good =
    at->is_array() && std::ranges::all_of(*at, [](const auto& name) {
      return name.is_string();
    });
  if (!good)
    return fail(ec::invalid_data,
                "meta.json: \"class_names\" should be a list of texts");
  for (const auto& name : *at)
    names.push_back(name.template get<std::string>());
  return names;
}

result<std::optional<std::int64_t>> count_in_meta(const npy_meta& meta,
                                                  const char* key) {
  constexpr std::uint64_t most = std::uint64_t{1} << 48;
  const auto at = meta.find(key);
  if (at == meta.end())
    return std::optional<std::int64_t>{};
  if (!at->is_number_unsigned() || at->get<std::uint64_t>() > most)
    return fail(ec::invalid_data, "meta.json: \"{}\" should be a count", key);
  return std::optional{at->get<std::int64_t>()};
}

npy_meta member_of_meta(const npy_meta& meta, const char* outer,
                        const std::string& name) {
  const auto group = meta.find(outer);
  if (group == meta.end() || !group->is_object())
    return npy_meta::object();
  const auto at = group->find(name);
  return at == group->end() || !at->is_object() ? npy_meta::object() : *at;
}

result<std::vector<std::int64_t>> classes_of(const npy_node_source& type) {
  unlabelled_nodes told_already;
  GRAPHMILL_TRY(auto labels,
                read_class_labels(*type.labels, type.none, told_already));
  if (!type.label_of_class.empty())
    renumber_labels(type.label_of_class, labels);
  return labels;
}

result<void> derive_npy_classes(npy_node_source& type, const npy_meta& meta,
                                bool renumber, const no_label_values& none) {
  GRAPHMILL_TRY(const auto classes, count_in_meta(meta, "num_classes"));
  GRAPHMILL_TRY(type.class_names, class_names_in(meta));
  const auto named = std::ssize(type.class_names);
  if (named > 0 && classes && *classes != named)
    return fail(ec::invalid_data,
                "meta.json: \"num_classes\" is {}, and there are {} "
                "\"class_names\"",
                *classes, named);
  const auto& path = type.labels->path();
  type.none = numbers_for_none(none, type.class_names);
  GRAPHMILL_TRY(const auto labels,
                read_class_labels(*type.labels, type.none, type.unlabelled));
  const auto told = named > 0 ? std::optional{named} : classes;
  // A class that stands for no label is none.
  renumber =
    renumber || std::ranges::any_of(type.none, [&told](const auto& one) {
      return one.first >= 0 && told && one.first < *told;
    });
  GRAPHMILL_TRYV(expect_labels(path, labels, renumber ? std::nullopt : told));
  if (!renumber && (classes || named > 0)) {
    type.class_count = classes.value_or(named);
    return ok();
  }
  if (!renumber) {
    GRAPHMILL_TRY(type.class_count, count_classes(path, labels));
  }
  type.label_of_class = label_values(labels);
  if (!renumber && std::ssize(type.label_of_class) == type.class_count) {
    type.label_of_class.clear();
    return ok();
  }
  type.class_count = std::ssize(type.label_of_class);
  type.class_names = names_of_labels(type.label_of_class, type.class_names);
  return ok();
}

result<npy_split> open_npy_split(npy_folder& folder, const std::string& prefix,
                                 split which, std::string_view set) {
  const auto file = [&](std::string_view kind) {
    return fmt::format("{}{}_{}{}{}.npy", prefix, file_stem(which), kind,
                       set.empty() ? "" : ".", set);
  };
  const auto ids = file("idx");
  const auto mask = file("mask");
  if (folder.has(ids) && folder.has(mask))
    return fail(ec::invalid_data,
                "{} holds both {} and {}; leave one out (--ignore {})",
                folder.path().string(), ids, mask, mask);
  npy_split out;
  GRAPHMILL_TRY(out.array,
                folder.array_if_there(folder.has(mask) ? mask : ids));
  out.mask =
    out.array && (folder.has(mask) || out.array->type() == dtype::boolean);
  return out;
}

result<std::vector<incoming_labels>>
read_npy_label_sets(npy_folder& folder, const std::string& prefix,
                    const npy_node_source& type, const npy_meta& meta,
                    const npy_source_options& options) {
  std::set<std::string> names;
  for (const auto& file : folder.names())
    if (const auto set = set_of_file(file, prefix); !set.empty())
      names.emplace(set);
  std::vector<incoming_labels> out;
  for (const auto& name : names) {
    if (!check_name(name, ""))
      return fail(ec::invalid_data,
                  "{}: there are files of a label set that cannot be called "
                  "\"{}\"; use letters, digits, '-', '.' and single '_' within",
                  folder.path().string(), name);
    GRAPHMILL_TRY(
      auto set, read_labels(folder, prefix, name, type,
                            member_of_meta(meta, "label_sets", name), options));
    split_ids seeds;
    for (auto which : all_splits) {
      GRAPHMILL_TRY(const auto opened,
                    open_npy_split(folder, prefix, which, name));
      if (!opened.array)
        continue;
      auto& ids = seeds[static_cast<std::size_t>(which)];
      if (opened.mask) {
        GRAPHMILL_TRY(ids, marked_nodes(*opened.array, type.count));
      } else {
        GRAPHMILL_TRYV(opened.array->expect_shape({-1}));
        GRAPHMILL_TRY(ids, read_integers(*opened.array));
      }
      set.splits.emplace();
    }
    if (set.splits)
      set.splits = std::move(seeds);
    out.push_back(std::move(set));
  }
  return out;
}

} // namespace graphmill
