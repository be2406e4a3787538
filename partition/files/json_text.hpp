#pragma once

#include "messages/base/error.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// The largest depth of foreign JSON. Our own has ten levels at most. Copying,
/// comparing and printing a value recurse for each level, so depth takes stack.
inline constexpr std::size_t json_depth_limit = 64;
/// A value takes up to some 100 bytes, however short its text is. Callers that
/// know a smaller number give it. A dataset.json with a name for each of the
/// most possible classes has half as many.
inline constexpr std::size_t json_value_limit = std::size_t{1} << 25;

/// The only reader of foreign JSON. For any bytes, it gives a value within the
/// limits, or `invalid_data` with a sentence.
/// @param where The place of the text, for the error.
/// @param most The largest number of values, counted by commas and brackets
/// before any is made.
result<nlohmann::json> parse_json(std::string_view text, std::string_view where,
                                  std::size_t most = json_value_limit);

/// The first key that the outermost object of a text has twice; nothing if
/// there is none. `parse_json` keeps only the last.
/// @pre `parse_json` has accepted the text.
std::optional<std::string> repeated_key(std::string_view text);

/// The same for all objects in a text. A repeated key is a slip of the author.
std::optional<std::string> repeated_key_anywhere(std::string_view text);

/// The same with the fields of objects in the order of the text.
result<nlohmann::ordered_json> parse_ordered_json(std::string_view text,
                                                  std::string_view where);

/// The same of a file of at most `limit` bytes.
result<nlohmann::json> read_json(const std::filesystem::path& path,
                                 std::size_t limit);

/// The integer that a value is; nothing for anything else, a fraction, or a
/// value beyond 64 bits.
std::optional<std::int64_t> integer_of(const nlohmann::json& value);

/// A value if there is one, else null.
template <class T>
nlohmann::json json_or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

} // namespace graphmill
