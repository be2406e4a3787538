#pragma once

#include "messages/base/error.hpp"
#include "partition/files/file_io.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// Says, as long as it lives, that a coordinator waits for the lock of a state
/// folder: a file there with its name, which it keeps locked (flock(2)). The
/// system lets go of the lock when the process ends, however that ends, and
/// whoever lists the files then removes this one. Locks are as good as those of
/// `state_lock`. Move-only; of one thread.
class stand_in_sign {
public:
  /// The folder of the files, in the state folder.
  static constexpr const char* folder_name = ".stand-ins";

  /// @param name What the one who waits will be called.
  static result<stand_in_sign> put_up(const std::filesystem::path& runs,
                                      const std::string& name);
  ~stand_in_sign();
  stand_in_sign(stand_in_sign&& other) noexcept
    : path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}
  stand_in_sign& operator=(stand_in_sign&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
    return *this;
  }

private:
  stand_in_sign(std::filesystem::path path, unique_fd file)
    : path_(std::move(path)), file_(std::move(file)) {}

  std::filesystem::path path_;
  unique_fd file_;
};

/// The most files that `stand_ins_at` looks at.
inline constexpr std::size_t most_stand_ins = 64;

/// The names of those who wait for the lock of a state folder, sorted, as
/// printable text of one line, whoever has written that. Removes what those
/// have left who have ended. What cannot be read is not told of.
std::vector<std::string> stand_ins_at(const std::filesystem::path& runs);

} // namespace graphmill
