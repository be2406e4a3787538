#pragma once

#include "messages/base/error.hpp"
#include "partition/files/file_io.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace graphmill {

/// The lock of a coordinator's state folder: as long as this lives, no other
/// coordinator begins there. It is one of the operating system (flock(2)),
/// which lets go of it when the process ends, however that ends. On shared
/// storage it is as good as the locks there are: NFSv4 has them.
///
/// In a file beside the history it says who holds it. A file server may take a
/// lock away from a machine that it has not heard of for a while; then the file
/// has the name of another holder, which `check` notices. The file also says
/// whether the holder has ended its whole cluster; the next holder clears that.
class state_lock {
public:
  /// The file in the state folder.
  static constexpr const char* file_name = "coordinator.lock";

  /// @param heir Takes it only after one that is missed: fails with `cancelled`
  /// and leaves it alone if the last holder has ended its whole cluster.
  /// @returns nothing if somebody else holds it. Fails if the folder cannot be
  /// written, or has no locks; with `permission` if every user may write to it,
  /// or if the lock is a link or anything else that is no file of ours.
  static result<std::optional<state_lock>>
  try_take(const std::filesystem::path& folder, bool heir = false);

  /// The same; fails with `unavailable`, and says who has it, if somebody does.
  static result<state_lock> take(const std::filesystem::path& folder);

  /// Who holds the lock of a folder, for people: "process 12 on host a",
  /// in one line of printable text, whoever has written that.
  /// Somebody unknown if that has not been written yet.
  static std::string holder(const std::filesystem::path& folder);

  /// Fails with `superseded` if somebody else holds the lock by now, or the
  /// file is another one than was locked. What cannot be read says nothing.
  /// From any thread.
  result<void> check() const;

  /// Notes that the whole cluster ends, for those who wait for the lock. Fails
  /// as `check` does, and leaves what is another one's as it is. Not from
  /// several threads at once.
  result<void> mark_ended() const;

private:
  state_lock(std::filesystem::path path, unique_fd file)
    : path_(std::move(path)), file_(std::move(file)) {}
  result<void> sign();
  bool is_ours() const;
  result<void> write_note(bool ended) const;

  std::filesystem::path path_;
  unique_fd file_;
  std::string token_; ///< Drawn for this lock.
};

} // namespace graphmill
