#include "actors/transport/sockets/connections/local_socket.hpp"
#include "tests/actors/transport/network.hpp"
#include "tests/actors/transport/sockets/raw_dealer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

// Data channels by local sockets, with real ones.

namespace {

/// Daemons and clients of one user, who all have the key.
struct local_users {
  temp_folder home;
  std::filesystem::path folder = home / "local";
  curve_keys keys = value_of(make_keys());

  transport_options of(transport_options options) const {
    options.keys = keys;
    options.local_folder = folder;
    return options;
  }
  std::filesystem::path socket_of(const transport& server) const {
    return folder / server.self().incarnation;
  }
};

/// Data and control both work.
void check_served(transport& caller, const std::string& address) {
  CATCH_CHECK(
    text_of(value_of(ask(caller, address, method::gather, text_payload("d"))))
    == "d");
  CATCH_CHECK(
    text_of(value_of(ask(caller, address, method::status, text_payload("c"))))
    == "c");
}

} // namespace

CATCH_TEST_CASE("data between processes of a user go by a local socket",
                "[transport][local]") {
  const local_users users;
  collector<std::string> logged;
  auto options = users.of(echo_daemon("server"));
  options.on_log = [&logged](const std::string& line) { logged.put(line); };
  auto server = start(std::move(options));
  const auto address = server->self().address;
  const auto file = users.socket_of(*server);
  struct stat about {};
  CATCH_REQUIRE(::lstat(file.c_str(), &about) == 0);
  CATCH_CHECK((about.st_mode & 0777) == 0600);
  CATCH_REQUIRE(::lstat(users.folder.c_str(), &about) == 0);
  CATCH_CHECK((about.st_mode & 0777) == 0700);
  const auto caller = start(users.of(client("caller")));
  check_served(*caller, address);
  CATCH_CHECK(caller->statistics().local_channels == 1);
  // Large frames, both ways.
  payload large;
  for (int i = 0; i < 8; ++i)
    large.bulk.push_back(
      frame::copy(std::vector<std::byte>(max_frame_bytes, std::byte(i))));
  const auto back = value_of(ask(*caller, address, method::gather, large));
  CATCH_REQUIRE(back.bulk.size() == 8);
  for (std::size_t i = 0; i < 8; ++i)
    CATCH_CHECK(
      std::ranges::equal(back.bulk[i].bytes(), large.bulk[i].bytes()));
  // A daemon asks itself, and others ask it, in the same way.
  check_served(*server, address);
  CATCH_CHECK(server->statistics().local_channels == 1);
  CATCH_CHECK(server->statistics().malformed == 0);
  CATCH_CHECK(logged.size() == 0);
  server.reset();
  CATCH_CHECK_FALSE(std::filesystem::exists(file));
}

CATCH_TEST_CASE("who does not share the folder goes over the network",
                "[transport][local]") {
  const local_users users;
  CATCH_SECTION("another folder") {
    const auto server = start(users.of(echo_daemon("server")));
    auto options = users.of(client("caller"));
    options.local_folder = users.home / "another";
    const auto caller = start(std::move(options));
    check_served(*caller, server->self().address);
    CATCH_CHECK(caller->statistics().local_channels == 0);
  }
  CATCH_SECTION("no keys") {
    auto options = echo_daemon("server");
    options.local_folder = users.folder;
    const auto server = start(std::move(options));
    const auto caller = start(client("caller"));
    check_served(*caller, server->self().address);
    CATCH_CHECK(caller->statistics().local_channels == 0);
    CATCH_CHECK_FALSE(std::filesystem::exists(users.folder));
  }
  CATCH_SECTION("a folder that others may enter, for the caller") {
    const auto server = start(users.of(echo_daemon("server")));
    ::chmod(users.folder.c_str(), 0755);
    const auto caller = start(users.of(client("caller")));
    check_served(*caller, server->self().address);
    CATCH_CHECK(caller->statistics().local_channels == 0);
  }
  CATCH_SECTION("a folder that others may enter, for the server") {
    CATCH_REQUIRE(::mkdir(users.folder.c_str(), 0755) == 0);
    ::chmod(users.folder.c_str(), 0755);
    collector<std::string> logged;
    auto options = users.of(echo_daemon("server"));
    options.on_log = [&logged](const std::string& line) { logged.put(line); };
    const auto server = start(std::move(options));
    const auto lines = logged.wait(1);
    CATCH_REQUIRE(lines.size() == 1);
    CATCH_CHECK(has(lines[0], "chmod 700"));
    ::chmod(users.folder.c_str(), 0700);
    const auto caller = start(users.of(client("caller")));
    check_served(*caller, server->self().address);
    CATCH_CHECK(caller->statistics().local_channels == 0);
  }
}

