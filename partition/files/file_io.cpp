#include "partition/files/file_io.hpp"

#include "messages/words/number_text.hpp"
#include "partition/files/full_disk.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// Linux transfers less than 2 GiB per call.
constexpr std::size_t largest_transfer = std::size_t{1} << 30;

result<struct stat> look_at(int fd, const fs::path& path) {
  struct stat about {};
  if (::fstat(fd, &about) != 0)
    return fail_errno(errno, "cannot read {}", path.string());
  return about;
}

error no_file(const fs::path& path) {
  return fail(ec::invalid_data,
              "{} is not a file, but a pipe, device or socket: put the file "
              "back that belongs there",
              path.string());
}

/// Of what was opened without waiting: whether it is a file or folder at all,
/// and that reading it waits as usual. Nobody but root makes devices, of which
/// some may be written to.
result<void> expect_file(int fd, const fs::path& path, bool writes) {
  GRAPHMILL_TRY(const auto about, look_at(fd, path));
  if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)
      && !(writes && S_ISCHR(about.st_mode)))
    return no_file(path);
  const auto flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0)
    return fail_errno(errno, "cannot open {}", path.string());
  return ok();
}

error not_ours(const fs::path& path, std::string_view what,
               std::string_view wanted = "file") {
  return fail(ec::permission,
              "{} is {}, and not a {} of ours: look who has put it there, "
              "and remove it",
              path.string(), what, wanted);
}

/// Else what is written here would be written there, too.
result<void> expect_one_name(int fd, const fs::path& path) {
  GRAPHMILL_TRY(const auto about, look_at(fd, path));
  if (S_ISREG(about.st_mode) && about.st_nlink > 1)
    return not_ours(path, "a file with a second name elsewhere");
  return ok();
}

/// Opening a pipe would wait for its other end, which may never come.
/// @returns no descriptor if it fails; errno tells why.
unique_fd open_at_once(const fs::path& path, int flags, mode_t mode) {
  for (;;) {
    unique_fd fd{::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode)};
    if (fd.get() >= 0 || errno != EINTR)
      return fd;
  }
}

} // namespace

void unique_fd::reset() {
  if (fd_ >= 0)
    ::close(std::exchange(fd_, -1));
}

result<unique_fd> open_file(const fs::path& path, int flags,
                            file_access access) {
  const auto writes = (flags & O_ACCMODE) != O_RDONLY;
  if (writes)
    flags |= O_NOFOLLOW;
  auto fd =
    open_at_once(path, flags, access == file_access::owner ? 0600 : 0666);
  if (fd.get() < 0 && errno == ELOOP && (flags & O_NOFOLLOW) != 0)
    return not_ours(path, "a link");
  if (fd.get() < 0 && errno == ENXIO)
    return no_file(path);
  if (fd.get() < 0)
    return fail_errno(errno, "cannot open {}", path.string());
  GRAPHMILL_TRYV(expect_file(fd.get(), path, writes));
  if (writes && access == file_access::owner)
    GRAPHMILL_TRYV(expect_one_name(fd.get(), path));
  return fd;
}

namespace {

result<void> expect_own_file(int fd, const fs::path& path) {
  GRAPHMILL_TRY(const auto about, look_at(fd, path));
  if (S_ISDIR(about.st_mode))
    return not_ours(path, "a folder");
  if (!S_ISREG(about.st_mode))
    return not_ours(path, "a pipe, device or socket");
  if (about.st_uid != ::geteuid())
    return fail(ec::permission,
                "{} belongs to the user with the number {}, not to this one",
                path.string(), about.st_uid);
  return expect_one_name(fd, path);
}

} // namespace

result<unique_fd> open_own_file(const fs::path& path, int flags) {
  auto fd = open_at_once(path, flags | O_NOFOLLOW, 0600);
  if (fd.get() >= 0) {
    GRAPHMILL_TRYV(expect_own_file(fd.get(), path));
    return fd;
  }
  if (errno == ELOOP)
    return not_ours(path, "a link");
  if (errno == EISDIR)
    return not_ours(path, "a folder");
  if (errno == ENXIO)
    return not_ours(path, "a pipe, device or socket");
  return fail_errno(errno, "cannot open {}", path.string());
}

