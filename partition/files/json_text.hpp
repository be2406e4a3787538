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

/// What JSON may not exceed that a file or another process gave. Our own is ten
/// levels deep at the most; what copies, compares or prints a value calls
/// itself once for each level, so that depth takes the stack.
inline constexpr std::size_t json_depth_limit = 64;
/// A value takes up to some 100 bytes, however few its text has: whoever knows
/// how many there can be says less. A dataset.json with a name for each of the
/// most classes that there can be has half as many.
inline constexpr std::size_t json_value_limit = std::size_t{1} << 25;

/// The one way in for JSON that somebody else wrote. Whatever the bytes, it
/// ends in a value within the limits or in `invalid_data` with a sentence.
/// @param where What the text stands in, for the error.
/// @param most Values that it may have, counted by commas and brackets before
/// any is made.
result<nlohmann::json> parse_json(std::string_view text, std::string_view where,
                                  std::size_t most = json_value_limit);

/// The first key that the outermost object of a text has twice, of which
/// `parse_json` keeps the last alone; nothing if there is none.
/// @pre `parse_json` has taken the text.
std::optional<std::string> repeated_key(std::string_view text);

/// The same of all objects in a text: what says one thing twice, and in the
/// end means the last, is a slip of whoever wrote it by hand.
std::optional<std::string> repeated_key_anywhere(std::string_view text);

/// The same with the fields of objects in the order of the text.
result<nlohmann::ordered_json> parse_ordered_json(std::string_view text,
                                                  std::string_view where);

/// The same of a file of at most `limit` bytes.
result<nlohmann::json> read_json(const std::filesystem::path& path,
                                 std::size_t limit);

/// The integer that a value is; nothing if it is anything else, a fraction or
/// beyond 64 bits.
std::optional<std::int64_t> integer_of(const nlohmann::json& value);

/// A value if there is one, else null.
template <class T>
nlohmann::json json_or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

} // namespace graphmill
