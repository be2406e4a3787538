#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <filesystem>

namespace SQLite {
class Database;
}

namespace graphmill::history_schema {

/// Marks a file as a run history, as file(1) may show: "GMrh".
inline constexpr std::int64_t application = 0x474d7268;

/// Refuses a version of the schema that no history of ours has, or that is
/// newer: `version_mismatch`, as such a file is to stay as it is.
/// @param version As SQLite keeps it for a program (`user_version`).
result<void> check_version(std::int64_t version,
                           const std::filesystem::path& file);

/// Makes a new file a run history of the present version, and one of an older
/// version, too; refuses what is none, or newer. What a history of version 1
/// has of runs stays; it knows nothing of how to go on with those that are not
/// over. Throws what SQLiteCpp throws.
result<void> prepare(SQLite::Database& database,
                     const std::filesystem::path& file);

} // namespace graphmill::history_schema