result<std::size_t> file_size(int fd, const fs::path& path) {
  GRAPHMILL_TRY(const auto about, look_at(fd, path));
  if (!S_ISREG(about.st_mode))
    return fail(ec::invalid_data, "{} is not a file", path.string());
  return static_cast<std::size_t>(about.st_size);
}

namespace {

/// @param offset None: the position of the file, which moves on.
result<void> write_from(int fd, std::span<const std::byte> bytes,
                        std::optional<std::uint64_t> offset,
                        const fs::path& path) {
  GRAPHMILL_TRYV(room_for(path));
  for (std::size_t done = 0; done < bytes.size();) {
    const auto* from = bytes.data() + done;
    const auto size = std::min(bytes.size() - done, largest_transfer);
    const auto n =
      offset ? ::pwrite(fd, from, size, static_cast<off_t>(*offset + done))
             : ::write(fd, from, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail_errno(errno, "cannot write {}", path.string());
    done += static_cast<std::size_t>(n);
  }
  return ok();
}

/// @param offset None: the position of the file, which moves on.
result<std::size_t> read_from(int fd, std::span<std::byte> bytes,
                              std::optional<std::uint64_t> offset,
                              const fs::path& path) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    auto* to = bytes.data() + done;
    const auto size = std::min(bytes.size() - done, largest_transfer);
    const auto n = offset
                     ? ::pread(fd, to, size, static_cast<off_t>(*offset + done))
                     : ::read(fd, to, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail_errno(errno, "cannot read {}", path.string());
    if (n == 0)
      break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

} // namespace

result<void> write_all(int fd, std::span<const std::byte> bytes,
                       const fs::path& path) {
  return write_from(fd, bytes, std::nullopt, path);
}

result<void> write_at(int fd, std::span<const std::byte> bytes,
                      std::uint64_t offset, const fs::path& path) {
  return write_from(fd, bytes, offset, path);
}

result<std::size_t> read_some(int fd, std::span<std::byte> bytes,
                              const fs::path& path) {
  return read_from(fd, bytes, std::nullopt, path);
}

result<void> read_at(int fd, std::span<std::byte> bytes, std::uint64_t offset,
                     const fs::path& path) {
  GRAPHMILL_TRY(const auto got, read_from(fd, bytes, offset, path));
  if (got < bytes.size())
    return fail(ec::invalid_data,
                "{} is too short: {} bytes are expected from byte {} on, and "
                "{} are there",
                path.string(), bytes.size(), offset, got);
  return ok();
}

result<std::string> read_text(const fs::path& path, std::size_t limit) {
  GRAPHMILL_TRY(auto file, open_file(path, O_RDONLY));
  GRAPHMILL_TRY(const auto size, file_size(file.get(), path));
  if (size > limit)
    return fail(ec::invalid_data, "{} has {} bytes; at most {} are expected",
                path.string(), size, limit);
  std::string text(size, '\0');
  GRAPHMILL_TRY(
    const auto got,
    read_some(file.get(), std::as_writable_bytes(std::span{text}), path));
  text.resize(got);
  return text;
}

result<void> write_text(const fs::path& path, std::string_view text) {
  GRAPHMILL_TRY(auto file, open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
  return write_all(file.get(), std::as_bytes(std::span{text}), path);
}

result<void> sync_file(int fd, const fs::path& path) {
  // Some file systems cannot sync a folder and say EINVAL.
  if (::fsync(fd) != 0 && errno != EINVAL)
    return fail_errno(errno, "cannot write {} to disk", path.string());
  return ok();
}

result<void> sync_folder(const fs::path& folder) {
  const auto path = folder.empty() ? fs::path{"."} : folder;
  GRAPHMILL_TRY(auto fd, open_file(path, O_RDONLY | O_DIRECTORY));
  return sync_file(fd.get(), path);
}

namespace {

template <class Visit>
result<void> for_each_entry(const fs::path& folder, Visit visit) {
  std::error_code failed;
  fs::recursive_directory_iterator entry{folder, failed};
  for (; !failed && entry != fs::recursive_directory_iterator{};
       entry.increment(failed)) {
    const auto kind = entry->symlink_status(failed);
    if (failed)
      break;
    if (!fs::is_regular_file(kind) && !fs::is_directory(kind))
      continue;
    GRAPHMILL_TRY(auto file, open_file(entry->path(), O_RDONLY));
    GRAPHMILL_TRYV(visit(file.get(), entry->path()));
  }
  if (failed)
    return fail_errno(failed.value(), "cannot list {}", folder.string());
  return ok();
}

} // namespace

result<void> sync_tree(const fs::path& folder, const std::atomic<bool>* stop) {
  const auto check = [&folder, stop]() -> result<void> {
    if (stop != nullptr && stop->load(std::memory_order_relaxed))
      return fail(ec::cancelled,
                  "stopped on request while {} was being written to disk",
                  folder.string());
    return ok();
  };
  // Writing is started for all files before the first one is waited for, so
  // that the file system can commit them together.
  GRAPHMILL_TRYV(
    for_each_entry(folder, [&check](int fd, const fs::path&) -> result<void> {
      ::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); // a mere hint
      return check();
    }));
  GRAPHMILL_TRYV(for_each_entry(
    folder, [&check](int fd, const fs::path& path) -> result<void> {
      GRAPHMILL_TRYV(check());
      return sync_file(fd, path);
    }));
  return sync_folder(folder);
}

namespace {

/// The process that made a scratch file, by its name; 0: it is none.
pid_t maker_of(std::string_view name) {
  constexpr std::string_view end = ".tmp";
  if (!name.starts_with('.') || !name.ends_with(end))
    return 0;
  name.remove_suffix(end.size());
  const auto dot = name.rfind('.');
  if (dot < 2) // Nothing would be left of the target's name.
    return 0;
  return std::max(number_from<pid_t>(name.substr(dot + 1)).value_or(0), 0);
}

bool has_gone(pid_t process) {
  return process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH);
}

} // namespace

void remove_left_scratch_files(const fs::path& folder) {
  std::error_code failed;
  if (!fs::is_directory(fs::symlink_status(folder, failed)))
    return;
  for (fs::directory_iterator at{folder, failed}, end; !failed && at != end;
       at.increment(failed)) {
    const auto maker = maker_of(at->path().filename().string());
    std::error_code unknown;
    if (maker != 0 && fs::is_regular_file(at->symlink_status(unknown))
        && has_gone(maker))
      ::unlink(at->path().c_str());
  }
}

result<scratch_file> scratch_file::create(const fs::path& target,
                                          file_access access) {
  std::error_code failed;
  if (fs::is_directory(target, failed))
    return fail(ec::invalid_argument, "{} is a folder; give the name of a file",
                target.string());
  scratch_file out;
  out.target_ = target;
  const auto path =
    target.parent_path()
    / fmt::format(".{}.{}.tmp", target.filename().string(), ::getpid());
  // Another process of that number may have left one. Whoever can write to the
  // folder may have laid anything there, so nothing that is there is opened.
  ::unlink(path.c_str());
  auto file = open_file(path, O_WRONLY | O_CREAT | O_EXCL, access);
  if (!file)
    return fail(file.error().code, "cannot write {}: {}", target.string(),
                file.error().message);
  out.file_ = std::move(file).value();
  out.path_ = path;
  return out;
}

scratch_file::~scratch_file() {
  if (!path_.empty())
    ::unlink(path_.c_str());
}

result<void> scratch_file::commit() {
  GRAPHMILL_TRYV(sync_file(file_.get(), target_));
  if (::rename(path_.c_str(), target_.c_str()) != 0)
    return fail_errno(errno, "cannot write {}", target_.string());
  path_.clear();
  file_.reset();
  return sync_folder(target_.parent_path());
}

result<void> make_folders(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot make the folder {}",
                      folder.string());
  return ok();
}

result<void> make_private_folder(const fs::path& folder) {
  // A name that ends with a slash has the folder as its own parent.
  const auto path = folder.has_filename() ? folder : folder.parent_path();
  if (path.has_parent_path())
    GRAPHMILL_TRYV(make_folders(path.parent_path()));
  if (::mkdir(path.c_str(), S_IRWXU) == 0)
    return ok();
  const auto reason = errno;
  std::error_code failed;
  if (fs::is_directory(path, failed))
    return ok();
  return fail_errno(reason, "cannot make the folder {}", folder.string());
}

result<void> make_inner_folder(const fs::path& folder) {
  auto made = make_private_folder(folder);
  std::error_code unknown;
  if (fs::is_symlink(fs::symlink_status(folder, unknown)))
    return not_ours(folder, "a link", "folder");
  return made;
}

} // namespace graphmill
