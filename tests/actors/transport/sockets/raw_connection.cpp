#include "tests/actors/transport/sockets/raw_connection.hpp"

#include "actors/transport/sessions/address.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace graphmill::test {

raw_connection::raw_connection(const std::string& address)
  : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(value_of(parse_endpoint(address)).port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CATCH_REQUIRE(::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to))
                == 0);
  // A peer that has ended the connection without room for more data would be
  // found out by the system's probes alone, after up to two minutes.
  const timeval patience{1, 0};
  CATCH_REQUIRE(
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience))
    == 0);
}

raw_connection::~raw_connection() {
  ::close(socket_);
}

void raw_connection::write(std::span<const std::byte> bytes) {
  (void)::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

bool raw_connection::closed() {
  std::array<std::byte, 4096> ignored;
  for (;;) {
    const auto got =
      ::recv(socket_, ignored.data(), ignored.size(), MSG_DONTWAIT);
    if (got <= 0)
      return got == 0 || errno != EAGAIN;
  }
}

} // namespace graphmill::test
