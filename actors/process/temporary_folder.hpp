#pragma once

#include "messages/base/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace graphmill {

/// A folder of its owner alone, among the system's temporary files, that is
/// gone with all that is in it when this is.
class temporary_folder {
public:
  temporary_folder() = default;
  ~temporary_folder() {
    std::error_code ignored;
    if (!path_.empty())
      std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  /// To be called once. @returns where it is.
  result<std::filesystem::path> make() {
    std::error_code failed;
    const auto parent = std::filesystem::temp_directory_path(failed);
    const auto* chosen = std::getenv("TMPDIR");
    if (failed)
      return fail_errno(failed.value(),
                        "{}{} is no folder for temporary files: make it, or "
                        "name another one by TMPDIR",
                        chosen == nullptr ? "" : "TMPDIR: ",
                        chosen == nullptr ? "/tmp" : chosen);
    auto pattern = (parent / "graphmill-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      return fail_errno(errno,
                        "cannot make a folder for temporary files in {}; "
                        "TMPDIR may name another place",
                        parent.string());
    return path_ = pattern;
  }

private:
  std::filesystem::path path_;
};

} // namespace graphmill
