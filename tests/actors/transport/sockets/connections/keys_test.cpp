#include "actors/transport/sockets/connections/keys.hpp"

#include "actors/transport/sessions/address.hpp"
#include "tests/actors/transport/network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.hpp>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;
using std::filesystem::perms;

CATCH_TEST_CASE("keys are written for the owner and read again",
                "[transport][keys]") {
  const temp_folder folder;
  const auto file = folder / "cluster.key";
  const auto keys = value_of(make_keys());
  value_of(write_keys(keys, file));
  CATCH_CHECK((std::filesystem::status(file).permissions() & perms::mask)
              == (perms::owner_read | perms::owner_write));
  const auto read = value_of(read_keys(file));
  CATCH_CHECK(read.public_key == keys.public_key);
  CATCH_CHECK(read.secret_key == keys.secret_key);
  CATCH_CHECK(read.file == file.string());
  CATCH_CHECK(error_of(write_keys(keys, file)).code == ec::invalid_argument);
  CATCH_CHECK(value_of(make_keys()).secret_key != keys.secret_key);
}

CATCH_TEST_CASE("a key file that others may read is refused",
                "[transport][keys]") {
  const temp_folder folder;
  const auto file = folder / "cluster.key";
  value_of(write_keys(value_of(make_keys()), file));
  for (const auto open : {perms::group_read, perms::others_read}) {
    std::filesystem::permissions(file, perms::owner_read | open);
    CATCH_CHECK(error_of(read_keys(file)).code == ec::permission);
  }
}

CATCH_TEST_CASE("what is no key file is refused", "[transport][keys]") {
  const temp_folder folder;
  const auto fifo = folder / "fifo";
  CATCH_REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CATCH_CHECK(error_of(read_keys(fifo)).code == ec::invalid_data);
  const auto file = folder / "cluster.key";
  CATCH_CHECK(error_of(read_keys(file)).code == ec::not_found);
  CATCH_CHECK_FALSE(read_keys(folder.path()));
  const auto keys = value_of(make_keys());
  const auto other = value_of(make_keys());
  for (const auto& text :
       {std::string{}, std::string(100000, 'x'), std::string(50, '\0'),
        std::string{"graphmill-keys 1\n"},
        "graphmill-keys 1\npublic " + keys.public_key + "\nsecret "
          + other.secret_key + "\n",
        "graphmill-keys 1\npublic " + keys.public_key + "\nsecret "
          + std::string(40, ' ') + "\n"}) {
    std::ofstream{file} << text;
    std::filesystem::permissions(file, perms::owner_read | perms::owner_write);
    CATCH_CHECK(error_of(read_keys(file)).code == ec::invalid_data);
  }
}

CATCH_TEST_CASE("only who has the key is let in", "[transport][keys]") {
  const auto keys = value_of(make_keys());
  // For which a refusal must last to be one.
  constexpr std::chrono::milliseconds short_while{100};
  collector<std::string> logged;
  auto options = daemon("server");
  options.keys = keys;
  options.on_request = [](incoming_request request) {
    request.reply.reply(payload{});
  };
  options.on_log = [&logged](const std::string& line) { logged.put(line); };
  const auto server = start(options);
  const auto& address = server->self().address;
  const auto ask_as = [&](std::optional<curve_keys> with) {
    auto asks = client("caller");
    asks.keys = std::move(with);
    asks.liveness.refused_after = short_while;
    asks.liveness.suspected_for = short_while;
    const auto caller = start(std::move(asks));
    return ask(*caller, address, method::stop, {}, patient);
  };
  value_of(ask_as(keys));
  CATCH_CHECK(logged.size() == 0);
  // Both ends are told, long before the patience of one is over.
  auto other = value_of(make_keys());
  other.file = "/of/others";
  const auto refused = error_of(ask_as(other));
  CATCH_CHECK(refused.code == ec::permission);
  CATCH_CHECK(refused.message.find("/of/others") != std::string::npos);
  const auto lines = logged.wait(1);
  CATCH_REQUIRE_FALSE(lines.empty());
  CATCH_CHECK(lines[0].starts_with("refused a connection from "));
  CATCH_CHECK(lines[0].ends_with(
    ": it has another key, or its handshake was damaged on the way"));
  CATCH_CHECK(server->statistics().refused >= 1);
  CATCH_CHECK(error_of(ask_as(std::nullopt)).code == ec::permission);
  value_of(ask_as(keys));
  // A key where the server has none.
  options.keys.reset();
  const auto open = start(options);
  auto asks = client("caller");
  asks.keys = keys;
  asks.liveness.refused_after = short_while;
  asks.liveness.suspected_for = short_while;
  CATCH_CHECK(error_of(ask(*start(std::move(asks)), open->self().address,
                           method::stop, {}, patient))
                .code
              == ec::permission);
}

