#pragma once

#include "messages/base/error.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace graphmill {

/// Where the daemons of this process's user have their local sockets: the
/// folder graphmill in $XDG_RUNTIME_DIR, else /tmp/graphmill-UID.
std::filesystem::path local_folder();

/// The name of a local socket: a file in a folder that its owner alone may
/// enter, which is what keeps others out. libzmq makes the socket. Until it is
/// listened at, the folder is locked, so that no other daemon takes it for one
/// whose process has gone.
class local_socket {
public:
  /// Makes the folder if it is missing, locks it, and removes sockets in it
  /// whose processes have gone; who waits for the lock for a second goes on
  /// without, and removes none. Fails if others could get into the folder, or
  /// put another one in its place.
  /// @param incarnation Of this process: names the file.
  static result<local_socket> make(const std::filesystem::path& folder,
                                   const std::string& incarnation);

  /// Removes the file, if there is one by now.
  ~local_socket();
  local_socket(local_socket&& from) noexcept;
  local_socket& operator=(local_socket&&) = delete;

  /// To be called once somebody listens at the socket.
  void is_listened_at();

  const std::string& path() const { return path_; }

private:
  local_socket(std::string path, int lock)
    : path_(std::move(path)), lock_(lock) {}

  std::string path_; ///< Without links in it. Empty: moved from.
  int lock_ = -1;    ///< A descriptor of the folder; -1: not locked.
};

/// The local socket of the daemon with this incarnation. Nothing if there is
/// none, or one that might be somebody else's.
std::optional<std::string>
find_local_socket(const std::filesystem::path& folder,
                  const std::string& incarnation);

/// How libzmq is told of a socket at a path.
inline std::string local_address(const std::string& path) {
  return "ipc://" + path;
}

} // namespace graphmill
