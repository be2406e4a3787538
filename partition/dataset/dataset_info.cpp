#include "partition/dataset/dataset.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <limits>

namespace graphmill {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::size_t largest_file = std::size_t{1} << 28;

/// Reads the fields of one JSON object; `where` names it in errors.
struct object_reader {
  const json& object;
  std::string where;

  error wrong(std::string_view key, std::string_view wanted) const {
    return fail(ec::invalid_data, "{}: \"{}\" should be {}", where, key,
                wanted);
  }

  result<void> check() const {
    if (!object.is_object())
      return fail(ec::invalid_data, "{} should be an object", where);
    return ok();
  }

  /// @param absent What a missing field means; negative: it is required.
  result<std::int64_t> integer(const char* key, std::int64_t most,
                               std::int64_t absent = -1) const {
    const auto at = object.find(key);
    if (at == object.end() && absent >= 0)
      return absent;
    if (at != object.end() && at->is_number_unsigned()
        && at->get<std::uint64_t>() <= static_cast<std::uint64_t>(most))
      return at->get<std::int64_t>();
    return wrong(key, fmt::format("an integer from 0 to {}", most));
  }

  result<std::string> text(const char* key, bool required) const {
    const auto at = object.find(key);
    if (at == object.end() && !required)
      return std::string{};
    if (at != object.end() && at->is_string())
      return at->get<std::string>();
    return wrong(key, "a string");
  }

  /// No if it is absent.
  result<bool> flag(const char* key) const {
    const auto at = object.find(key);
    if (at == object.end())
      return false;
    if (at->is_boolean())
      return at->get<bool>();
    return wrong(key, "true or false");
  }

  result<dtype> type(const char* key, dtype first, dtype second,
                     dtype absent) const {
    GRAPHMILL_TRY(const auto name, text(key, false));
    if (name.empty())
      return absent;
    for (auto candidate : {first, second})
      if (name == to_string(candidate))
        return candidate;
    return wrong(key,
                 fmt::format("{} or {}", to_string(first), to_string(second)));
  }

  /// The elements of an array of at most `most`; none if it is absent.
  result<std::vector<json>> list(const char* key, std::size_t most) const {
    const auto at = object.find(key);
    if (at == object.end())
      return std::vector<json>{};
    if (!at->is_array() || at->size() > most)
      return wrong(key, fmt::format("a list of at most {}", most));
    return std::vector<json>(at->begin(), at->end());
  }
};

/// What a node type and a label set have alike: classes and splits.
/// @param nodes Of the type.
template <class Labelled>
result<void> read_classes(const object_reader& in, std::int64_t nodes,
                          Labelled& out) {
  GRAPHMILL_TRY(out.class_count, in.integer("class_count", most_classes, 0));
  GRAPHMILL_TRY(const auto names, in.list("class_names", most_classes));
  for (const auto& name : names) {
    if (!name.is_string())
      return in.wrong("class_names", "a list of strings");
    out.class_names.push_back(name.get<std::string>());
  }
  if (const auto at = in.object.find("splits"); at != in.object.end()) {
    const object_reader splits{*at, in.where + ".splits"};
    GRAPHMILL_TRYV(splits.check());
    for (auto which : all_splits) {
      GRAPHMILL_TRY(out.split_counts[static_cast<std::size_t>(which)],
                    splits.integer(file_stem(which).data(), nodes, 0));
    }
  }
  return ok();
}

/// A dataset that does not say so has classes, as all had once.
result<label_kind> read_label_kind(const object_reader& in) {
  GRAPHMILL_TRY(const auto name, in.text("labels", false));
  if (name.empty())
    return label_kind::classes;
  if (const auto found = label_kind_of(name); found && traits_of(*found).rows)
    return *found;
  return in.wrong("labels", fmt::format("\"{}\" or \"{}\"",
                                        to_string(label_kind::multi_label),
                                        to_string(label_kind::regression)));
}

result<node_type_info> read_node_type(const object_reader& in) {
  GRAPHMILL_TRYV(in.check());
  node_type_info type;
  GRAPHMILL_TRY(type.name, in.text("name", true));
  GRAPHMILL_TRYV(check_name(type.name, in.where));
  GRAPHMILL_TRY(type.count, in.integer("count", most_items));
  GRAPHMILL_TRY(type.feature_width,
                in.integer("feature_width", most_columns, 0));
  GRAPHMILL_TRY(type.feature_type, in.type("feature_type", dtype::float32,
                                           dtype::float16, dtype::float32));
  if (in.object.contains("sparse_features")) {
    const object_reader sparse{in.object["sparse_features"],
                               in.where + ".sparse_features"};
    GRAPHMILL_TRYV(sparse.check());
    type.sparse_features = true;
    GRAPHMILL_TRY(type.feature_entries, sparse.integer("entries", most_items));
    GRAPHMILL_TRY(type.most_row_entries,
                  sparse.integer("most_in_row", type.feature_width));
  }
  GRAPHMILL_TRY(type.timed, in.flag("times"));
  GRAPHMILL_TRYV(read_classes(in, type.count, type));
  GRAPHMILL_TRY(type.labels, read_label_kind(in));
  GRAPHMILL_TRY(const auto sets, in.list("label_sets", most_label_sets));
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const object_reader entry{sets[i],
                              fmt::format("{}.label_sets[{}]", in.where, i)};
    GRAPHMILL_TRYV(entry.check());
    auto& set = type.label_sets.emplace_back();
    GRAPHMILL_TRY(set.name, entry.text("name", true));
    GRAPHMILL_TRYV(read_classes(entry, type.count, set));
    GRAPHMILL_TRY(set.labels, read_label_kind(entry));
  }
  return type;
}

