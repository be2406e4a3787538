#include "actors/transport/sockets/descriptors.hpp"
#include "tests/actors/transport/network.hpp"
#include "tests/actors/transport/sockets/raw_connection.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

constexpr rlim_t few = 256;

std::size_t open_descriptors() {
  std::error_code ignored;
  std::filesystem::directory_iterator at{"/proc/self/fd", ignored};
  return static_cast<std::size_t>(
    std::distance(at, std::filesystem::directory_iterator{}));
}

/// A daemon in a process with few descriptors, from when its address can be
/// read until nobody holds the other end of `stay`.
int serve_with_few(int address, int stay) {
  // A sanitizer looks at the type of an object by a pipe when it comes up
  // first. For this one, which says what has failed, there is no descriptor
  // later.
  static_cast<void>(std::system_category().message(EMFILE));
  const rlimit limit{few, few};
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
    return 1;
  const auto server = start(echo_daemon("server"));
  const auto& text = server->self().address;
  if (::write(address, text.data(), text.size()) < 0 || ::close(address) != 0)
    return 2;
  char ignored = 0;
  while (::read(stay, &ignored, 1) > 0)
    ;
  const auto quota = split_descriptors(few);
  // One of them is for looking.
  if (open_descriptors() > few - quota.reserve)
    return 3;
  return server->statistics().strangers != 0 ? 0 : 4;
}

std::string read_all(int from) {
  std::string out;
  std::array<char, 256> piece;
  for (ssize_t got = 0; (got = ::read(from, piece.data(), piece.size())) > 0;)
    out.append(piece.data(), static_cast<std::size_t>(got));
  return out;
}

} // namespace

CATCH_TEST_CASE("1,500 connections that say nothing keep nobody out",
                "[transport][hostile]") {
  raise_descriptor_limit();
  CATCH_REQUIRE(descriptor_limit() > 1700);
  std::array<int, 2> address;
  std::array<int, 2> stay;
  CATCH_REQUIRE(::pipe(address.data()) == 0);
  CATCH_REQUIRE(::pipe(stay.data()) == 0);
  const auto child = start_child([&] {
    ::close(address[0]);
    ::close(stay[1]);
    return serve_with_few(address[1], stay[0]);
  });
  ::close(address[1]);
  ::close(stay[0]);
  const auto server = read_all(address[0]);
  ::close(address[0]);
  const auto early = start(client("early"));
  const auto works = [&server](transport& caller) {
    return text_of(value_of(
             ask(caller, server, method::submit, text_payload("echo"))))
           == "echo";
  };
  CATCH_CHECK(works(*early));
  std::vector<std::unique_ptr<raw_connection>> silent;
  for (int i = 0; i < 1500; ++i)
    silent.push_back(std::make_unique<raw_connection>(server));
  CATCH_CHECK(works(*early));
  const auto late = start(client("late"));
  CATCH_CHECK(works(*late));
  CATCH_CHECK(early->statistics().retries == 0);
  // All but as many as are allowed are ended.
  const auto ended = [&silent] {
    return std::ranges::count_if(silent,
                                 [](const auto& one) { return one->closed(); });
  };
  const auto allowed = split_descriptors(few).strangers;
  for (int i = 0; i < 6000 && std::cmp_less(ended(), 1500 - allowed); ++i)
    ::usleep(10000);
  CATCH_CHECK(std::cmp_greater_equal(ended(), 1500 - allowed));
  CATCH_CHECK(works(*early));
  ::close(stay[1]);
  CATCH_CHECK(wait_for(child) == 0);
}

CATCH_TEST_CASE("a daemon says when it has descriptors for no more peers",
                "[transport]") {
  auto options = echo_daemon("small");
  options.descriptors = 95; // For one peer.
  const auto small = start(std::move(options));
  const auto first = start(client("first"));
  const auto second = start(client("second"));
  const auto& there = small->self().address;
  CATCH_CHECK(ask(*first, there, method::submit).has_value());
  const auto reason = error_of(ask(*second, there, method::submit));
  CATCH_CHECK(reason.code == ec::unavailable);
  CATCH_CHECK(reason.message.find("ulimit") != std::string::npos);
  // The same for those that it calls.
  const auto other = start(echo_daemon("other"));
  const auto another = start(echo_daemon("another"));
  CATCH_CHECK(ask(*small, other->self().address, method::submit).has_value());
  const auto full = error_of(
    ask(*small, another->self().address, method::submit, {}, {200s, 3, 200ms}));
  CATCH_CHECK(full.code == ec::unavailable);
  CATCH_CHECK(full.message.find("ulimit") != std::string::npos);
}
