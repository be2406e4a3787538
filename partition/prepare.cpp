#include "partition/prepare.hpp"

#include "partition/file_io.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <system_error>
#include <thread>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

/// Where things stand for one target.
struct places {
  fs::path target;
  fs::path parent;
  fs::path lock;    ///< Only while somebody works or waits.
  fs::path partial; ///< Only its lock's holder touches it.
};

result<places> places_of(const fs::path& target) {
  auto path = target.lexically_normal();
  if (!path.has_filename())
    path = path.parent_path();
  const auto name = path.filename();
  if (name.empty() || name == "." || name == "..")
    return fail(ec::invalid_argument, "\"{}\" cannot name a new folder",
                target.string());
  const auto parent =
    path.has_parent_path() ? path.parent_path() : fs::path{"."};
  return places{path, parent, parent / fmt::format(".{}.lock", name.string()),
                parent / fmt::format(".{}.partial", name.string())};
}

/// @returns whether there is something in the folder already. An empty folder
/// counts as none: rename(2) replaces it.
result<bool> is_there(const fs::path& target) {
  std::error_code failed;
  const auto status = fs::status(target, failed);
  if (status.type() == fs::file_type::not_found)
    return false;
  if (failed)
    return fail_errno(failed.value(), "cannot look at {}", target.string());
  if (status.type() != fs::file_type::directory)
    return fail(ec::invalid_argument, "{} is there already and is not a folder",
                target.string());
  const auto empty = fs::is_empty(target, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot look at {}", target.string());
  return !empty;
}

/// The lock file, held exclusively; removed when this goes. A lock of flock(2)
/// belongs to the open file, so threads exclude each other, too, and the kernel
/// lets go of it when its process dies.
class folder_lock {
public:
  folder_lock(fs::path path, unique_fd file)
    : path_(std::move(path)), file_(std::move(file)) {}
  folder_lock(folder_lock&&) = default;
  ~folder_lock() {
    // Removed while still held: whoever gets the lock next sees that its file
    // is no longer the one at the path, and opens a new one.
    if (file_.get() >= 0)
      ::unlink(path_.c_str());
  }

private:
  fs::path path_;
  unique_fd file_;
};

bool is_at_path(int fd, const fs::path& path) {
  struct stat held {};
  struct stat there {};
  return ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &there) == 0
         && held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

/// @returns nothing if somebody else holds it.
result<std::optional<folder_lock>> try_lock(const fs::path& path) {
  TRY(auto file, open_file(path, O_RDWR | O_CREAT));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR)
      return std::optional<folder_lock>{};
    return fail_errno(errno, "cannot lock {}", path.string());
  }
  if (!is_at_path(file.get(), path))
    return std::optional<folder_lock>{};
  return std::optional<folder_lock>{folder_lock{path, std::move(file)}};
}

/// Waits, telling so, for the lock or for the target to be there. Each wait is
/// short; there are as many as the holder lives.
/// @returns nothing when the target is there.
result<std::optional<folder_lock>>
wait_for_lock(const places& at, const progress_callback& tell) {
  auto pause = 5ms;
  for (std::uint64_t waited = 0;; waited += 1) {
    TRY(auto lock, try_lock(at.lock));
    TRY(const auto there, is_there(at.target));
    if (there)
      return std::optional<folder_lock>{};
    if (lock)
      return lock;
    if (tell && waited % 4 == 3)
      tell({.phase = "wait for another process"});
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, 250ms);
  }
}

/// A folder that is removed unless it was released.
class partial_folder {
public:
  static result<partial_folder> create(const fs::path& path) {
    TRYV(remove(path)); // of a process that was killed
    if (::mkdir(path.c_str(), 0777) != 0)
      return fail_errno(errno, "cannot make the folder {}", path.string());
    return partial_folder{path};
  }
  partial_folder(partial_folder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}
  ~partial_folder() {
    if (!path_.empty())
      (void)remove(path_);
  }
  void release() { path_.clear(); }

private:
  explicit partial_folder(fs::path path) : path_(std::move(path)) {}

  static result<void> remove(const fs::path& path) {
    std::error_code failed;
    fs::remove_all(path, failed);
    if (failed)
      return fail_errno(failed.value(), "cannot remove {}", path.string());
    return ok();
  }

  fs::path path_;
};

} // namespace

result<bool>
prepare_folder(const fs::path& target,
               const std::function<result<void>(const fs::path&)>& build,
               const progress_callback& on_progress) {
  TRY(const auto at, places_of(target));
  TRY(const auto before, is_there(at.target));
  if (before)
    return false;
  TRYV(make_folders(at.parent));
  TRY(const auto lock, wait_for_lock(at, on_progress));
  if (!lock)
    return false;
  TRY(auto partial, partial_folder::create(at.partial));
  TRYV(build(at.partial));
  TRYV(sync_tree(at.partial));
  if (::rename(at.partial.c_str(), at.target.c_str()) != 0)
    return fail_errno(errno, "cannot rename {} to {}", at.partial.string(),
                      at.target.string());
  partial.release();
  TRYV(sync_folder(at.parent));
  return true;
}

void abandon_folder(const fs::path& target) {
  const auto at = places_of(target);
  if (!at)
    return;
  // Files may still be added while others are removed.
  constexpr int most_turns = 100;
  std::error_code failed;
  for (int turn = 0; turn < most_turns; ++turn) {
    fs::remove_all(at.value().partial, failed);
    if (!failed && !fs::exists(at.value().partial, failed))
      break;
  }
  ::unlink(at.value().lock.c_str());
}

} // namespace graphmill