result<edge_type_info> read_edge_type(const object_reader& in,
                                      const dataset_info& info) {
  GRAPHMILL_TRYV(in.check());
  const auto end_of = [&](const char* key) -> result<node_type_id> {
    GRAPHMILL_TRY(const auto name, in.text(key, true));
    const auto found = info.find_node_type(name);
    if (!found)
      return fail(ec::invalid_data, "{}: there is no node type \"{}\"",
                  in.where, name);
    return *found;
  };
  edge_type_info type;
  GRAPHMILL_TRY(type.source, end_of("source"));
  GRAPHMILL_TRY(type.name, in.text("name", true));
  GRAPHMILL_TRYV(check_name(type.name, in.where));
  GRAPHMILL_TRY(type.destination, end_of("destination"));
  GRAPHMILL_TRY(type.count, in.integer("count", most_items));
  GRAPHMILL_TRY(type.max_in_degree, in.integer("max_in_degree", most_degree));
  GRAPHMILL_TRY(type.index_type, in.type("index_type", dtype::int32,
                                         dtype::int64, dtype::int64));
  GRAPHMILL_TRY(type.weighted, in.flag("weights"));
  GRAPHMILL_TRY(type.leveled, in.flag("visible"));
  GRAPHMILL_TRY(type.timed, in.flag("times"));
  GRAPHMILL_TRY(type.feature_width,
                in.integer("feature_width", most_columns, 0));
  GRAPHMILL_TRY(type.feature_type, in.type("feature_type", dtype::float32,
                                           dtype::float16, dtype::float32));
  return type;
}

/// An edge type by its full name.
result<edge_type_id> edge_type_in(const object_reader& in, const json& name,
                                  const dataset_info& info) {
  if (name.is_string())
    for (edge_type_id e = 0; e < std::ssize(info.edge_types); ++e)
      if (name.get_ref<const std::string&>() == info.edge_type_name(e))
        return e;
  return fail(ec::invalid_data, "{}: there is no edge type {}", in.where,
              name.dump(-1, ' ', false, json::error_handler_t::replace));
}

