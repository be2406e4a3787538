#pragma once

#include "messages/base/error.hpp"
#include "partition/files/digest_record.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace graphmill {

/// Remembers which files of a folder were found to have which digests, and in
/// which state they were then, so that they need not be read again. Kept in a
/// file of the user's own, and not beside the data, which may be read-only,
/// belong to somebody else or be shared by many machines. A memory that others
/// could have written, or that is broken, counts as empty. Not thread-safe.
class verified_files {
public:
  /// Remembers nothing beyond its own life.
  verified_files() = default;

  /// What is remembered of a folder.
  /// @param memory The folder for such files: see `user_memory`.
  static verified_files open(const std::filesystem::path& data,
                             const std::filesystem::path& memory);

  /// Whether every file has the state in which it was verified.
  bool knows(const digest_record& record) const;

  /// Takes a record whose files were found to have its digest.
  void add(const digest_record& record);

  /// Writes down what was added. Files that were changed within the last two
  /// seconds before `now` are left out: another change within the same tick of
  /// the file system's clock would not show.
  /// @param now Nanoseconds since 1970.
  result<void> save(std::int64_t now = unix_now()) const;

private:
  static std::int64_t unix_now();

  struct entry {
    file_stamp stamp;
    std::string digest;
  };
  using entries = std::map<std::string, entry>; ///< By absolute path.

  static entries read(const std::filesystem::path& file);

  std::filesystem::path file_; ///< Empty: nowhere.
  entries known_;
};

/// The folder for what Graphmill remembers for its user:
/// $XDG_CACHE_HOME/graphmill/verified, else below ~/.cache. Empty if there is
/// neither.
std::filesystem::path user_memory();

} // namespace graphmill
