#include "actors/transport/sockets/connections/local_socket.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

/// How often, and with which pauses, a daemon asks for the lock of the folder,
/// which others have while they make their sockets.
constexpr int lock_attempts = 100;
constexpr useconds_t lock_pause_us = 10000;

constexpr mode_t of_others = S_IRWXG | S_IRWXO;

result<struct stat> look_at_itself(const fs::path& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0)
    return fail_errno(errno, "cannot look at {}", path.string());
  return about;
}

/// Whether nobody but root and us could put something else in the place of what
/// is in a folder and is ours.
bool keeps_its_own(const struct stat& folder) {
  return (folder.st_uid == 0 || folder.st_uid == ::geteuid())
         && ((folder.st_mode & (S_IWGRP | S_IWOTH)) == 0
             || (folder.st_mode & S_ISVTX) != 0);
}

/// A path to the same place without links, of which nobody else can replace a
/// part.
result<fs::path> safe_way_to(const fs::path& folder) {
  std::error_code failed;
  auto way = fs::canonical(folder, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot find {}", folder.string());
  for (auto at = way;; at = at.parent_path()) {
    GRAPHMILL_TRY(const auto about, look_at_itself(at));
    if (!keeps_its_own(about))
      return fail(ec::permission, "other users may rename what is in {}",
                  at.string());
    if (at == at.root_path())
      return way;
  }
}

/// The same folder by a safe path.
result<fs::path> private_folder(const fs::path& folder) {
  GRAPHMILL_TRY(auto way, safe_way_to(folder.parent_path()));
  way /= folder.filename();
  GRAPHMILL_TRY(const auto about, look_at_itself(way));
  if (!S_ISDIR(about.st_mode))
    return fail(ec::permission, "{} is no folder", way.string());
  if (about.st_uid != ::geteuid())
    return fail(ec::permission,
                "{} belongs to the user with the number {}, not to this one",
                way.string(), about.st_uid);
  if ((about.st_mode & of_others) != 0)
    return fail(ec::permission, "others may enter {}: chmod 700 it",
                way.string());
  return way;
}

bool is_socket_name(const std::string& name) {
  return name.size() == 32
         && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::optional<sockaddr_un> socket_address(const std::string& path) {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  if (path.size() >= sizeof(out.sun_path))
    return std::nullopt;
  std::memcpy(out.sun_path, path.c_str(), path.size() + 1);
  return out;
}

/// Whether the system says that nobody listens there.
bool is_deserted(const std::string& path) {
  const auto address = socket_address(path);
  if (!address)
    return false;
  const auto probe =
    ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (probe < 0)
    return false;
  const auto refused =
    ::connect(probe, reinterpret_cast<const sockaddr*>(&*address),
              sizeof(*address))
      != 0
    && errno == ECONNREFUSED;
  ::close(probe);
  return refused;
}

/// The lock of a folder, as a descriptor; -1: others had it for too long, or
/// there are no locks in this file system.
int lock_of(const fs::path& folder) {
  const auto opened =
    ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; opened >= 0 && i < lock_attempts; ++i) {
    if (::flock(opened, LOCK_EX | LOCK_NB) == 0)
      return opened;
    if (errno != EWOULDBLOCK && errno != EINTR)
      break;
    ::usleep(lock_pause_us);
  }
  if (opened >= 0)
    ::close(opened);
  return -1;
}

/// What daemons leave that were ended without a chance to clear up. Only to be
/// called with the folder's lock: between the two calls that make a socket and
/// listen at it, nobody listens.
void remove_deserted(const fs::path& folder) {
  std::error_code failed;
  for (fs::directory_iterator at{folder, failed}, end; !failed && at != end;
       at.increment(failed)) {
    const auto path = at->path();
    const auto about = look_at_itself(path);
    if (is_socket_name(path.filename().string()) && about
        && S_ISSOCK(about.value().st_mode)
        && is_deserted(path.string()))
      ::unlink(path.c_str());
  }
}

} // namespace

fs::path local_folder() {
  const auto* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && fs::path{runtime}.is_absolute())
    return fs::path{runtime} / "graphmill";
  return fmt::format("/tmp/graphmill-{}", ::geteuid());
}

result<local_socket> local_socket::make(const fs::path& folder,
                                        const std::string& incarnation) {
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return fail_errno(errno, "cannot make the folder {}", folder.string());
  GRAPHMILL_TRY(const auto way, private_folder(folder));
  auto path = (way / incarnation).string();
  if (!socket_address(path))
    return fail(ec::invalid_argument,
                "the path {} is longer than a socket's may be", path);
  const auto lock = lock_of(way);
  if (lock >= 0)
    remove_deserted(way);
  return local_socket{std::move(path), lock};
}

local_socket::local_socket(local_socket&& from) noexcept
  : path_(std::exchange(from.path_, {})),
    lock_(std::exchange(from.lock_, -1)) {}

local_socket::~local_socket() {
  if (!path_.empty())
    ::unlink(path_.c_str());
  is_listened_at();
}

void local_socket::is_listened_at() {
  if (lock_ >= 0)
    ::close(std::exchange(lock_, -1));
}

std::optional<std::string> find_local_socket(const fs::path& folder,
                                             const std::string& incarnation) {
  const auto way = private_folder(folder);
  if (!way || !is_socket_name(incarnation))
    return std::nullopt;
  auto path = (way.value() / incarnation).string();
  const auto about = look_at_itself(path);
  if (!about || !S_ISSOCK(about.value().st_mode)
      || about.value().st_uid != ::geteuid() || !socket_address(path))
    return std::nullopt;
  return path;
}

} // namespace graphmill
