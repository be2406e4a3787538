#include "partition/dataset/dataset_names.hpp"

#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/task_checks.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// Three of them and two separators stay within a file name's 255 bytes.
constexpr std::size_t longest_name = 80;

bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
         || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

result<void> check_range(std::string_view name, const char* label,
                         std::int64_t count, std::int64_t most,
                         std::string_view where) {
  if (count < 0 || count > most)
    return fail(ec::invalid_data, "{}: {} has {} {}; 0 to {} expected", where,
                name, count, label, most);
  return ok();
}

/// Two classes of one name could not be told apart in what a model says.
result<void> check_distinct(const node_type_info& type,
                            std::string_view where) {
  std::vector<std::string_view> names(type.class_names.begin(),
                                      type.class_names.end());
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end())
    return ok();
  return fail(ec::invalid_data,
              "{}: two classes of {} are called \"{}\"; give each a name of "
              "its own",
              where, type.name, *twice);
}

/// Of a type, or of one as a label set shows it.
result<void> check_classes(const node_type_info& type, std::string_view where) {
  GRAPHMILL_TRYV(
    check_range(type.name, "classes", type.class_count, most_classes, where));
  if (!type.class_names.empty()
      && std::ssize(type.class_names) != type.class_count)
    return fail(ec::invalid_data,
                "{}: {} has {} classes, but {} names for them", where,
                type.name, type.class_count, type.class_names.size());
  GRAPHMILL_TRYV(check_distinct(type, where));
  const auto& labels = traits_of(type.labels);
  if (labels.rows && (type.class_count == 0 || type.class_count > labels.most))
    return fail(ec::invalid_data,
                "{}: nodes of {} have {} {} for labels; 1 to {} expected",
                where, type.name, type.class_count, labels.units, labels.most);
  for (auto count : type.split_counts)
    if (count < 0 || count > type.count)
      return fail(ec::invalid_data, "{}: a split of {} has {} of {} nodes",
                  where, type.name, count, type.count);
  return ok();
}

/// Counts that are possible by themselves may make no array together.
/// @pre the type's counts are within their limits
result<void> check_array_bytes(const node_type_info& type,
                               std::string_view where) {
  const auto rows = static_cast<std::uint64_t>(type.count);
  for (const auto& [what, row_bytes] :
       {std::pair{"features", type.dense_row_bytes()},
        std::pair{"labels", type.has_label_rows() ? type.label_bytes() : 0}})
    if (rows != 0 && row_bytes > most_array_bytes / rows)
      return fail(ec::invalid_data,
                  "{}: {} nodes of {} with {} bytes of {} each are more than "
                  "the {} bytes that an array may have",
                  where, type.count, type.name, row_bytes, what,
                  most_array_bytes);
  return ok();
}

result<void> check_sparse_features(const node_type_info& type,
                                   std::string_view where) {
  GRAPHMILL_TRYV(check_range(type.name, "values of features",
                             type.feature_entries, most_items, where));
  GRAPHMILL_TRYV(check_range(type.name, "values of features in a row",
                             type.most_row_entries, type.feature_width, where));
  if (type.feature_width == 0)
    return fail(ec::invalid_data,
                "{}: the features of {} are sparse, but have no columns", where,
                type.name);
  return ok();
}

result<void> check_node_type(const node_type_info& type,
                             std::string_view where) {
  GRAPHMILL_TRYV(check_name(type.name, where));
  GRAPHMILL_TRYV(
    check_range(type.name, "nodes", type.count, most_items, where));
  GRAPHMILL_TRYV(check_range(type.name, "features", type.feature_width,
                             most_columns, where));
  GRAPHMILL_TRYV(check_classes(type, where));
  GRAPHMILL_TRYV(check_label_set_names(type, where));
  for (const auto& set : type.label_sets) {
    const auto within = fmt::format("{}: label set {}", where, set.name);
    if (set.class_count == 0)
      return fail(ec::invalid_data, "{} of {} has no classes", within,
                  type.name);
    GRAPHMILL_TRYV(check_classes(with_labels_of(type, set), within));
  }
  if (type.feature_type != dtype::float32
      && type.feature_type != dtype::float16)
    return fail(ec::invalid_data,
                "{}: features of {} are {}; float32 or float16 expected", where,
                type.name, to_string(type.feature_type));
  GRAPHMILL_TRYV(check_array_bytes(type, where));
  for (const auto& set : type.label_sets)
    GRAPHMILL_TRYV(
      check_array_bytes(with_labels_of(type, set),
                        fmt::format("{}: label set {}", where, set.name)));
  return type.sparse_features ? check_sparse_features(type, where) : ok();
}

