#pragma once

#include "actors/http/server/http_server.hpp"
#include "actors/transport/sessions/address.hpp"
#include "partition/files/file_io.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

namespace graphmill::test {

/// A client that says what it likes. No wait is longer than half a minute.
class raw_client {
public:
  explicit raw_client(const http_server& server) {
    const auto where = value_of(parse_endpoint(server.address()));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(where.port);
    CATCH_REQUIRE(::inet_pton(AF_INET, where.host.c_str(), &to.sin_addr) == 1);
    socket_ = unique_fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const timeval patience{30, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience,
                 sizeof patience);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience,
                 sizeof patience);
    CATCH_REQUIRE(::connect(socket_.get(),
                            reinterpret_cast<const sockaddr*>(&to), sizeof to)
                  == 0);
  }

  /// What the server has closed takes no more: that is no failure.
  /// @returns whether all was taken.
  bool say(const std::string& text) {
    for (std::size_t sent = 0; sent < text.size();) {
      const auto more = ::send(socket_.get(), text.data() + sent,
                               text.size() - sent, MSG_NOSIGNAL);
      if (more <= 0)
        return false;
      sent += static_cast<std::size_t>(more);
    }
    return true;
  }

  /// Says nothing more.
  void finish() { ::shutdown(socket_.get(), SHUT_WR); }

  struct answer {
    unsigned status = 0; ///< 0: the connection has ended instead.
    std::string head;
    std::string body;
  };

  /// The next answer. @param has_body Not after HEAD.
  answer hear(bool has_body = true) {
    answer out;
    auto end = std::string::npos;
    while ((end = heard_.find("\r\n\r\n")) == std::string::npos)
      if (!receive())
        return {};
    out.head = heard_.substr(0, end + 2);
    heard_.erase(0, end + 4);
    out.status = static_cast<unsigned>(std::stoul(out.head.substr(9, 3)));
    const std::string label = "Content-Length: ";
    const auto at = out.head.find(label);
    CATCH_REQUIRE(at != std::string::npos);
    const auto size = std::stoul(out.head.substr(at + label.size()));
    while (has_body && heard_.size() < size)
      if (!receive())
        return {};
    out.body = heard_.substr(0, has_body ? size : 0);
    heard_.erase(0, out.body.size());
    return out;
  }

  answer ask(const std::string& text) {
    say(text);
    return hear();
  }

  /// All that comes up to a text, which is at its end.
  std::string hear_until(const std::string& text) {
    auto at = std::string::npos;
    while ((at = heard_.find(text)) == std::string::npos)
      CATCH_REQUIRE(receive());
    auto out = heard_.substr(0, at + text.size());
    heard_.erase(0, out.size());
    return out;
  }

  /// What comes until the server ends the connection.
  std::string hear_rest() {
    while (receive()) {
    }
    return std::exchange(heard_, {});
  }

  /// Whether the server ends the connection in order, and resets nothing.
  bool is_ended_in_order() { return is_ended() && errno_ == 0; }

  /// Whether the server ends the connection, having said nothing more.
  bool is_ended() { return heard_.empty() && !receive() && heard_.empty(); }

private:
  bool receive() {
    std::string more(1 << 16, '\0');
    const auto got = ::recv(socket_.get(), more.data(), more.size(), 0);
    errno_ = got < 0 ? errno : 0;
    CATCH_REQUIRE((got >= 0 || errno_ == ECONNRESET || errno_ == EPIPE));
    heard_.append(more, 0, got > 0 ? static_cast<std::size_t>(got) : 0);
    return got > 0;
  }

  unique_fd socket_;
  std::string heard_;
  int errno_ = 0; ///< Of the last attempt to receive.
};

} // namespace graphmill::test
