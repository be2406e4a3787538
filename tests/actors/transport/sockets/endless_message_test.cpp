#include "tests/actors/transport/network.hpp"
#include "tests/actors/transport/sockets/raw_connection.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

/// What a connection of ZMTP 3.0 begins with (rfc.zeromq.org/spec/23), up to
/// where messages may follow.
std::vector<std::byte> zmtp_greeting(const std::string& socket_type) {
  std::string text(64, '\0');
  text[0] = '\xff';
  text[9] = '\x7f';
  text[10] = 3;
  text.replace(12, 4, "NULL");
  using namespace std::string_literals;
  const auto ready = "\5READY\13Socket-Type\0\0\0"s
                     + static_cast<char>(socket_type.size()) + socket_type;
  text += "\4"s + static_cast<char>(ready.size()) + ready;
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

/// A frame of the largest size, after which more are to come.
std::vector<std::byte> long_frame() {
  std::vector<std::byte> out(9 + max_frame_bytes);
  out[0] = std::byte{3}; // More is to come, and it is a long frame.
  out[6] = std::byte{max_frame_bytes >> 16};
  return out;
}

/// A port that sends frames without end to whoever connects.
class endless_server {
public:
  endless_server() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    auto* address = reinterpret_cast<sockaddr*>(&at);
    socklen_t size = sizeof(at);
    CATCH_REQUIRE(::bind(socket_, address, size) == 0);
    CATCH_REQUIRE(::listen(socket_, 8) == 0);
    CATCH_REQUIRE(::getsockname(socket_, address, &size) == 0);
    address_ = "tcp://127.0.0.1:" + std::to_string(::ntohs(at.sin_port));
  }
  ~endless_server() {
    ::shutdown(socket_, SHUT_RDWR);
    ::close(socket_);
  }
  endless_server(const endless_server&) = delete;
  endless_server& operator=(const endless_server&) = delete;

  const std::string& address() const { return address_; }

  /// Sends to the first that connects, until that ends the connection.
  /// @returns the bytes that it took.
  std::uint64_t feed() {
    const auto peer = ::accept(socket_, nullptr, nullptr);
    std::uint64_t sent = 0;
    const auto put = [&](const std::vector<std::byte>& bytes) {
      for (std::size_t done = 0; done < bytes.size();) {
        const auto now =
          ::send(peer, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (now <= 0)
          return false;
        done += static_cast<std::size_t>(now);
        sent += static_cast<std::uint64_t>(now);
      }
      return true;
    };
    const auto frame = long_frame();
    for (auto more = put(zmtp_greeting("ROUTER"));
         more && sent < std::uint64_t{8} << 30;)
      more = put(frame);
    ::close(peer);
    return sent;
  }

private:
  int socket_;
  std::string address_;
};

} // namespace

CATCH_TEST_CASE("a message without end costs its sender the connection",
                "[transport][hostile]") {
  collector<std::string> logged;
  auto options = echo_daemon("server");
  options.on_log = [&](const std::string& line) { logged.put(line); };
  const auto server = start(std::move(options));
  raw_connection attacker{server->self().address};
  attacker.write(zmtp_greeting("DEALER"));
  const auto frame = long_frame();
  for (int i = 0; i < 8000 && !attacker.closed(); ++i)
    attacker.write(frame);
  for (int i = 0; i < 60000 && !attacker.closed(); ++i)
    ::usleep(1000);
  CATCH_CHECK(attacker.closed());
  CATCH_CHECK(server->statistics().malformed == 1);
  const auto said = logged.wait(1);
  CATCH_REQUIRE(said.size() == 1);
  CATCH_CHECK(said[0].find("without end") != std::string::npos);
  const auto honest = start(client("honest"));
  CATCH_CHECK(ask(*honest, server->self().address, method::submit));
}

CATCH_TEST_CASE("an answer without end costs the caller no more memory",
                "[transport][hostile]") {
  endless_server server;
  const auto caller = start(client("caller"));
  std::uint64_t sent = 0;
  std::thread feeder{[&] { sent = server.feed(); }};
  call_options options;
  options.deadline = 60s;
  options.attempts = 1;
  caller->request(server.address(), method::status, {}, options,
                  [](const result<payload>&) {});
  feeder.join();
  CATCH_CHECK(sent > 0);
  CATCH_CHECK(sent < std::uint64_t{8} << 30);
}