CATCH_TEST_CASE("who closes connections without a word has no other key",
                "[transport][keys]") {
  // As a forwarder with nobody behind it.
  zmq::context_t context;
  zmq::socket_t forwarder{context, ZMQ_STREAM};
  forwarder.set(zmq::sockopt::linger, 0);
  forwarder.set(zmq::sockopt::rcvtimeo, 10);
  forwarder.bind("tcp://127.0.0.1:*");
  const auto address = forwarder.get(zmq::sockopt::last_endpoint);
  std::atomic<bool> end{false};
  std::atomic<int> closed{0};
  std::thread work{[&forwarder, &end, &closed] {
    while (!end) {
      zmq::message_t whom;
      zmq::message_t said;
      if (!forwarder.recv(whom) || !forwarder.recv(said) || said.size() == 0)
        continue;
      try { // An empty message ends a connection.
        forwarder.send(whom, zmq::send_flags::sndmore);
        forwarder.send(zmq::message_t{}, zmq::send_flags::none);
        ++closed;
      } catch (const zmq::error_t&) { // It has ended already.
      }
    }
  }};
  auto asks = client("caller");
  asks.keys = value_of(make_keys());
  const auto caller = start(std::move(asks));
  const auto answer = ask(*caller, address, method::stop, {}, {200s, 1, 3s});
  end = true;
  work.join();
  CATCH_CHECK(error_of(answer).code == ec::unavailable);
  CATCH_CHECK(closed >= 2);
}

CATCH_TEST_CASE("who knows the public key alone is not let in",
                "[transport][keys]") {
  const auto keys = value_of(make_keys());
  const auto own = value_of(make_keys());
  collector<std::string> logged;
  collector<method> served;
  auto options = daemon("server");
  options.keys = keys;
  options.on_request = [&served](incoming_request request) {
    served.put(request.method);
  };
  options.on_log = [&logged](const std::string& line) { logged.put(line); };
  const auto server = start(std::move(options));
  zmq::context_t context;
  zmq::socket_t thief{context, ZMQ_DEALER};
  thief.set(zmq::sockopt::linger, 0);
  thief.set(zmq::sockopt::curve_publickey, own.public_key);
  thief.set(zmq::sockopt::curve_secretkey, own.secret_key);
  thief.set(zmq::sockopt::curve_serverkey, keys.public_key);
  thief.connect(server->self().address);
  thief.send(zmq::str_buffer("let me in"), zmq::send_flags::none);
  const auto lines = logged.wait(1);
  CATCH_REQUIRE_FALSE(lines.empty());
  CATCH_CHECK(lines[0]
              == "refused a connection from 127.0.0.1: it has another key");
  const auto counted = server->statistics();
  CATCH_CHECK(counted.refused >= 1);
  CATCH_CHECK(counted.malformed == 0);
  CATCH_CHECK(served.size() == 0);
}

namespace {

/// Stands between callers and a server at this machine, and passes bytes on.
class forwarder {
public:
  explicit forwarder(std::uint16_t to) : to_(at_port(to)) {
    auto here = at_port(0);
    socklen_t size = sizeof(here);
    CATCH_REQUIRE(door_ >= 0);
    CATCH_REQUIRE(::bind(door_, address_of(here), sizeof(here)) == 0);
    CATCH_REQUIRE(::listen(door_, 16) == 0);
    CATCH_REQUIRE(::getsockname(door_, address_of(here), &size) == 0);
    port_ = ntohs(here.sin_port);
    work_ = std::thread{[this] {
      while (!end_)
        serve();
    }};
  }
  ~forwarder() {
    end_ = true;
    work_.join();
    for (const auto& pair : pairs_) {
      ::close(pair.caller);
      ::close(pair.server);
    }
    ::close(door_);
  }
  forwarder(const forwarder&) = delete;
  forwarder& operator=(const forwarder&) = delete;

