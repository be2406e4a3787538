#include "actors/http/server/http_gate.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>

using namespace graphmill;
using namespace graphmill::test;

namespace {

const std::string gate_token = "0123456789abcdef";

http_head gate_asks() {
  http_head out;
  out.method = "GET";
  out.host = "localhost:7880";
  return out;
}

http_head gate_shows(const std::string& authorization) {
  auto out = gate_asks();
  out.authorization = authorization;
  return out;
}

/// 200 where nothing is refused.
unsigned gate_status(http_gate& gate, const http_head& head,
                     const std::string& from = "127.0.0.1",
                     session_time now = {}) {
  const auto refusal = gate.refuses(head, from, now);
  return refusal ? refusal->status : 200;
}

std::filesystem::path token_file(const temp_folder& folder,
                                 const std::string& text, unsigned mode) {
  const auto path = folder / "token";
  std::filesystem::remove(path);
  std::ofstream{path} << text;
  std::filesystem::permissions(path, std::filesystem::perms{mode});
  return path;
}

} // namespace

CATCH_TEST_CASE("a Host header names this machine or another one",
                "[http_gate]") {
  for (const auto* own : {"localhost", "LocalHost:80", "127.0.0.1",
                          "127.0.0.1:7880", "127.8.9.10:1", "[::1]",
                          "[::1]:7880", "watch.example:7880", "Watch.Example"})
    CATCH_CHECK(is_own_host(own, "watch.example"));
  for (const auto* other :
       {"", ":7880", "example.org", "localhost.example.org",
        "127.example.org:7880", "127.0.0.1.example.org", "10.0.0.1",
        "[::2]:7880", "[::1", "[::1]x", "localhost:78x", "localhost:123456",
        "localhost:1:2", "local host", "a@localhost", "[localhost]",
        "watch.example."})
    CATCH_CHECK_FALSE(is_own_host(other, "watch.example"));
}

CATCH_TEST_CASE("a gate without a token", "[http_gate]") {
  http_gate gate{"127.0.0.1", false, {}};
  CATCH_CHECK(gate_status(gate, gate_asks()) == 200);
  auto head = gate_asks();
  head.method = "HEAD";
  CATCH_CHECK(gate_status(gate, head) == 200);
  for (const auto* method : {"POST", "PUT", "OPTIONS", "CONNECT", "get", ""}) {
    head.method = method;
    CATCH_CHECK(gate_status(gate, head) == 405);
  }
  head = gate_asks();
  head.has_body = true;
  CATCH_CHECK(gate_status(gate, head) == 413);
  head = gate_asks();
  head.host.reset();
  CATCH_CHECK(gate_status(gate, head) == 400);
  head.host = "";
  CATCH_CHECK(gate_status(gate, head) == 400);
  head.host = "rebound.example.org";
  CATCH_CHECK(gate_status(gate, head) == 421);
  http_gate open{"0.0.0.0", true, gate_token};
  head.authorization = "Bearer " + gate_token;
  CATCH_CHECK(gate_status(open, head) == 200);
}

CATCH_TEST_CASE("a token is shown", "[http_gate]") {
  http_gate gate{"127.0.0.1", false, gate_token};
  CATCH_CHECK(gate_status(gate, gate_asks()) == 401);
  CATCH_CHECK(gate_status(gate, gate_shows("Bearer " + gate_token)) == 200);
  CATCH_CHECK(gate_status(gate, gate_shows("bearer " + gate_token)) == 200);
  // "any:0123456789abcdef", as browsers send name and password.
  CATCH_CHECK(
    gate_status(gate, gate_shows("Basic YW55OjAxMjM0NTY3ODlhYmNkZWY=")) == 200);
  // It is sent by itself, for what pages of others contain, too.
  auto by_itself = gate_shows("Basic YW55OjAxMjM0NTY3ODlhYmNkZWY=");
  by_itself.fetch_site = "cross-site";
  by_itself.fetch_mode = "no-cors";
  CATCH_CHECK(gate_status(gate, by_itself) == 403);
  by_itself.fetch_mode = "navigate"; // A link.
  CATCH_CHECK(gate_status(gate, by_itself) == 200);
  by_itself.fetch_site = "same-origin";
  by_itself.fetch_mode = "cors";
  CATCH_CHECK(gate_status(gate, by_itself) == 200);
  for (const auto* wrong :
       {"", "Bearer", "Basic 0123456789abcdef", "Bearer 0123456789abcdeg",
        "Bearer ", "Basic ", "Basic MDEyMzQ1Njc4OWFiY2RlZg==",
        "Basic YW55OjAxMjM0NTY3ODlhYmNkZWc=", "Basic YW55OjAxMjM0NTY3ODlhYmNk",
        "Basic YW55OjAxMjM0NTY3ODlhYmNkZWY=="}) {
    http_gate another{"127.0.0.1", false, gate_token};
    CATCH_CHECK(gate_status(another, gate_shows(wrong)) == 401);
  }
}

CATCH_TEST_CASE("wrong tokens are counted, and keep out no right one",
                "[http_gate]") {
  http_gate gate{"127.0.0.1", true, gate_token};
  const session_time start{std::chrono::hours{1}};
  const auto wrong = gate_shows("Bearer 0123456789abcdeX");
  const auto right = gate_shows("Bearer " + gate_token);
  for (int i = 0; i < static_cast<int>(http_gate::wrong_at_once); ++i)
    CATCH_CHECK(gate_status(gate, wrong, "10.0.0.1", start) == 401);
  CATCH_CHECK(gate_status(gate, wrong, "10.0.0.1", start) == 429);
  CATCH_CHECK(gate_status(gate, right, "10.0.0.1", start) == 200);
  CATCH_CHECK(gate_status(gate, wrong, "10.0.0.1", start) == 429);
  CATCH_CHECK(gate_status(gate, wrong, "10.0.0.2", start) == 401);
  // One more in five seconds.
  const auto later = start + std::chrono::seconds{6};
  CATCH_CHECK(gate_status(gate, wrong, "10.0.0.1", later) == 401);
  CATCH_CHECK(gate_status(gate, wrong, "10.0.0.1", later) == 429);
}

