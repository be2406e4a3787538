#include "partition/importers/npy/npy_source.hpp"

#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"
#include "partition/importers/npy/npy_labels.hpp"
#include "partition/importers/npy/npy_values.hpp"

#include <algorithm>
#include <set>

namespace graphmill {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json; // node types keep their order

namespace {

constexpr std::size_t largest_meta = std::size_t{1} << 26;
/// Values beyond it are out of range in any case, and one more fits.
constexpr std::int64_t highest = std::int64_t{1} << 62;
constexpr std::string_view edges_suffix = ".edges.npy";

bool is_there(const fs::path& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

result<std::optional<npy_array>> open_if_there(const fs::path& path) {
  if (!is_there(path))
    return std::optional<npy_array>{};
  GRAPHMILL_TRY(auto array, npy_array::open(path));
  return std::optional<npy_array>{std::move(array)};
}

/// meta.json; an empty object if there is none.
result<json> read_meta(const fs::path& folder) {
  const auto path = folder / "meta.json";
  if (!is_there(path))
    return json::object();
  GRAPHMILL_TRY(const auto text, read_text(path, largest_meta));
  GRAPHMILL_TRY(auto meta, parse_ordered_json(text, path.string()));
  if (!meta.is_object())
    return fail(ec::invalid_data, "{} should be an object", path.string());
  return meta;
}

/// A count of meta.json; nothing if it is not there.
result<std::optional<std::int64_t>> count_in(const json& meta,
                                             const char* key) {
  constexpr std::uint64_t most = std::uint64_t{1} << 48;
  const auto at = meta.find(key);
  if (at == meta.end())
    return std::optional<std::int64_t>{};
  if (!at->is_number_unsigned() || at->get<std::uint64_t>() > most)
    return fail(ec::invalid_data, "meta.json: \"{}\" should be a count", key);
  return std::optional{at->get<std::int64_t>()};
}

/// The largest element plus one; 0 without elements.
result<std::int64_t> one_past_largest(const npy_array& array) {
  GRAPHMILL_TRY(const auto values, read_integers(array));
  const auto most = std::ranges::max_element(values);
  return most == values.end()
           ? 0
           : std::clamp<std::int64_t>(*most, -1, highest) + 1;
}

/// Fills in counts that meta.json lacks.
/// @param from_edges One past the largest id in the edges of the type.
result<void> derive_counts(npy_node_source& type, const json& meta,
                           std::int64_t from_edges, bool renumber) {
  GRAPHMILL_TRY(const auto nodes, count_in(meta, "num_nodes"));
  GRAPHMILL_TRY(const auto classes, count_in(meta, "num_classes"));
  GRAPHMILL_TRY(const auto width, count_in(meta, "num_features"));
  type.count = nodes         ? *nodes
               : type.labels ? type.labels->rows()
               : type.dense  ? type.dense->rows()
               : type.indptr ? type.indptr->rows() - 1
                             : from_edges;
  if (type.labels && renumber) {
    GRAPHMILL_TRY(type.label_of_class, label_values(*type.labels));
    type.class_count = std::ssize(type.label_of_class);
  } else if (type.labels && classes) {
    type.class_count = *classes;
  } else if (type.labels) {
    GRAPHMILL_TRY(type.class_count, count_classes(*type.labels));
  }
  if (type.dense) {
    type.feature_width =
      type.dense->shape().size() == 2 ? type.dense->shape()[1] : 0;
  } else if (type.indices && width) {
    type.feature_width = *width;
  } else if (type.indices) {
    GRAPHMILL_TRY(type.feature_width, one_past_largest(*type.indices));
  }
  return ok();
}

result<void> check_shapes(const npy_node_source& type) {
  if (type.labels) {
    GRAPHMILL_TRYV(type.labels->expect_shape({type.count}));
  }
  for (const auto& ids : type.splits)
    if (ids) {
      GRAPHMILL_TRYV(ids->expect_shape({-1}));
    }
  if (type.dense) {
    GRAPHMILL_TRYV(type.dense->expect_shape({type.count, type.feature_width}));
  }
  if (type.indptr) {
    GRAPHMILL_TRYV(type.indptr->expect_shape({type.count + 1}));
    GRAPHMILL_TRYV(type.indices->expect_shape({-1}));
    GRAPHMILL_TRYV(type.values->expect_shape({type.indices->size()}));
  }
  return ok();
}

result<npy_node_source> open_nodes(const fs::path& folder,
                                   const std::string& name, bool typed,
                                   const json& meta, std::int64_t from_edges,
                                   bool renumber) {
  const auto prefix = typed ? name + "." : std::string{};
  npy_node_source type;
  type.name = name;
  GRAPHMILL_TRY(type.labels, open_if_there(folder / (prefix + "labels.npy")));
  for (auto which : all_splits) {
    GRAPHMILL_TRY(
      type.splits[static_cast<std::size_t>(which)],
      open_if_there(folder
                    / fmt::format("{}{}_idx.npy", prefix, file_stem(which))));
  }
  GRAPHMILL_TRY(type.dense, open_if_there(folder / (prefix + "features.npy")));
  const auto csr = folder / (prefix + "features_indptr.npy");
  if (!type.dense && is_there(csr)) {
    GRAPHMILL_TRY(type.indptr, npy_array::open(csr));
    GRAPHMILL_TRY(type.indices,
                  npy_array::open(folder / (prefix + "features_indices.npy")));
    GRAPHMILL_TRY(type.values,
                  npy_array::open(folder / (prefix + "features_values.npy")));
  }
  GRAPHMILL_TRYV(derive_counts(type, meta, from_edges, renumber));
  GRAPHMILL_TRYV(check_shapes(type));
  return type;
}

result<npy_edge_source> open_edges(const fs::path& path,
                                   const std::array<std::string, 3>& name,
                                   const json& meta) {
  npy_edge_source type{name[0], name[1], name[2], {}};
  GRAPHMILL_TRY(type.edges, npy_array::open(path));
  GRAPHMILL_TRYV(type.edges.expect_shape({2, -1}));
  GRAPHMILL_TRY(const auto count, count_in(meta, "num_edges"));
  if (count && *count != type.edges.shape()[1])
    return fail(ec::invalid_data, "{} has {} edges; meta.json says {}",
                path.string(), type.edges.shape()[1], *count);
  return type;
}

/// The member `outer`.`name` of meta.json, or an empty object.
json member(const json& meta, const char* outer, const std::string& name) {
  const auto group = meta.find(outer);
  if (group == meta.end() || !group->is_object())
    return json::object();
  const auto at = group->find(name);
  return at == group->end() || !at->is_object() ? json::object() : *at;
}

/// The edge files of a folder of several types: in the order of meta.json,
/// then by name.
result<std::vector<std::string>> edge_type_names(const fs::path& folder,
                                                 const json& meta) {
  std::vector<std::string> names;
  if (const auto at = meta.find("edge_types");
      at != meta.end() && at->is_object())
    for (const auto& [name, about] : at->items())
      names.push_back(name);
  std::set<std::string> others;
  std::error_code failed;
  for (fs::directory_iterator entry{folder, failed};
       !failed && entry != fs::directory_iterator{}; entry.increment(failed)) {
    auto name = entry->path().filename().string();
    if (!name.ends_with(edges_suffix))
      continue;
    name.resize(name.size() - edges_suffix.size());
    if (std::ranges::find(names, name) == names.end())
      others.insert(std::move(name));
  }
  if (failed)
    return fail_errno(failed.value(), "cannot list {}", folder.string());
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

result<void> open_all_edges(npy_source& source, const fs::path& folder,
                            bool typed, const json& meta) {
  if (!typed) {
    GRAPHMILL_TRY(auto type, open_edges(folder / "edges.npy",
                                        {"node", "to", "node"}, meta));
    source.edges.push_back(std::move(type));
    return ok();
  }
  GRAPHMILL_TRY(const auto names, edge_type_names(folder, meta));
  for (const auto& name : names) {
    const auto parts = split_edge_type_name(name);
    if (!parts)
      return fail(ec::invalid_data,
                  "{}: \"{}\" is no edge type; "
                  "<source>__<name>__<destination> expected",
                  folder.string(), name);
    GRAPHMILL_TRY(auto type,
                  open_edges(folder / (name + std::string{edges_suffix}),
                             *parts, member(meta, "edge_types", name)));
    source.edges.push_back(std::move(type));
  }
  return ok();
}

/// One past the largest id that edges have at an end of this type.
result<std::int64_t> count_from_edges(const npy_source& source,
                                      const std::string& name) {
  std::int64_t count = 0;
  for (const auto& type : source.edges) {
    if (type.source != name && type.destination != name)
      continue;
    GRAPHMILL_TRY(const auto ids, read_integers(type.edges));
    const auto half = ids.begin() + std::ssize(ids) / 2;
    const auto take = [&count](auto first, auto last) {
      if (first != last)
        count = std::max(count,
                         std::min(*std::max_element(first, last), highest) + 1);
    };
    if (type.source == name)
      take(ids.begin(), half);
    if (type.destination == name)
      take(half, ids.end());
  }
  return count;
}

std::vector<std::string> node_type_names(const npy_source& source, bool typed,
                                         const json& meta) {
  if (!typed)
    return {"node"};
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::ranges::find(names, name) == names.end())
      names.push_back(name);
  };
  if (const auto at = meta.find("node_types");
      at != meta.end() && at->is_object())
    for (const auto& [name, about] : at->items())
      add(name);
  for (const auto& type : source.edges) {
    add(type.source);
    add(type.destination);
  }
  return names;
}

} // namespace

std::optional<std::array<std::string, 3>>
split_edge_type_name(std::string_view name) {
  const auto first = name.find("__");
  if (first == name.npos)
    return std::nullopt;
  const auto second = name.find("__", first + 2);
  if (second == name.npos)
    return std::nullopt;
  return std::array{std::string{name.substr(0, first)},
                    std::string{name.substr(first + 2, second - first - 2)},
                    std::string{name.substr(second + 2)}};
}

result<npy_source> open_npy_source(const fs::path& folder, bool renumber) {
  std::error_code failed;
  if (!fs::is_directory(folder, failed))
    return fail(ec::not_found, "{} is not a folder", folder.string());
  GRAPHMILL_TRY(const auto meta, read_meta(folder));
  const auto typed =
    meta.contains("node_types") || !is_there(folder / "edges.npy");
  npy_source source;
  if (const auto at = meta.find("name"); at != meta.end() && at->is_string())
    source.name = at->get<std::string>();
  GRAPHMILL_TRYV(open_all_edges(source, folder, typed, meta));
  const auto names = node_type_names(source, typed, meta);
  if (names.empty())
    return fail(ec::not_found,
                "{} holds neither edges.npy nor files named "
                "<source>__<name>__<destination>.edges.npy",
                folder.string());
  for (const auto& name : names) {
    const auto about = typed ? member(meta, "node_types", name) : meta;
    std::int64_t from_edges = 0;
    if (!about.contains("num_nodes")) {
      GRAPHMILL_TRY(from_edges, count_from_edges(source, name));
    }
    GRAPHMILL_TRY(auto type,
                  open_nodes(folder, name, typed, about, from_edges, renumber));
    source.nodes.push_back(std::move(type));
  }
  return source;
}

} // namespace graphmill