/// Numbers by split.
result<std::array<std::int64_t, 3>>
read_by_split(const object_reader& in, const char* key, std::int64_t most) {
  std::array<std::int64_t, 3> out{};
  const auto at = in.object.find(key);
  if (at == in.object.end())
    return out;
  const object_reader counts{*at, fmt::format("{}.{}", in.where, key)};
  GRAPHMILL_TRYV(counts.check());
  for (auto which : all_splits) {
    GRAPHMILL_TRY(out[static_cast<std::size_t>(which)],
                  counts.integer(file_stem(which).data(), most, 0));
  }
  return out;
}

result<edge_task_info> read_task(const object_reader& in,
                                 const dataset_info& info) {
  GRAPHMILL_TRYV(in.check());
  edge_task_info task;
  GRAPHMILL_TRY(task.name, in.text("name", true));
  GRAPHMILL_TRY(const auto kind, in.text("kind", true));
  const auto found =
    std::ranges::find(all_edge_task_kinds, kind, &edge_task_traits::name);
  if (found == all_edge_task_kinds.end())
    return in.wrong("kind", "link, edge_class, edge_labels or edge_value");
  task.kind = found->kind;
  GRAPHMILL_TRY(const auto types, in.list("edge_types", most_types));
  for (const auto& name : types) {
    GRAPHMILL_TRY(const auto type, edge_type_in(in, name, info));
    task.edge_types.push_back(type);
  }
  GRAPHMILL_TRY(const auto reverse, in.list("reverse_types", most_types));
  for (const auto& name : reverse) {
    auto& type = task.reverse_types.emplace_back();
    if (!name.is_null()) {
      GRAPHMILL_TRY(type, edge_type_in(in, name, info));
    }
  }
  GRAPHMILL_TRYV(read_classes(in, most_items, task));
  GRAPHMILL_TRY(task.negative_counts,
                read_by_split(in, "negatives", most_columns));
  GRAPHMILL_TRY(task.unlabelled, in.integer("unlabelled", most_items, 0));
  GRAPHMILL_TRY(task.timed, in.flag("times"));
  GRAPHMILL_TRY(task.weighted, in.flag("weights"));
  return task;
}

result<dataset_info> read_info(const object_reader& in) {
  GRAPHMILL_TRYV(in.check());
  dataset_info info;
  GRAPHMILL_TRY(const auto version,
                in.integer("format_version", std::numeric_limits<int>::max()));
  if (version < 1)
    return fail(ec::invalid_data, "{}: there is no format version {}", in.where,
                version);
  if (version > dataset_format_version)
    return fail(ec::version_mismatch,
                "{} has format version {}; this Graphmill reads up to {}: use "
                "a newer one or prepare the dataset again",
                in.where, version, dataset_format_version);
  info.format_version = static_cast<int>(version);
  GRAPHMILL_TRY(info.name, in.text("name", false));
  GRAPHMILL_TRY(info.provenance, in.text("provenance", false));
  GRAPHMILL_TRY(info.digest, in.text("digest", false));
  GRAPHMILL_TRY(const auto node_types, in.list("node_types", most_types));
  for (std::size_t i = 0; i < node_types.size(); ++i) {
    const object_reader entry{node_types[i],
                              fmt::format("{}: node_types[{}]", in.where, i)};
    GRAPHMILL_TRY(auto type, read_node_type(entry));
    info.node_types.push_back(std::move(type));
  }
  GRAPHMILL_TRY(const auto edge_types, in.list("edge_types", most_types));
  for (std::size_t i = 0; i < edge_types.size(); ++i) {
    const object_reader entry{edge_types[i],
                              fmt::format("{}: edge_types[{}]", in.where, i)};
    GRAPHMILL_TRY(auto type, read_edge_type(entry, info));
    info.edge_types.push_back(std::move(type));
  }
  GRAPHMILL_TRY(const auto steps, in.flag("time_steps"));
  if (steps)
    info.ticks_per_second = 1;
  GRAPHMILL_TRY(const auto tasks, in.list("tasks", most_types));
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const object_reader entry{tasks[i],
                              fmt::format("{}: tasks[{}]", in.where, i)};
    GRAPHMILL_TRY(auto task, read_task(entry, info));
    info.tasks.push_back(std::move(task));
  }
  GRAPHMILL_TRY(const auto target, in.text("target", true));
  const auto found = info.find_node_type(target);
  if (!found)
    return fail(ec::invalid_data, "{}: the target \"{}\" is no node type",
                in.where, target);
  info.target = *found;
  GRAPHMILL_TRYV(check_info(info, in.where));
  return info;
}