  std::string address() const {
    return "tcp://127.0.0.1:" + std::to_string(port_);
  }
  /// Changes a bit of what a caller sends next on a connection whose handshake
  /// is over.
  void damage() { damage_ = true; }

private:
  struct connection {
    int caller = -1;
    int server = -1;
    std::size_t from_server = 0; ///< Bytes.
  };
  /// What a server sends of a handshake (ZMTP 3.0, RFC 26): its greeting and
  /// WELCOME; READY comes last, when it has all of the caller's.
  static constexpr std::size_t before_ready = 64 + 170;

  static sockaddr_in at_port(std::uint16_t port) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_port = htons(port);
    out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return out;
  }
  static sockaddr* address_of(sockaddr_in& from) {
    return reinterpret_cast<sockaddr*>(&from);
  }

  void serve() {
    std::vector<pollfd> polls{{door_, POLLIN, 0}};
    for (const auto& pair : pairs_) {
      polls.push_back({pair.caller, POLLIN, 0});
      polls.push_back({pair.server, POLLIN, 0});
    }
    if (::poll(polls.data(), polls.size(), 10) <= 0)
      return;
    for (auto i = pairs_.size(); i-- > 0;) {
      auto& pair = pairs_[i];
      const auto lasts =
        (polls[2 * i + 1].revents == 0 || pass_to_server(pair))
        && (polls[2 * i + 2].revents == 0 || pass_to_caller(pair));
      if (lasts)
        continue;
      ::close(pair.caller);
      ::close(pair.server);
      pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (polls[0].revents != 0)
      take();
  }

  void take() {
    const auto caller = ::accept4(door_, nullptr, nullptr, SOCK_CLOEXEC);
    if (caller < 0)
      return;
    const auto server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pairs_.push_back({caller, server});
    // If nobody listens, the next read says so.
    (void)::connect(server, address_of(to_), sizeof(to_));
  }

  /// @returns false at the end of the connection, as the next one.
  bool pass_to_server(const connection& pair) {
    std::array<char, 65536> bytes;
    const auto got = ::recv(pair.caller, bytes.data(), bytes.size(), 0);
    if (got <= 0)
      return false;
    const auto size = static_cast<std::size_t>(got);
    if (pair.from_server > before_ready && damage_.exchange(false))
      bytes[size - 1] = static_cast<char>(bytes[size - 1] ^ 1);
    return ::send(pair.server, bytes.data(), size, MSG_NOSIGNAL) == got;
  }

  bool pass_to_caller(connection& pair) {
    std::array<char, 65536> bytes;
    const auto got = ::recv(pair.server, bytes.data(), bytes.size(), 0);
    if (got <= 0)
      return false;
    const auto size = static_cast<std::size_t>(got);
    pair.from_server += size;
    return ::send(pair.caller, bytes.data(), size, MSG_NOSIGNAL) == got;
  }

  sockaddr_in to_;
  int door_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
  std::vector<connection> pairs_;
  std::atomic<bool> damage_{false};
  std::atomic<bool> end_{false};
  std::thread work_;
};

} // namespace

CATCH_TEST_CASE("what is changed on the way is not taken for another key",
                "[transport][keys]") {
  const auto keys = value_of(make_keys());
  collector<std::string> logged;
  auto options = echo_daemon("server");
  options.keys = keys;
  options.on_log = [&logged](const std::string& line) { logged.put(line); };
  const auto server = start(std::move(options));
  forwarder between{value_of(parse_endpoint(server->self().address)).port};
  auto asks = client("caller");
  asks.keys = keys;
  asks.liveness.lost_after = std::chrono::seconds{2};
  const auto caller = start(std::move(asks));
  caller->keep(between.address());
  value_of(ask(*caller, between.address(), method::status));
  // Once both channels have answered, no handshake is left to be damaged.
  value_of(ask(*caller, between.address(), method::gather));
  CATCH_CHECK(logged.size() == 0);
  between.damage(); // The next beat comes within half a second.
  const auto lines = logged.wait(1);
  CATCH_REQUIRE_FALSE(lines.empty());
  CATCH_CHECK(lines[0]
              == "data on a connection was changed on the way: the "
                 "connection is stuck until its other end gives it up");
  CATCH_CHECK(server->statistics().malformed == 1);
  CATCH_CHECK(server->statistics().refused == 0);
  value_of(ask(*caller, between.address(), method::status));
}
