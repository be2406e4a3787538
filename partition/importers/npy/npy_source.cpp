#include "partition/importers/npy/npy_source.hpp"

#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "messages/words/closest.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"
#include "partition/importers/npy/npy_edge_features.hpp"
#include "partition/importers/npy/npy_folder.hpp"
#include "partition/importers/npy/npy_label_rows.hpp"
#include "partition/importers/npy/npy_label_sets.hpp"
#include "partition/importers/npy/npy_labels.hpp"
#include "partition/importers/npy/npy_values.hpp"
#include "partition/importers/npy/npy_weights.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

namespace graphmill {

namespace fs = std::filesystem;
using json = npy_meta;

namespace {

constexpr std::size_t largest_meta = std::size_t{1} << 26;
/// Values beyond it are out of range in any case, and one more fits.
constexpr std::int64_t highest = std::int64_t{1} << 62;
constexpr std::string_view edges_file = "edges.npy";
constexpr std::string_view edges_suffix = ".edges.npy";

/// Keys that are those that are read but for a letter or two are slips of the
/// pen; others may be for somebody else.
result<void> expect_no_misspelt(const json& meta, const fs::path& path) {
  static const std::vector<std::string> known{
    "name",        "num_nodes",  "num_edges",  "num_features", "num_classes",
    "class_names", "node_types", "edge_types", "label_sets"};
  for (const auto& [key, value] : meta.items())
    if (const auto near = closest(key, known);
        !near.empty() && key.size() <= near.size() + 2
        && near.size() <= key.size() + 2
        && std::ranges::find(known, key) == known.end())
      return fail(ec::invalid_data,
                  "{}: nothing reads \"{}\"; did you mean \"{}\"? Call it "
                  "something else if not",
                  path.string(), key, near);
  return ok();
}

/// meta.json; an empty object if there is none.
result<json> read_meta(npy_folder& folder) {
  if (!folder.has("meta.json"))
    return json::object();
  const auto path = folder.take("meta.json");
  GRAPHMILL_TRY(const auto text, read_text(path, largest_meta));
  GRAPHMILL_TRY(auto meta, parse_ordered_json(text, path.string()));
  if (!meta.is_object())
    return fail(ec::invalid_data, "{} should be an object", path.string());
  if (const auto twice = repeated_key_anywhere(text))
    return fail(ec::invalid_data, "{} says \"{}\" twice: leave one of them",
                path.string(), *twice);
  GRAPHMILL_TRYV(expect_no_misspelt(meta, path));
  return meta;
}

/// The largest element plus one; 0 without elements.
result<std::int64_t> one_past_largest(const npy_array& array) {
  GRAPHMILL_TRY(const auto values, read_integers(array));
  const auto most = std::ranges::max_element(values);
  return most == values.end()
           ? 0
           : std::clamp<std::int64_t>(*most, -1, highest) + 1;
}

/// What meta.json says that a type is called where it comes from.
/// @param about The type there.
/// @param name What it is called if nothing is said.
result<std::string> original_name_in(const json& about,
                                     const std::string& name) {
  if (!about.is_object() || !about.contains("original_name"))
    return name;
  const auto& text = about["original_name"];
  if (!text.is_string() || printable(text.get<std::string>()) != text)
    return fail(ec::invalid_data,
                "meta.json: the \"original_name\" of {} should be a string "
                "without line breaks or control characters",
                name);
  return text.get<std::string>();
}

/// Options that are each about what labels are.
result<void> check_options(const npy_source_options& options) {
  if (options.regression && (options.multi_label || options.renumber))
    return fail(ec::invalid_argument,
                "--regression is for labels that are numbers to be learnt, and "
                "{} for classes; leave one of them out",
                options.multi_label ? "--multi-label" : "--renumber-labels");
  for (const auto& set : options.regression_sets)
    if (std::ranges::count(options.multi_label_sets, set) != 0)
      return fail(ec::invalid_argument,
                  "--regression-set {0} and --multi-label-set {0} exclude each "
                  "other; leave one of them out",
                  set);
  return ok();
}

/// Fails if a label set that an option names is not there, or is of another
/// kind.
result<void> expect_sets(const npy_source& source, std::string_view option,
                         std::span<const std::string> names, label_kind kind) {
  for (const auto& name : names) {
    const auto named = [&](const incoming_labels& set) {
      return set.name == name && set.kind == kind;
    };
    if (std::ranges::none_of(source.nodes, [&](const npy_node_source& type) {
          return std::ranges::any_of(type.label_sets, named);
        }))
      return fail(ec::invalid_argument,
                  "{0} {1}: there is no labels.{1}.npy, nor <type>.labels.{1}"
                  ".npy",
                  option, name);
  }
  return ok();
}

/// The ids at those ends of edges that are of one node type.
struct edge_ends {
  std::int64_t past_largest = 0; ///< One past the largest id.
  std::int64_t count = 0;
};

/// So many nodes cost little, whether they have edges or not.
constexpr std::int64_t unquestioned_nodes = std::int64_t{1} << 20;
/// How many times as many nodes as ends of edges are plausible.
constexpr std::int64_t most_nodes_of_end = 10;

/// Fails if almost all nodes that ids of edges make would have no edge: then
/// ids are no numbers of nodes, which count from 0.
result<void> expect_plausible(const std::string& type, const edge_ends& edges) {
  if (edges.past_largest <= unquestioned_nodes
      || edges.past_largest / most_nodes_of_end <= edges.count)
    return ok();
  return fail(ec::invalid_data,
              "edges name nodes of type {} {} times, with ids up to {}: there "
              "would be {} nodes, almost all without edges. Number the nodes "
              "anew from 0, or say in meta.json how many there are "
              "(\"num_nodes\")",
              type, edges.count, edges.past_largest - 1, edges.past_largest);
}

/// Fills in counts that meta.json lacks.
/// @param edges What the edges of the type say.
result<void> derive_counts(npy_node_source& type, const json& meta,
                           const edge_ends& edges,
                           const npy_source_options& options) {
  GRAPHMILL_TRY(const auto nodes, count_in_meta(meta, "num_nodes"));
  GRAPHMILL_TRY(const auto width, count_in_meta(meta, "num_features"));
  type.count = nodes         ? *nodes
               : type.labels ? (is_list(*type.labels) ? type.labels->size()
                                                      : type.labels->rows())
               : type.dense  ? type.dense->rows()
               : type.indptr ? type.indptr->rows() - 1
                             : edges.past_largest;
  if (!nodes && !type.labels && !type.dense && !type.indptr)
    GRAPHMILL_TRYV(expect_plausible(type.name, edges));
  if (type.labels) {
    GRAPHMILL_TRYV(derive_npy_labels(type, meta,
                                     {.renumber = options.renumber,
                                      .multi_label = options.multi_label,
                                      .regression = options.regression,
                                      .none = options.no_label}));
  }
  if (type.dense) {
    const auto& shape = type.dense->shape();
    type.feature_width = shape.size() == 2 ? shape[1] : 1;
    if (shape.size() == 2 && width && *width != type.feature_width)
      return fail(ec::invalid_data, "{} has {} columns; meta.json says {}",
                  type.dense->path().string(), type.feature_width, *width);
  } else if (type.indices && width) {
    type.feature_width = *width;
  } else if (type.indices) {
    GRAPHMILL_TRY(type.feature_width, one_past_largest(*type.indices));
  }
  return ok();
}

/// Says in an error by what it is known how many nodes there are.
result<void> with_count(result<void> checked, const npy_node_source& type) {
  if (checked || !type.labels || type.count != type.labels->shape().front())
    return checked;
  auto reason = std::move(checked).error();
  reason.message +=
    fmt::format("; there are {} by {}", pluralized(type.count, "node"),
                type.labels->path().filename().string());
  return reason;
}

result<void> check_shapes(const npy_node_source& type) {
  for (std::size_t s = 0; s < type.splits.size(); ++s)
    if (type.splits[s] && !type.masks[s]) {
      GRAPHMILL_TRYV(type.splits[s]->expect_shape({-1}));
    }
  if (type.times) {
    GRAPHMILL_TRYV(type.times->expect_shape({type.count}));
  }
  if (type.dense && type.dense->shape().size() == 1) {
    GRAPHMILL_TRYV(with_count(type.dense->expect_shape({type.count}), type));
  } else if (type.dense) {
    GRAPHMILL_TRYV(
      with_count(type.dense->expect_shape({type.count, -1}), type));
  }
  if (type.indptr) {
    GRAPHMILL_TRYV(
      with_count(type.indptr->expect_shape({type.count + 1}), type));
    GRAPHMILL_TRYV(type.indices->expect_shape({-1}));
    GRAPHMILL_TRYV(type.values->expect_shape({type.indices->size()}));
  }
  return ok();
}

/// Fails if one of the arrays is missing that sparse features are.
result<void> expect_sparse_files(const npy_folder& folder,
                                 const std::string& prefix) {
  for (const auto* file : {"features_indices.npy", "features_values.npy"}) {
    if (folder.has(prefix + file))
      continue;
    const auto by_scipy = prefix + "features_data.npy";
    return fail(ec::not_found,
                "{}: {}features_indptr.npy is there without {}{}; sparse "
                "features are features_indptr.npy, features_indices.npy and "
                "features_values.npy{}",
                folder.path().string(), prefix, prefix, file,
                folder.has(by_scipy)
                    && std::string_view{file}.ends_with("values.npy")
                  ? fmt::format(": rename {}, for what SciPy calls data are "
                                "values here",
                                by_scipy)
                  : "");
  }
  return ok();
}

result<npy_node_source> open_nodes(npy_folder& folder, const std::string& name,
                                   bool typed, const json& meta,
                                   const edge_ends& edges,
                                   const npy_source_options& options) {
  const auto prefix = typed ? name + "." : std::string{};
  npy_node_source type;
  type.name = name;
  GRAPHMILL_TRY(type.original_name,
                original_name_in(typed ? meta : json::object(), name));
  GRAPHMILL_TRY(type.labels, folder.array_if_there(prefix + "labels.npy"));
  for (auto which : all_splits) {
    const auto i = static_cast<std::size_t>(which);
    GRAPHMILL_TRY(auto opened, open_npy_split(folder, prefix, which, ""));
    type.splits[i] = std::move(opened.array);
    type.masks[i] = opened.mask;
  }
  if (options.times) {
    GRAPHMILL_TRY(type.times, folder.array_if_there(prefix + "time.npy"));
  }
  GRAPHMILL_TRY(type.dense, folder.array_if_there(prefix + "features.npy"));
  if (!type.dense && folder.has(prefix + "features_indptr.npy")) {
    GRAPHMILL_TRYV(expect_sparse_files(folder, prefix));
    GRAPHMILL_TRY(type.indptr, folder.array(prefix + "features_indptr.npy"));
    GRAPHMILL_TRY(type.indices, folder.array(prefix + "features_indices.npy"));
    GRAPHMILL_TRY(type.values, folder.array(prefix + "features_values.npy"));
  }
  GRAPHMILL_TRYV(derive_counts(type, meta, edges, options));
  GRAPHMILL_TRYV(check_shapes(type));
  GRAPHMILL_TRY(type.label_sets,
                read_npy_label_sets(folder, prefix, type, meta, options));
  return type;
}

result<npy_edge_source> open_edges(npy_folder& folder, const std::string& file,
                                   const std::array<std::string, 3>& name,
                                   const npy_source_options& options,
                                   const json& meta) {
  npy_edge_source type{.source = name[0],
                       .name = name[1],
                       .destination = name[2],
                       .original_name = name[1]};
  GRAPHMILL_TRY(type.edges, folder.array(file));
  const auto& shape = type.edges.shape();
  const auto path = type.edges.path().string();
  if (shape.size() == 2 && shape[1] == 2 && shape[0] != 2)
    return fail(ec::invalid_data,
                "{} has the shape [{}, 2], a row for each edge; save its "
                "transpose (.T), with a row of sources and one of destinations",
                path, shape[0]);
  GRAPHMILL_TRYV(type.edges.expect_shape({2, -1}));
  if (type.edges.type() == dtype::boolean)
    return fail(ec::invalid_data, "{} holds bool; integers expected", path);
  GRAPHMILL_TRY(const auto count, count_in_meta(meta, "num_edges"));
  if (count && *count != shape[1])
    return fail(ec::invalid_data, "{} has {} edges; meta.json says {}", path,
                shape[1], *count);
  const auto prefix = file.substr(0, file.size() - edges_file.size());
  GRAPHMILL_TRY(type.weights, open_npy_weights(folder, prefix, shape[1]));
  GRAPHMILL_TRY(type.features,
                open_npy_edge_features(folder, prefix, shape[1]));
  GRAPHMILL_TRY(type.task, open_npy_task(folder, prefix, {}, shape[1]));
  for (const auto& task : options.tasks) {
    GRAPHMILL_TRY(auto arrays, open_npy_task(folder, prefix, task, shape[1]));
    type.own.push_back(std::move(arrays));
  }
  return type;
}

/// The edge files of a folder of several types: in the order of meta.json,
/// then by name.
std::vector<std::string> edge_types_in(const npy_folder& folder,
                                       const json& meta) {
  std::vector<std::string> names;
  if (const auto at = meta.find("edge_types");
      at != meta.end() && at->is_object())
    for (const auto& [name, about] : at->items())
      names.push_back(name);
  // The order of the names without what ends them is not that of the files.
  std::set<std::string> others;
  for (auto name : folder.names()) {
    if (!name.ends_with(edges_suffix))
      continue;
    name.resize(name.size() - edges_suffix.size());
    if (std::ranges::find(names, name) == names.end())
      others.insert(std::move(name));
  }
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

result<void> open_all_edges(npy_source& source, npy_folder& folder, bool typed,
                            const npy_source_options& options,
                            const json& meta) {
  if (!typed) {
    GRAPHMILL_TRY(auto type, open_edges(folder, "edges.npy",
                                        {"node", "to", "node"}, options, meta));
    source.edges.push_back(std::move(type));
    return ok();
  }
  for (const auto& name : edge_types_in(folder, meta)) {
    const auto parts = split_edge_type_name(name);
    if (!parts)
      return fail(ec::invalid_data,
                  "{}: \"{}\" is no edge type; "
                  "<source>__<name>__<destination> expected",
                  folder.path().string(), name);
    const auto about = member_of_meta(meta, "edge_types", name);
    GRAPHMILL_TRY(auto type,
                  open_edges(folder, name + std::string{edges_suffix}, *parts,
                             options, about));
    GRAPHMILL_TRY(type.original_name, original_name_in(about, type.name));
    source.edges.push_back(std::move(type));
  }
  return ok();
}

result<edge_ends> ends_in(const npy_source& source, const std::string& name) {
  edge_ends out;
  for (const auto& type : source.edges) {
    if (type.source != name && type.destination != name)
      continue;
    GRAPHMILL_TRY(const auto ids, read_integers(type.edges));
    const auto half = ids.begin() + std::ssize(ids) / 2;
    const auto take = [&out](auto first, auto last) {
      out.count += last - first;
      if (first != last)
        out.past_largest =
          std::max(out.past_largest,
                   std::min(*std::max_element(first, last), highest) + 1);
    };
    if (type.source == name)
      take(ids.begin(), half);
    if (type.destination == name)
      take(half, ids.end());
  }
  return out;
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

result<npy_source> open_npy_source(const fs::path& path,
                                   const npy_source_options& options) {
  GRAPHMILL_TRYV(check_options(options));
  GRAPHMILL_TRY(auto folder, npy_folder::open(path, options.ignore));
  GRAPHMILL_TRY(const auto meta, read_meta(folder));
  const auto typed = meta.contains("node_types") || !folder.has("edges.npy");
  npy_source source;
  source.ignored = folder.ignored();
  if (const auto at = meta.find("name"); at != meta.end() && at->is_string())
    source.name = at->get<std::string>();
  GRAPHMILL_TRYV(open_all_edges(source, folder, typed, options, meta));
  const auto names = node_type_names(source, typed, meta);
  if (names.empty())
    return fail(ec::not_found,
                "{} holds neither edges.npy nor files named "
                "<source>__<name>__<destination>.edges.npy; {}",
                path.string(), folder.content());
  for (const auto& name : names) {
    const auto about = typed ? member_of_meta(meta, "node_types", name) : meta;
    edge_ends edges;
    if (!about.contains("num_nodes")) {
      GRAPHMILL_TRY(edges, ends_in(source, name));
    }
    GRAPHMILL_TRY(auto type,
                  open_nodes(folder, name, typed, about, edges, options));
    source.nodes.push_back(std::move(type));
  }
  GRAPHMILL_TRYV(folder.expect_all_taken(typed
                                           ? std::span<const std::string>{names}
                                           : std::span<const std::string>{}));
  if (options.regression
      && std::ranges::none_of(source.nodes, [](const npy_node_source& type) {
           return type.labels.has_value();
         }))
    return fail(ec::invalid_argument,
                "--regression: {} has no labels.npy to take numbers from",
                path.string());
  GRAPHMILL_TRYV(expect_sets(source, "--regression-set",
                             options.regression_sets, label_kind::regression));
  GRAPHMILL_TRYV(expect_sets(source, "--multi-label-set",
                             options.multi_label_sets,
                             label_kind::multi_label));
  return source;
}

} // namespace graphmill