json splits_json(const std::array<std::int64_t, 3>& counts) {
  json splits;
  for (auto which : all_splits)
    splits[std::string{file_stem(which)}] =
      counts[static_cast<std::size_t>(which)];
  return splits;
}

json to_json(const node_type_info& type) {
  json out{{"name", type.name},
           {"count", type.count},
           {"feature_width", type.feature_width},
           {"feature_type", to_string(type.feature_type)},
           {"class_count", type.class_count},
           {"class_names", type.class_names},
           {"splits", splits_json(type.split_counts)}};
  if (type.timed)
    out["times"] = true;
  if (type.has_label_rows())
    out["labels"] = to_string(type.labels);
  if (type.sparse_features)
    out["sparse_features"] = {{"entries", type.feature_entries},
                              {"most_in_row", type.most_row_entries}};
  for (const auto& set : type.label_sets) {
    auto& entry = out["label_sets"].emplace_back(
      json{{"name", set.name},
           {"class_count", set.class_count},
           {"class_names", set.class_names},
           {"splits", splits_json(set.split_counts)}});
    if (traits_of(set.labels).rows)
      entry["labels"] = to_string(set.labels);
  }
  return out;
}

json to_json(const edge_type_info& type, const dataset_info& info) {
  json out{{"source", info.node_types[type.source].name},
           {"name", type.name},
           {"destination", info.node_types[type.destination].name},
           {"count", type.count},
           {"max_in_degree", type.max_in_degree},
           {"index_type", to_string(type.index_type)}};
  if (type.weighted)
    out["weights"] = true;
  if (type.leveled)
    out["visible"] = true;
  if (type.timed)
    out["times"] = true;
  if (type.feature_width > 0)
    out.update({{"feature_width", type.feature_width},
                {"feature_type", to_string(type.feature_type)}});
  return out;
}

json to_json(const edge_task_info& task, const dataset_info& info) {
  json out{{"name", task.name},
           {"kind", traits_of(task.kind).name},
           {"edge_types", json::array()},
           {"reverse_types", json::array()},
           {"splits", splits_json(task.split_counts)}};
  for (const auto type : task.edge_types)
    out["edge_types"].push_back(info.edge_type_name(type));
  for (const auto& type : task.reverse_types)
    out["reverse_types"].push_back(type ? json(info.edge_type_name(*type))
                                        : json());
  if (task.class_count != 0)
    out.update(
      {{"class_count", task.class_count}, {"class_names", task.class_names}});
  if (task.negative_counts != std::array<std::int64_t, 3>{})
    out["negatives"] = splits_json(task.negative_counts);
  if (task.unlabelled != 0)
    out["unlabelled"] = task.unlabelled;
  if (task.timed)
    out["times"] = true;
  if (task.weighted)
    out["weights"] = true;
  return out;
}

} // namespace

bool dataset_info::has_times() const {
  return std::ranges::any_of(edge_types, &edge_type_info::timed)
         || std::ranges::any_of(node_types, &node_type_info::timed);
}

