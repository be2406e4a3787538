#include "partition/importers/npy/npy_folder.hpp"

#include "messages/words/closest.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_strays_named = 8;

/// Files with such an end hold data, whatever they are called.
constexpr auto data_ends = std::to_array<std::string_view>(
  {".npy", ".npz", ".npy.gz", ".pt", ".pth", ".pkl", ".pickle", ".mat", ".csv",
   ".parquet", ".tsv", ".h5", ".hdf5", ".gz", ".zip", ".bin", ".json"});

struct known_stray {
  std::string_view stem;
  std::string_view meaning;
};

constexpr std::string_view edge_data =
  "features of edges, TYPE.edge_attr.npy, stand beside TYPE.edges.npy";
constexpr std::string_view of_task =
  "what a task of edges needs, TYPE.edge_split.npy and so on, stands beside "
  "TYPE.edges.npy";
constexpr std::string_view of_named_task =
  "of a task that --task-kind NAME=KIND names";
constexpr std::string_view weights_of =
  "weights of edges, TYPE.edge_weight.npy, stand beside TYPE.edges.npy";
constexpr std::string_view one_split =
  "splits are {train,val,test}_idx.npy or {train,val,test}_mask.npy";

constexpr auto known_strays = std::to_array<known_stray>({
  {"feature", "features.npy?"},
  {"feat", "features.npy?"},
  {"feats", "features.npy?"},
  {"x", "features.npy?"},
  {"node_feat", "features.npy?"},
  {"node_features", "features.npy?"},
  {"features", "of one node type among several: TYPE.features.npy"},
  {"features_indptr", "dense features.npy is there, too"},
  {"features_indices", "needs features_indptr.npy, without features.npy"},
  {"features_values", "needs features_indptr.npy, without features.npy"},
  {"features_data", "features_values.npy?"},
  {"labels", "of one node type among several: TYPE.labels.npy"},
  {"label", "labels.npy?"},
  {"y", "labels.npy?"},
  {"target", "labels.npy?"},
  {"targets", "labels.npy?"},
  {"node_label", "labels.npy?"},
  {"class_names", "they are a list in meta.json"},
  {"edge", "edges.npy?"},
  {"edge_index", "edges.npy?"},
  {"edge_list", "edges.npy?"},
  {"edges", "edges.npy is of one node type, TYPE.edges.npy of several"},
  {"train", one_split},
  {"val", one_split},
  {"valid", one_split},
  {"test", one_split},
  {"valid_idx", "val_idx.npy?"},
  {"validation_idx", "val_idx.npy?"},
  {"valid_mask", "val_mask.npy?"},
  {"time", "read for --split with --by time"},
  {"edge_weight", weights_of},
  {"edge_weights", weights_of},
  {"weight", weights_of},
  {"weights", weights_of},
  {"edge_attr", edge_data},
  {"edge_feat", edge_data},
  {"edge_features", edge_data},
  {"edge_split", of_task},
  {"edge_label", of_task},
  {"edge_time", of_task},
  {"edge_row_weight", of_task},
  {"edge_negatives", of_task},
  {"edge_labels", "edge_label.npy?"},
  {"edge_type", "edges of several types are files of their own"},
});

bool looks_like_data(std::string_view name) {
  return name.front() != '.'
         && std::ranges::any_of(data_ends, [name](std::string_view end) {
              return name.ends_with(end);
            });
}

/// What the file of a type may be meant for that there is not; empty: its name
/// is not like that of a type.
std::string misspelt_type(const std::string& name,
                          std::span<const std::string> types) {
  const auto dot = name.find('.');
  const auto type = name.substr(0, dot);
  if (name.find('.', dot + 1) == name.npos
      || std::ranges::find(types, type) != types.end())
    return {};
  const auto meant = closest(type, types);
  return meant.empty() ? std::string{}
                       : fmt::format("there is no node type {}; {}{}?", type,
                                     meant, name.substr(dot));
}

} // namespace

std::string_view meaning_of_stray(std::string_view name) {
  if (name.ends_with(".npz"))
    return "an archive: save each array of it as .npy";
  if (!name.ends_with(".npy"))
    return {};
  const auto stem = name.substr(0, name.size() - 4);
  for (const auto& known : known_strays)
    if (stem == known.stem
        || (stem.ends_with(known.stem)
            && stem[stem.size() - known.stem.size() - 1] == '.'))
      return known.meaning;
  for (const auto& known : known_strays)
    if (const auto at = stem.find(fmt::format("{}.", known.stem));
        known.meaning == of_task
        && (at == 0 || (at != stem.npos && stem[at - 1] == '.')))
      return of_named_task;
  return {};
}

