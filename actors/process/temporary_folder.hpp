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
    auto pattern = (parent / "graphmill-XXXXXX").string();
    if (failed || ::mkdtemp(pattern.data()) == nullptr)
      return fail_errno(failed ? failed.value() : errno,
                        "cannot make a temporary folder {}", pattern);
    return path_ = pattern;
  }

private:
  std::filesystem::path path_;
};

} // namespace graphmill