int format_version_of(const dataset_info& info) {
  if (info.has_times())
    return 7;
  const auto version_of = [](const node_type_info& type) {
    if (std::ranges::any_of(type.label_sets, [](const label_set_info& set) {
          return traits_of(set.labels).rows;
        }))
      return 4;
    if (type.sparse_features || type.has_label_rows())
      return 3;
    return type.label_sets.empty() ? 1 : 2;
  };
  if (std::ranges::any_of(info.edge_types, [](const edge_type_info& type) {
        return type.feature_width > 0;
      }))
    return 7;
  if (!info.tasks.empty()
      || std::ranges::any_of(info.edge_types, &edge_type_info::leveled))
    return 6;
  if (std::ranges::any_of(info.edge_types, &edge_type_info::weighted))
    return 5;
  auto version = 1;
  for (const auto& type : info.node_types)
    version = std::max(version, version_of(type));
  return version;
}

result<dataset_info> parse_dataset_info(std::string_view text,
                                        std::string_view where) {
  GRAPHMILL_TRY(const auto in, parse_json(text, where));
  if (const auto twice = repeated_key_anywhere(text))
    return fail(ec::invalid_data, "{} says \"{}\" twice: leave one of them",
                where, *twice);
  try {
    return read_info({in, std::string{where}});
  } catch (const json::exception& broken) {
    return fail(ec::invalid_data, "{} is broken: {}", where, broken.what());
  }
}

std::optional<std::string> note_on_reach(const dataset_info& info) {
  auto reversible = false;
  for (const auto& type : info.edge_types) {
    if (type.count > 0 && type.destination == info.target)
      return std::nullopt;
    reversible = reversible || (type.count > 0 && type.source == info.target);
  }
  return fmt::format(
    "no edge ends at nodes of type `{}`, so nothing is sampled for them, and "
    "only their own features count{}",
    info.node_types[static_cast<std::size_t>(info.target)].name,
    reversible ? "; import with --reverse to add the reverse of each edge type"
               : "");
}

std::vector<std::string> notes_on_target(const dataset_info& info) {
  std::vector<std::string> out;
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  if (auto note = note_on_reach(info))
    out.push_back(*std::move(note));
  const auto& seeds = target.split_counts;
  if (seeds[0] == 0 && (seeds[1] != 0 || seeds[2] != 0))
    out.push_back(fmt::format(
      "no node of type `{}` is in the train split: runs can be evaluated and "
      "predict on it, and no model can be trained",
      target.name));
  return out;
}

result<dataset_info> read_dataset_info(const fs::path& folder) {
  const auto path = folder / "dataset.json";
  auto text = read_text(path, largest_file);
  if (!text && text.error().code == ec::not_found) {
    std::error_code failed;
    if (!fs::exists(folder, failed))
      return fail(ec::not_found, "there is no folder {}", folder.string());
    return fail(ec::not_found,
                "{} is not a dataset: there is no dataset.json in it",
                folder.string());
  }
  if (!text)
    return std::move(text).error();
  return parse_dataset_info(text.value(), path.string());
}

result<void> write_dataset_info(const fs::path& folder,
                                const dataset_info& info) {
  GRAPHMILL_TRYV(check_info(info, folder.string()));
  json out{{"format_version", format_version_of(info)},
           {"name", info.name},
           {"target", info.node_types[info.target].name},
           {"provenance", info.provenance},
           {"digest", info.digest},
           {"node_types", json::array()},
           {"edge_types", json::array()}};
  for (const auto& type : info.node_types)
    out["node_types"].push_back(to_json(type));
  for (const auto& type : info.edge_types)
    out["edge_types"].push_back(to_json(type, info));
  if (info.has_times() && info.ticks_per_second == 1)
    out["time_steps"] = true;
  for (const auto& task : info.tasks)
    out["tasks"].push_back(to_json(task, info));
  // Names come from outside and may not be UTF-8.
  const auto text = out.dump(2, ' ', false, json::error_handler_t::replace);
  return write_text(folder / "dataset.json", text + '\n');
}

} // namespace graphmill
