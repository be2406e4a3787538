#include "actors/transport/sockets/connections/port_probe.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

namespace graphmill {

port_probe::port_probe(const endpoint& where) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* first = nullptr;
  if (getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(),
                  &hints, &first)
      != 0)
    return;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> found{first,
                                                                 &freeaddrinfo};
  socket_ =
    ::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0)
    return;
  const auto code =
    ::connect(socket_, found->ai_addr, found->ai_addrlen) == 0 ? 0 : errno;
  if (code == EINPROGRESS)
    return;
  refused_ = code == ECONNREFUSED;
  ::close(std::exchange(socket_, -1));
}

port_probe::~port_probe() {
  if (socket_ >= 0)
    ::close(socket_);
}

std::optional<bool> port_probe::refused() {
  if (socket_ < 0)
    return refused_;
  pollfd ready{socket_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) == 0)
    return std::nullopt;
  int code = 0;
  socklen_t size = sizeof(code);
  refused_ = ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &code, &size) == 0
             && code == ECONNREFUSED;
  ::close(std::exchange(socket_, -1));
  return refused_;
}

} // namespace graphmill
