#include "actors/transport/sockets/connections/handshake_view.hpp"

#include "actors/transport/sockets/connections/wire_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace graphmill {

namespace {

/// What every peer sends first (rfc.zeromq.org/spec/23): a signature, with
/// which its greeting begins, and the whole of that.
constexpr std::uint64_t signature_bytes = 10;
constexpr std::uint64_t greeting_bytes = 64;

/// What a CURVE server sends after that to whoever knows its key
/// (rfc.zeromq.org/spec/26): the command WELCOME, in a frame.
constexpr std::uint64_t welcome_bytes = 2 + 168;

} // namespace

void handshake_view::open(int descriptor, std::uint16_t port) {
  close();
  if (!other_end(descriptor, port))
    return;
  copy_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy_ >= 0 && !other_end(copy_, port))
    close();
}

void handshake_view::close() {
  if (copy_ >= 0)
    ::close(std::exchange(copy_, -1));
}

bool handshake_view::refused() const {
  if (copy_ < 0)
    return false;
  const auto bytes = bytes_received(copy_);
  return bytes >= signature_bytes && bytes < greeting_bytes + welcome_bytes;
}

} // namespace graphmill