result<npy_folder> npy_folder::open(const fs::path& path,
                                    const std::vector<std::string>& ignore) {
  std::error_code failed;
  if (!fs::is_directory(path, failed))
    return fail(ec::not_found, "{} is not a folder", path.string());
  npy_folder folder;
  folder.path_ = path;
  for (fs::directory_iterator entry{path, failed};
       !failed && entry != fs::directory_iterator{}; entry.increment(failed)) {
    std::error_code unknown;
    auto name = entry->path().filename().string();
    // A folder that is called like an array is refused when it is opened.
    if (!entry->is_directory(unknown) || looks_like_data(name))
      folder.names_.insert(std::move(name));
  }
  if (failed)
    return fail_errno(failed.value(), "cannot list {}", path.string());
  for (const auto& name : ignore) {
    auto file = name;
    if (!folder.has(file))
      file += ".npy";
    if (folder.names_.erase(file) == 0)
      return fail(ec::invalid_argument,
                  "--ignore {}: there is no such file in "
                  "{}",
                  name, path.string());
    folder.ignored_.push_back(std::move(file));
  }
  return folder;
}

fs::path npy_folder::take(const std::string& name) {
  taken_.insert(name);
  return path_ / name;
}

result<npy_array> npy_folder::array(const std::string& name) {
  GRAPHMILL_TRY(auto opened, npy_array::open_any(take(name)));
  if (opened.shape().empty())
    return fail(ec::invalid_data,
                "{} holds a single value; an array with a row for each node or "
                "edge expected",
                opened.path().string());
  if (opened.columns_first() && opened.shape().size() != 2)
    return fail(ec::invalid_data,
                "cannot use {}: it is in Fortran order and has {} extents; "
                "save numpy.ascontiguousarray of it",
                opened.path().string(), opened.shape().size());
  return opened;
}

result<std::optional<npy_array>>
npy_folder::array_if_there(const std::string& name) {
  if (!has(name))
    return std::optional<npy_array>{};
  GRAPHMILL_TRY(auto opened, array(name));
  return std::optional<npy_array>{std::move(opened)};
}

result<std::optional<npy_array>>
npy_folder::only_array_of(std::span<const std::string_view> names,
                          const std::string& prefix, std::string_view what) {
  std::optional<npy_array> out;
  for (const auto file : names) {
    const auto name = prefix + std::string{file};
    if (!has(name))
      continue;
    if (out)
      return fail(ec::invalid_data,
                  "{} and {} are both {}; leave one of them out by name "
                  "(--ignore {})",
                  out->path().string(), name, what, name);
    GRAPHMILL_TRY(out, array(name));
  }
  return out;
}

std::string npy_folder::content() const {
  if (names_.empty())
    return "it holds no file";
  std::string listed;
  std::size_t count = 0;
  for (const auto& name : names_)
    if (++count <= most_strays_named) {
      listed += fmt::format("{}{}", listed.empty() ? "" : ", ", name);
      // What else is said of a name is said of one that nothing reads.
      if (const auto meaning = meaning_of_stray(name); meaning.ends_with('?'))
        listed += fmt::format(" ({})", meaning);
    }
  if (count > most_strays_named)
    listed += fmt::format(" and {} more", count - most_strays_named);
  return fmt::format(
    "it holds {}{}", listed,
    names_.contains("dataset.json") ? "; it is a dataset already" : "");
}

result<void>
npy_folder::expect_all_taken(std::span<const std::string> types) const {
  std::string listed;
  std::string first;
  std::size_t count = 0;
  for (const auto& name : names_) {
    if (taken_.contains(name) || !looks_like_data(name))
      continue;
    if (count++ == 0)
      first = name;
    if (count > most_strays_named)
      continue;
    auto meaning = misspelt_type(name, types);
    if (meaning.empty())
      meaning = meaning_of_stray(name);
    listed += listed.empty() ? "" : ", ";
    listed += meaning.empty() ? name : fmt::format("{} ({})", name, meaning);
  }
  if (count == 0)
    return ok();
  return fail(ec::invalid_data,
              "{}: nothing reads {}{}; rename what is meant to be read, and "
              "leave out the rest by name (--ignore {})",
              path_.string(), listed,
              count > most_strays_named
                ? fmt::format(" and {} more", count - most_strays_named)
                : "",
              first);
}

} // namespace graphmill
