#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// What the features of a node or edge type are, as far as the import that made
/// them knows. The same numbers mean the same in two datasets only if this is
/// the same. It is kept beside them, in `features.json`, is no part of the
/// dataset's digest, and whoever makes a dataset by hand may leave it out. Of a
/// dataset that is cut into parts, one such file beside partitions.json has all
/// of it, by type.
struct feature_meaning {
  std::vector<std::string> columns; ///< Names, in order; empty: they have none.
  std::string scaled = "none";      ///< As `import --normalise` calls it.
  /// A digest of what the features were fitted to, such as means and
  /// categories; empty: nothing, or it is not known.
  std::string fitted{};
  /// The same of the scale of `standardise`.
  std::string scale{};

  friend bool operator==(const feature_meaning&,
                         const feature_meaning&) = default;
};

using feature_meanings = std::map<std::string, feature_meaning>; ///< By type.

/// @param folder Of the type, within a dataset that is being made.
result<void> write_feature_meaning(const std::filesystem::path& folder,
                                   const feature_meaning& of);

/// The same of a dataset that is being cut into parts; no file if nothing is
/// known.
result<void> write_feature_meanings(const std::filesystem::path& parts,
                                    const feature_meanings& all);

/// What is known of the features of a dataset, also of one that is cut into
/// parts: of types that no file speaks of, nothing. Fails with `invalid_data`
/// if a file says something else.
result<feature_meanings>
read_feature_meanings(const std::filesystem::path& dataset,
                      const dataset_info& info);

nlohmann::json to_json(const feature_meanings& all);
/// @param where What the value stands in, for the error.
result<feature_meanings> feature_meanings_in(const nlohmann::json& value,
                                             std::string_view where);

/// Where two datasets differ in what their features mean, as a sentence
/// without its full stop; empty: nowhere, as far as is known of both.
/// @param here, there How it calls them is "here" and "there".
std::string difference(const feature_meanings& here,
                       const feature_meanings& there);

} // namespace graphmill
