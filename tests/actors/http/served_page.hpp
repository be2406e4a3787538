#pragma once

#include "actors/http/server/http_server.hpp"
#include "tests/support/result.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace graphmill::test {

/// A request, as its text. @param more Lines of its head, each with its end.
inline std::string request_for(const std::string& target,
                               const std::string& more = {},
                               const std::string& method = "GET") {
  return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more
         + "\r\n";
}

/// Of a server at any port of loopback, with /page, which says hello.
inline http_server::options options_with_page() {
  http_server::options out;
  out.listen = "127.0.0.1:0";
  out.pages["/page"] = [](const http_request&) {
    return http_sentence(200, "hello");
  };
  return out;
}

inline std::unique_ptr<http_server> started(http_server::options with) {
  return value_of(http_server::start(std::move(with)));
}

/// Waits for what a server does by itself, for half a minute at the most.
inline bool comes_about(const std::function<bool()>& what) {
  for (int i = 0; i < 30'000; ++i) {
    if (what())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return false;
}

} // namespace graphmill::test
