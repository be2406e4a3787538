#include "partition/writing/prepare.hpp"

#include "partition/files/file_io.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

/// Where things stand for one target.
struct places {
  fs::path target;
  fs::path parent;
  fs::path lock; ///< Only while somebody works or waits.

  /// Where this process builds. Each has its own, so that one that ends, and
  /// whose builder cannot be told, does not write into the next one's.
  fs::path partial;

  /// What `partial` is called while it is removed: the builder, if it is still
  /// on, cannot reach it any more.
  fs::path ended;
};

fs::path hidden_beside(const fs::path& target, const std::string& suffix) {
  return target.parent_path()
         / fmt::format(".{}.{}", target.filename().string(), suffix);
}

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
  return places{path, parent, hidden_beside(path, "lock"),
                hidden_beside(path, fmt::format("partial-{}", ::getpid())),
                hidden_beside(path, fmt::format("ended-{}", ::getpid()))};
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

bool is_at_path(int fd, const fs::path& path) {
  struct stat held {};
  struct stat there {};
  return ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &there) == 0
         && held.st_dev == there.st_dev && held.st_ino == there.st_ino;
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
    if (file_.get() >= 0 && is_at_path(file_.get(), path_))
      ::unlink(path_.c_str());
  }

private:
  fs::path path_;
  unique_fd file_;
};

/// @returns nothing if somebody else holds it.
result<std::optional<folder_lock>> try_lock(const fs::path& path) {
  GRAPHMILL_TRY(auto file, open_file(path, O_RDWR | O_CREAT));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR)
      return std::optional<folder_lock>{};
    return fail_errno(errno, "cannot lock {}", path.string());
  }
  if (!is_at_path(file.get(), path))
    return std::optional<folder_lock>{};
  return std::optional<folder_lock>{folder_lock{path, std::move(file)}};
}

result<void> remove_tree(const fs::path& path) {
  std::error_code failed;
  fs::remove_all(path, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot remove {}", path.string());
  return ok();
}

/// @returns whether `path` is one that some process builds in or removes.
bool is_temporary_of(const fs::path& target, const fs::path& path) {
  const auto name = path.filename().string();
  for (const auto* kind : {"partial-", "ended-"}) {
    const auto start = hidden_beside(target, kind).filename().string();
    if (name.size() > start.size() && name.starts_with(start)
        && name.find_first_not_of("0123456789", start.size()) == name.npos)
      return true;
  }
  return false;
}

/// Removes what killed processes left. Only the holder of the lock may do so:
/// without it, what looks left over may be what another process works on.
result<void> remove_leftovers(const places& at) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator entry{at.parent, failed}, end;
       !failed && entry != end; entry.increment(failed))
    if (is_temporary_of(at.target, entry->path()))
      found.push_back(entry->path());
  if (failed)
    return fail_errno(failed.value(), "cannot list {}", at.parent.string());
  for (const auto& path : found)
    GRAPHMILL_TRYV(remove_tree(path));
  return ok();
}

} // namespace

namespace {

/// Gives two folders each other's names at once.
result<void> swap_folders(const fs::path& one, const fs::path& other) {
  if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(),
                  RENAME_EXCHANGE)
      == 0)
    return ok();
  if (errno == EINVAL || errno == ENOSYS)
    return fail(ec::io,
                "the file system of {} cannot swap two folders at once: choose "
                "another folder, and rename it",
                other.string());
  return fail_errno(errno, "cannot put {} in the place of {}", one.string(),
                    other.string());
}

/// Gives a folder the mode of the one that it replaces, and its owner and group
/// where the system allows that.
result<void> take_rights(const fs::path& from, const fs::path& to) {
  struct stat about {};
  if (::stat(from.c_str(), &about) != 0)
    return fail_errno(errno, "cannot look at {}", from.string());
  // Before the mode, of which it may clear bits.
  if (::chown(to.c_str(), about.st_uid, about.st_gid) != 0) {
    [[maybe_unused]] const auto group_alone =
      ::chown(to.c_str(), static_cast<uid_t>(-1), about.st_gid);
  }
  if (::chmod(to.c_str(), about.st_mode & 07777) != 0)
    return fail_errno(errno, "cannot change the mode of {}", to.string());
  return ok();
}

/// The folder that a link leads to.
result<fs::path> behind_link(const fs::path& target) {
  std::error_code failed;
  if (!fs::is_symlink(fs::symlink_status(target, failed)))
    return target;
  auto real = fs::canonical(target, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot look at {}", target.string());
  return real;
}

} // namespace

/// What the thread that builds and the one that abandons share. All that
/// touches the lock and the folder's name is done under the mutex; only `build`
/// is not.
class folder_preparation::work {
public:
  work(fs::path target, present_folder present)
    : target_(std::move(target)),
      replaces_(present == present_folder::replace) {}

