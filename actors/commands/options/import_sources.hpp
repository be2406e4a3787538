#pragma once

#include "messages/base/error.hpp"
#include "partition/files/file_stamp.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <vector>

namespace graphmill {

/// What standard input is called among files.
inline constexpr const char* standard_input = "/dev/stdin";

/// The files that an import reads, as they are when this is made. A dataset
/// keeps a record of them, by which a later import sees that they changed.
class import_sources {
public:
  explicit import_sources(std::vector<std::filesystem::path> files);

  /// After the import: an array of their paths, sizes, times and digests. Fails
  /// if one has changed meanwhile.
  result<nlohmann::json> record() const;

  /// Fails, and names them, if these are not the files of a record, or one has
  /// other content by now. Reads only those whose size or time is another.
  /// @param folder The dataset, for the error.
  result<void> expect_same(const nlohmann::json& recorded,
                           const std::filesystem::path& folder) const;

private:
  struct source {
    std::filesystem::path file;
    std::optional<file_stamp> stamp; ///< None of what cannot be looked at.
  };

  std::vector<source> sources_;
};

/// Makes standard input a file that can be read more than once: what comes from
/// a pipe is copied to a file without a name.
/// @param folder Where that file takes space.
result<void> keep_standard_input(const std::filesystem::path& folder);

} // namespace graphmill