CATCH_TEST_CASE("a local socket that leads nowhere costs no request",
                "[transport][local]") {
  const local_users users;
  const auto server = start(users.of(echo_daemon("server")));
  const auto file = users.socket_of(*server);
  CATCH_REQUIRE(::unlink(file.c_str()) == 0);
  std::uint64_t tried = 0;
  CATCH_SECTION("it is missing") {}
  CATCH_SECTION("it is a file") {
    std::ofstream{file} << "x";
  }
  CATCH_SECTION("nobody listens") {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::strncpy(at.sun_path, file.c_str(), sizeof(at.sun_path) - 1);
    const auto dead = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CATCH_REQUIRE(
      ::bind(dead, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0);
    ::close(dead);
    tried = 1;
  }
  const auto caller = start(users.of(client("caller")));
  check_served(*caller, server->self().address);
  CATCH_CHECK(caller->statistics().local_channels == tried);
}

CATCH_TEST_CASE("without the key nobody gets in by a local socket",
                "[transport][local]") {
  const local_users users;
  collector<method> served;
  auto options = users.of(daemon("server"));
  options.on_request = [&served](incoming_request request) {
    served.put(request.method);
    request.reply.reply(payload{});
  };
  const auto server = start(std::move(options));
  const auto caller = start(users.of(client("caller")));
  value_of(ask(*caller, server->self().address, method::gather));
  // A process of the same user, without the key. It may find its connection
  // closed with whatever it sends.
  raw_dealer thief{local_address(users.socket_of(*server).string())};
  // Who says nothing of itself is told to.
  thief.try_send(request_of(1, method::gather));
  CATCH_CHECK(thief.receive().head.kind == message_kind::stranger);
  hello_message hello;
  hello.name = "thief";
  hello.incarnation = std::string(32, 'e');
  hello.channel = channel::control;
  CATCH_SECTION("as a caller of its own") {}
  CATCH_SECTION("with data alone") {
    hello.channel = channel::data;
  }
  CATCH_SECTION("with a token of its own") {
    hello.channel = channel::data;
    hello.local_token = std::string(32, 'f');
  }
  CATCH_SECTION("as somebody who is there") {
    hello.incarnation = caller->self().incarnation;
    hello.channel = channel::data;
    hello.local_token = std::string(32, 'f');
  }
  thief.try_send(hello_request(hello));
  thief.try_send(request_of(2, method::gather));
  thief.try_send(request_of(3, method::stop));
  CATCH_CHECK(thief.closed());
  value_of(ask(*caller, server->self().address, method::gather));
  CATCH_CHECK(served.size() == 2);
  CATCH_CHECK(server->statistics().malformed == 1);
  CATCH_CHECK(caller->statistics().retries == 0);
}

CATCH_TEST_CASE("a daemon that was killed is found again at another socket",
                "[transport][local]") {
  const local_users users;
  const auto noted = users.home / "address";
  const auto child = start_child([&users, &noted] {
    const auto server = start(users.of(echo_daemon("server")));
    std::ofstream{users.home / "draft"} << server->self().address;
    std::filesystem::rename(users.home / "draft", noted);
    ::pause();
    return 0;
  });
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!std::filesystem::exists(noted)
         && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(10ms);
  const auto address = content_of(noted);
  collector<peer_event> events;
  auto asks = users.of(client("caller"));
  asks.liveness.refused_after = 100ms;
  asks.on_peer = [&events](const peer_event& event) { events.put(event); };
  const auto caller = start(std::move(asks));
  caller->keep(address);
  check_served(*caller, address);
  CATCH_CHECK(caller->statistics().local_channels == 1);
  CATCH_REQUIRE(::kill(child, SIGKILL) == 0);
  wait_for(child);
  auto news = events.wait(2);
  CATCH_REQUIRE(news.size() >= 2);
  CATCH_CHECK(news[1].change == peer_event::kind::lost);
  CATCH_CHECK(names_in(users.folder).size() == 1); // It could not clear up.
  auto options = users.of(echo_daemon("server"));
  options.listen = address;
  const auto server = start(std::move(options));
  check_served(*caller, address);
  CATCH_CHECK(caller->statistics().local_channels == 2);
  news = events.wait(3);
  CATCH_REQUIRE(news.size() >= 3);
  CATCH_CHECK(news[2].change == peer_event::kind::replaced);
}