  result<bool> run(const folder_builder& build, const progress_callback& tell,
                   const std::atomic<bool>* stop) {
    GRAPHMILL_TRY(const auto target,
                  replaces_ ? behind_link(target_) : result<fs::path>{target_});
    GRAPHMILL_TRY(const auto at, places_of(target));
    GRAPHMILL_TRYV(look_for(at.target));
    if (complete_)
      return false;
    GRAPHMILL_TRYV(make_folders(at.parent));
    const cleaner on_return{*this};
    GRAPHMILL_TRY(const auto mine, wait_for_lock(at, tell, stop));
    if (!mine)
      return false;
    GRAPHMILL_TRY(const auto wanted, build(at.partial));
    if (!wanted)
      return false;
    GRAPHMILL_TRYV(sync_tree(at.partial, stop));
    GRAPHMILL_TRYV(put_in_place(at));
    GRAPHMILL_TRYV(sync_folder(at.parent));
    return true;
  }

  result<bool> abandon() {
    abandoned_ = true; // Before the wait: `run` is to begin nothing more.
    const std::lock_guard guard{mutex_};
    GRAPHMILL_TRYV(clean());
    return !complete_;
  }

private:
  /// Leaves nothing behind, whichever way `run` ends.
  struct cleaner {
    work& of;
    ~cleaner() {
      const std::lock_guard guard{of.mutex_};
      (void)of.clean();
    }
  };

  result<void> look_for(const fs::path& target) {
    const std::lock_guard guard{mutex_};
    GRAPHMILL_TRY(const auto there, is_there(target));
    complete_ = there && !replaces_;
    return ok();
  }

  /// Waits, telling so, for the lock or for the target to be there. Each wait
  /// is short; there are as many as the holder lives.
  /// @returns false when the target is there, else the folder is made.
  result<bool> wait_for_lock(const places& at, const progress_callback& tell,
                             const std::atomic<bool>* stop) {
    auto pause = 5ms;
    for (std::uint64_t waited = 0;; waited += 1) {
      GRAPHMILL_TRY(const auto mine, try_begin(at));
      if (mine || complete_)
        return mine;
      if (stop != nullptr && stop->load(std::memory_order_relaxed))
        return fail(ec::cancelled,
                    "stopped on request while another process prepares {}",
                    at.target.string());
      if (tell && waited % 4 == 3)
        tell({.phase = "wait for another process"});
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, 250ms);
    }
  }

  /// Takes the lock and makes the folder, unless the target is there.
  result<bool> try_begin(const places& at) {
    const std::lock_guard guard{mutex_};
    GRAPHMILL_TRYV(check_wanted());
    GRAPHMILL_TRY(auto lock, try_lock(at.lock));
    GRAPHMILL_TRY(const auto there, is_there(at.target));
    complete_ = there && !replaces_;
    if (!lock || complete_)
      return false;
    begun_.emplace(begun{at, std::move(*lock)});
    GRAPHMILL_TRYV(remove_leftovers(at));
    GRAPHMILL_TRYV(check_wanted());
    // What stands in for a private folder is private from the start.
    if (::mkdir(at.partial.c_str(), there ? 0700 : 0777) != 0)
      return fail_errno(errno, "cannot make the folder {}",
                        at.partial.string());
    return true;
  }

  result<void> put_in_place(const places& at) {
    const std::lock_guard guard{mutex_};
    GRAPHMILL_TRYV(check_wanted());
    GRAPHMILL_TRY(const auto there, is_there(at.target));
    if (there && replaces_) {
      GRAPHMILL_TRYV(take_rights(at.target, at.partial));
      // What `clean` removes is the old folder from here on.
      GRAPHMILL_TRYV(swap_folders(at.partial, at.target));
    } else if (::rename(at.partial.c_str(), at.target.c_str()) != 0) {
      return fail_errno(errno, "cannot rename {} to {}", at.partial.string(),
                        at.target.string());
    }
    complete_ = true;
    return ok();
  }

  result<void> check_wanted() const {
    if (abandoned_)
      return fail(ec::cancelled, "the preparation of {} was abandoned",
                  target_.string());
    return ok();
  }

  /// Removes the folder, then lets go of the lock; the second time there is
  /// neither.
  result<void> clean() {
    const auto mine = std::exchange(begun_, std::nullopt);
    if (!mine)
      return ok();
    const auto& at = mine->at;
    if (::rename(at.partial.c_str(), at.ended.c_str()) == 0)
      return remove_tree(at.ended);
    if (errno != ENOENT)
      return fail_errno(errno, "cannot remove {}", at.partial.string());
    return ok();
  }

  struct begun {
    places at;
    folder_lock lock;
  };

  const fs::path target_;
  const bool replaces_;
  std::mutex mutex_;
  std::optional<begun> begun_; ///< While the lock is held.
  std::atomic<bool> abandoned_{false};
  /// The target is there, and to stay; written by `run` alone.
  bool complete_ = false;
};

folder_preparation::folder_preparation(fs::path target, present_folder present)
  : work_(std::make_unique<work>(std::move(target), present)) {}

folder_preparation::~folder_preparation() = default;

result<bool> folder_preparation::run(const folder_builder& build,
                                     const progress_callback& on_progress,
                                     const std::atomic<bool>* stop) {
  return work_->run(build, on_progress, stop);
}

result<bool> folder_preparation::abandon() {
  return work_->abandon();
}

result<bool> prepare_folder(const fs::path& target, const folder_builder& build,
                            const progress_callback& on_progress,
                            const std::atomic<bool>* stop) {
  return folder_preparation{target}.run(build, on_progress, stop);
}

} // namespace graphmill