CATCH_TEST_CASE("hosts with wrong tokens are remembered, but not too many",
                "[http_gate]") {
  http_gate gate{"127.0.0.1", true, gate_token};
  const session_time start{std::chrono::hours{1}};
  const auto wrong = gate_shows("Bearer 0123456789abcdeX");
  const auto host = [](std::size_t i) {
    return "10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256);
  };
  for (std::size_t i = 0; i < http_gate::most_hosts; ++i)
    CATCH_CHECK(gate_status(gate, wrong, host(i), start) == 401);
  // Those that come now share a place.
  for (int i = 0; i < static_cast<int>(http_gate::wrong_at_once); ++i)
    CATCH_CHECK(gate_status(gate, wrong, host(300 + i), start) == 401);
  CATCH_CHECK(gate_status(gate, wrong, host(400), start) == 429);
  CATCH_CHECK(gate_status(gate, wrong, host(0), start) == 401);
  // A minute later all is forgiven.
  CATCH_CHECK(
    gate_status(gate, wrong, host(400), start + std::chrono::minutes{1})
    == 401);
}

CATCH_TEST_CASE("a page of somebody else asks", "[http_gate]") {
  const auto asks = [](const char* site, const char* origin) {
    auto head = gate_asks(); // localhost:7880
    if (site != nullptr)
      head.fetch_site = site;
    if (origin != nullptr)
      head.origin = origin;
    return is_cross_site(head);
  };
  CATCH_CHECK_FALSE(asks(nullptr, nullptr));
  CATCH_CHECK_FALSE(asks("same-origin", nullptr));
  CATCH_CHECK_FALSE(asks("none", nullptr));
  // Behind a proxy with another name.
  CATCH_CHECK_FALSE(asks("same-origin", "https://watch.example"));
  CATCH_CHECK_FALSE(asks(nullptr, "http://localhost:7880"));
  CATCH_CHECK_FALSE(asks(nullptr, "https://LOCALHOST:7880"));
  for (const auto* site : {"cross-site", "same-site", "", "Same-Origin"})
    CATCH_CHECK(asks(site, "http://localhost:7880"));
  for (const auto* origin :
       {"http://localhost:7881", "http://localhost", "http://evil.example",
        "http://evil.example/localhost:7880", "null", "", "localhost:7880"})
    CATCH_CHECK(asks(nullptr, origin));
}

CATCH_TEST_CASE("a gate for actions", "[http_gate]") {
  const std::string other = "fedcba9876543210";
  const session_time start{std::chrono::hours{1}};
  const auto status = [start](http_gate& gate, const http_head& head) {
    const auto refusal = gate.refuses_action(head, "127.0.0.1", start);
    return refusal ? refusal->status : 200;
  };
  auto head = gate_asks();
  head.method = "POST";
  head.action_token = gate_token;
  http_gate none{"127.0.0.1", false, other};
  CATCH_CHECK(status(none, head) == 403);
  head.action_token = "";
  CATCH_CHECK(status(none, head) == 403);
  http_gate gate{"127.0.0.1", false, {}, gate_token};
  CATCH_CHECK(gate_status(gate, head, "127.0.0.1", start) == 405);
  CATCH_CHECK(status(gate, head) == 401); // An empty one: one of five.
  head.action_token = gate_token;
  CATCH_CHECK(status(gate, head) == 200);
  auto changed = head;
  changed.host = "rebound.example.org";
  CATCH_CHECK(status(gate, changed) == 421);
  changed = head;
  changed.fetch_site = "cross-site";
  CATCH_CHECK(status(gate, changed) == 403);
  changed = head;
  changed.has_body = true;
  CATCH_CHECK(status(gate, changed) == 413);
  changed = head;
  changed.action_token.reset();
  changed.authorization = "Bearer " + gate_token;
  for (int i = 0; i < 10; ++i)
    CATCH_CHECK(status(gate, changed) == 401); // None is no wrong one.
  changed.action_token = other;
  for (int i = 1; i < static_cast<int>(http_gate::wrong_at_once); ++i)
    CATCH_CHECK(status(gate, changed) == 401);
  CATCH_CHECK(status(gate, changed) == 429);
  CATCH_CHECK(status(gate, head) == 200);
}

CATCH_TEST_CASE("a file with a token", "[http_gate]") {
  const temp_folder folder;
  CATCH_CHECK(value_of(read_http_token(token_file(folder, gate_token, 0600)))
              == gate_token);
  CATCH_CHECK(
    value_of(read_http_token(token_file(folder, gate_token + "\r\n", 0400)))
    == gate_token);
  CATCH_CHECK(
    error_of(read_http_token(token_file(folder, gate_token, 0640))).code
    == ec::permission);
  for (const auto& text :
       {std::string{}, std::string{"short"}, gate_token + "\n" + gate_token,
        gate_token + " ", std::string(513, 'x'), std::string(5000, 'x')})
    CATCH_CHECK(error_of(read_http_token(token_file(folder, text, 0600))).code
                == ec::invalid_data);
  CATCH_CHECK(error_of(read_http_token(folder / "none")).code == ec::not_found);
  CATCH_CHECK(error_of(read_http_token(folder.path())).code
              == ec::invalid_data);
}
