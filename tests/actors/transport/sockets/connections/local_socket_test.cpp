#include "actors/transport/sockets/connections/local_socket.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

const std::string our_socket(32, 'a');
const std::string their_socket(32, 'b');

/// A socket at a path, at which somebody listens until this ends. The file
/// stays.
class listener {
public:
  explicit listener(const std::filesystem::path& path)
    : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    CATCH_REQUIRE(path.string().size() < sizeof(at.sun_path));
    std::strcpy(at.sun_path, path.c_str());
    CATCH_REQUIRE(
      ::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0);
    CATCH_REQUIRE(::listen(socket_, 8) == 0);
  }
  ~listener() { ::close(socket_); }
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

private:
  int socket_;
};

} // namespace

CATCH_TEST_CASE("local sockets lie in a folder of their user",
                "[transport][local]") {
  const auto* old = std::getenv("XDG_RUNTIME_DIR");
  const std::optional<std::string> before =
    old == nullptr ? std::nullopt : std::optional<std::string>{old};
  ::setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
  CATCH_CHECK(local_folder() == "/run/user/7/graphmill");
  const auto otherwise = "/tmp/graphmill-" + std::to_string(::geteuid());
  ::setenv("XDG_RUNTIME_DIR", "run", 1);
  CATCH_CHECK(local_folder() == otherwise);
  ::unsetenv("XDG_RUNTIME_DIR");
  CATCH_CHECK(local_folder() == otherwise);
  if (before)
    ::setenv("XDG_RUNTIME_DIR", before->c_str(), 1);
}

CATCH_TEST_CASE("a local socket is for its user alone, and gone at the end",
                "[transport][local]") {
  const temp_folder home;
  const auto folder = home / "local";
  {
    const auto mask = ::umask(0);
    const auto ours = value_of(local_socket::make(folder, our_socket));
    ::umask(mask);
    CATCH_CHECK((std::filesystem::status(folder).permissions()
                 & std::filesystem::perms::mask)
                == std::filesystem::perms::owner_all);
    CATCH_CHECK_FALSE(find_local_socket(folder, our_socket)); // Not yet.
    const listener listens{ours.path()};
    CATCH_CHECK(find_local_socket(folder, our_socket) == ours.path());
  }
  CATCH_CHECK_FALSE(find_local_socket(folder, our_socket));
  CATCH_CHECK(names_in(folder).empty());
}

CATCH_TEST_CASE("a local socket that might be of others is none",
                "[transport][local]") {
  const temp_folder home;
  const auto folder = home / "local";
  auto ours = value_of(local_socket::make(folder, our_socket));
  const listener listens{ours.path()};
  ours.is_listened_at();
  CATCH_REQUIRE(find_local_socket(folder, our_socket));
  auto refused = folder;
  CATCH_SECTION("in a folder that others may enter") {
    ::chmod(folder.c_str(), 0710);
  }
  CATCH_SECTION("below a folder where others may put things") {
    ::chmod(home.path().c_str(), 0777);
  }
  CATCH_SECTION("behind a link") {
    refused = home / "link";
    std::filesystem::create_symlink(folder, refused);
  }
  CATCH_SECTION("no folder") {
    refused = home / "file";
    std::ofstream{refused} << "x";
  }
  CATCH_SECTION("in a folder of another user") {
    if (::chown(folder.c_str(), 4242, 4242) != 0)
      return; // Needs root.
    const auto reason = error_of(local_socket::make(folder, their_socket));
    CATCH_CHECK(has(reason.message, "4242"));
  }
  CATCH_CHECK_FALSE(find_local_socket(refused, our_socket));
  CATCH_CHECK_FALSE(
    error_of(local_socket::make(refused, their_socket)).message.empty());
}

CATCH_TEST_CASE("what is no socket of this name is none",
                "[transport][local]") {
  const temp_folder home;
  const auto folder = home / "local";
  const auto ours = value_of(local_socket::make(folder, our_socket));
  std::ofstream{ours.path()} << "x";
  CATCH_CHECK_FALSE(find_local_socket(folder, our_socket));
  const listener elsewhere{home / "elsewhere"};
  std::filesystem::create_symlink(home / "elsewhere", folder / their_socket);
  CATCH_CHECK_FALSE(find_local_socket(folder, their_socket));
  for (const auto* name : {"", ".", "..", "../elsewhere", "elsewhere"})
    CATCH_CHECK_FALSE(find_local_socket(folder, name));
}

CATCH_TEST_CASE("a path that is too long for a socket is said",
                "[transport][local]") {
  const temp_folder home;
  const auto reason =
    error_of(local_socket::make(home / std::string(80, 'x'), our_socket));
  CATCH_CHECK(has(reason.message, "longer"));
  CATCH_CHECK_FALSE(
    error_of(local_socket::make(home / "missing" / "local", our_socket))
      .message.empty());
}

CATCH_TEST_CASE("sockets of processes that have gone are removed",
                "[transport][local]") {
  const temp_folder home;
  const auto folder = home / "local";
  { const auto first = value_of(local_socket::make(folder, our_socket)); }
  const std::string dead(32, 'd');
  { const listener was{folder / dead}; }
  const listener lives{folder / their_socket};
  std::ofstream{folder / "notes"} << "of somebody";
  const auto next = value_of(local_socket::make(folder, our_socket));
  CATCH_CHECK(names_in(folder)
              == std::vector<std::string>{their_socket, "notes"});
}

CATCH_TEST_CASE("a socket that is about to be listened at is not removed",
                "[transport][local]") {
  const temp_folder home;
  const auto folder = home / "local";
  auto first = value_of(local_socket::make(folder, our_socket));
  // Looks like one of a process that has gone.
  { const listener soon{first.path()}; }
  {
    const auto second = value_of(local_socket::make(folder, their_socket));
    CATCH_CHECK(names_in(folder) == std::vector<std::string>{our_socket});
  }
  first.is_listened_at(); // Though nobody does.
  const auto third = value_of(local_socket::make(folder, their_socket));
  CATCH_CHECK(names_in(folder).empty());
}