result<void> check_edge_type(const edge_type_info& type,
                             const dataset_info& info, std::string_view where) {
  GRAPHMILL_TRYV(check_name(type.name, where));
  const auto types = std::ssize(info.node_types);
  for (auto end : {type.source, type.destination})
    if (end < 0 || end >= types)
      return fail(ec::invalid_data,
                  "{}: edge type {} ends at node type {}, but there are {}",
                  where, type.name, end, types);
  GRAPHMILL_TRYV(
    check_range(type.name, "edges", type.count, most_items, where));
  GRAPHMILL_TRYV(check_range(type.name, "in-edges of a node",
                             type.max_in_degree, most_degree, where));
  if (type.index_type != dtype::int32 && type.index_type != dtype::int64)
    return fail(ec::invalid_data,
                "{}: indices of {} are {}; int32 or int64 expected", where,
                type.name, to_string(type.index_type));
  GRAPHMILL_TRYV(check_range(type.name, "feature columns", type.feature_width,
                             most_columns, where));
  if (type.feature_type != dtype::float32
      && type.feature_type != dtype::float16)
    return fail(ec::invalid_data,
                "{}: features of {} are {}; float32 or float16 expected", where,
                type.name, to_string(type.feature_type));
  if (type.feature_width > 0
      && static_cast<std::uint64_t>(type.count)
           > most_array_bytes / type.feature_row_bytes())
    return fail(ec::invalid_data,
                "{}: {} rows of {} features of edges {} are more than {} bytes",
                where, type.count, type.feature_width, type.name,
                most_array_bytes);
  return ok();
}

} // namespace

std::string_view file_stem(split which) {
  constexpr std::array<std::string_view, 3> stems{"train", "val", "test"};
  return stems[static_cast<std::size_t>(which)];
}

std::uint64_t node_type_info::feature_bytes() const {
  const auto dense = static_cast<std::uint64_t>(count) * dense_row_bytes();
  if (!sparse_features)
    return dense;
  return (static_cast<std::uint64_t>(count) + 1) * sizeof(std::int64_t)
         + static_cast<std::uint64_t>(feature_entries)
             * (sizeof(std::int32_t) + size_of(feature_type));
}

std::string dataset_info::edge_type_name(edge_type_id type) const {
  const auto& edge = edge_types[type];
  return fmt::format("{}__{}__{}", node_types[edge.source].name, edge.name,
                     node_types[edge.destination].name);
}

std::optional<node_type_id>
dataset_info::find_node_type(std::string_view wanted) const {
  for (std::size_t i = 0; i < node_types.size(); ++i)
    if (node_types[i].name == wanted)
      return static_cast<node_type_id>(i);
  return std::nullopt;
}

std::optional<edge_type_id>
dataset_info::find_edge_type(std::string_view wanted) const {
  std::optional<edge_type_id> by_middle;
  auto unique = true;
  for (std::size_t i = 0; i < edge_types.size(); ++i) {
    const auto id = static_cast<edge_type_id>(i);
    if (edge_type_name(id) == wanted)
      return id;
    if (edge_types[i].name != wanted)
      continue;
    unique = !by_middle.has_value();
    by_middle = id;
  }
  return unique ? by_middle : std::nullopt;
}

result<void> check_name(std::string_view name, std::string_view where) {
  const auto good = !name.empty() && name.size() <= longest_name
                    && std::ranges::all_of(name, allowed)
                    && name.find("__") == name.npos && name.front() != '.'
                    && name.front() != '_' && name.back() != '_';
  if (!good)
    return fail(ec::invalid_data,
                "{}: \"{}\" cannot name a type; use at most {} letters, "
                "digits, '-', '.' and single '_' within",
                where, name, longest_name);
  return ok();
}

result<void> check_info(const dataset_info& info, std::string_view where) {
  if (info.node_types.empty() || info.node_types.size() > most_types
      || info.edge_types.size() > most_types)
    return fail(ec::invalid_data,
                "{}: {} node types and {} edge types; 1 to {} node types and "
                "at most as many edge types expected",
                where, info.node_types.size(), info.edge_types.size(),
                most_types);
  if (info.target < 0 || info.target >= std::ssize(info.node_types))
    return fail(ec::invalid_data, "{}: the target is no node type", where);
  std::set<std::string> names;
  for (const auto& type : info.node_types) {
    GRAPHMILL_TRYV(check_node_type(type, where));
    if (!names.insert(type.name).second)
      return fail(ec::invalid_data, "{}: node type {} stands there twice",
                  where, type.name);
  }
  for (std::size_t i = 0; i < info.edge_types.size(); ++i) {
    GRAPHMILL_TRYV(check_edge_type(info.edge_types[i], info, where));
    const auto name = info.edge_type_name(static_cast<edge_type_id>(i));
    if (!names.insert(name).second)
      return fail(ec::invalid_data, "{}: edge type {} stands there twice",
                  where, name);
  }
  return check_tasks(info, where);
}

fs::path node_folder(const fs::path& dataset, const dataset_info& info,
                     node_type_id type) {
  return dataset / "nodes" / info.node_types[type].name;
}

std::optional<std::size_t>
dataset_info::find_task(std::string_view name) const {
  const auto at = std::ranges::find(tasks, name, &edge_task_info::name);
  return at == tasks.end() ? std::nullopt
                           : std::optional<std::size_t>(at - tasks.begin());
}

fs::path edge_folder(const fs::path& dataset, const dataset_info& info,
                     edge_type_id type) {
  return dataset / "edges" / info.edge_type_name(type);
}

} // namespace graphmill
