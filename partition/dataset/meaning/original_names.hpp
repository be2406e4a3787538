#pragma once

#include "messages/base/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace graphmill {

/// What the source of a dataset calls the types whose names are derived
/// (`type_name_for`): by the name of a node type, or the full name of an edge
/// type. Types that are not in it have the name of the source, as far as is
/// known. It is kept in `original_names.json`, beside dataset.json or
/// partitions.json, and is no part of the dataset's digest: names are.
using original_names = std::map<std::string, std::string>;

/// @param folder Of a dataset, or of one in parts, that is being made; no file
/// if there are no such names.
result<void> write_original_names(const std::filesystem::path& folder,
                                  const original_names& names);

/// None if there is no such file. Fails with `invalid_data` if it says
/// something else.
result<original_names> read_original_names(const std::filesystem::path& folder);

/// @param where What the value stands in, for the error.
result<original_names> original_names_in(const nlohmann::json& value,
                                         std::string_view where);

/// The first type that two datasets both have and take from another name, as a
/// sentence without its full stop; empty: none, as far as is known of both.
std::string difference_of_names(const original_names& here,
                                const original_names& there);

} // namespace graphmill
