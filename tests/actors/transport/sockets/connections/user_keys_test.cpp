#include "actors/transport/sockets/connections/user_keys.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using std::filesystem::perms;

namespace {

perms mode_of(const std::filesystem::path& path) {
  return std::filesystem::status(path).permissions() & perms::mask;
}

/// A user's environment; the process's own is back at the end.
class environment {
public:
  environment(const char* home, const char* config) {
    set("HOME", home);
    set("XDG_CONFIG_HOME", config);
  }
  ~environment() {
    for (const auto& [name, value] : before_)
      put(name, value ? value->c_str() : nullptr);
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

private:
  static void put(const std::string& name, const char* value) {
    if (value == nullptr)
      ::unsetenv(name.c_str());
    else
      ::setenv(name.c_str(), value, 1);
  }

  void set(const char* name, const char* value) {
    const auto* old = std::getenv(name);
    before_.emplace_back(
      name, old == nullptr ? std::nullopt : std::optional<std::string>{old});
    put(name, value);
  }

  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

} // namespace

CATCH_TEST_CASE("a user's key lies in the user's configuration",
                "[transport][keys]") {
  const auto file_of = [](const char* home, const char* config) {
    const environment of_user{home, config};
    return user_key_file();
  };
  CATCH_CHECK(value_of(file_of("/home/ada", nullptr))
              == "/home/ada/.config/graphmill/key");
  CATCH_CHECK(value_of(file_of("/home/ada", "/etc/ada"))
              == "/etc/ada/graphmill/key");
  CATCH_CHECK(value_of(file_of(nullptr, "/etc/ada"))
              == "/etc/ada/graphmill/key");
  // The specification wants paths that are not absolute to be ignored.
  CATCH_CHECK(value_of(file_of("/home/ada", "config"))
              == "/home/ada/.config/graphmill/key");
  for (const auto* home : {static_cast<const char*>(nullptr), "", "ada"}) {
    const auto reason = error_of(file_of(home, nullptr));
    CATCH_CHECK(reason.code == ec::invalid_argument);
    CATCH_CHECK(has(reason.message, "set HOME"));
  }
}

CATCH_TEST_CASE("a user's key is made once, for the user alone",
                "[transport][keys]") {
  const temp_folder home;
  const auto file = home / "a" / "b" / "graphmill" / "key";
  const auto mask = ::umask(0);
  const auto made = value_of(user_keys(file));
  ::umask(mask);
  CATCH_CHECK(mode_of(file) == perms{0600});
  CATCH_CHECK(mode_of(file.parent_path()) == perms{0700});
  CATCH_CHECK(mode_of(home / "a") == perms{0700});
  CATCH_CHECK(names_in(file.parent_path()) == std::vector<std::string>{"key"});
  const auto found = value_of(user_keys(file));
  CATCH_CHECK(found.secret_key == made.secret_key);
  CATCH_CHECK(found.file == file.string());
}

CATCH_TEST_CASE("processes that start at once agree on a user's key",
                "[transport][keys]") {
  constexpr int processes = 8;
  for (int round = 0; round < 10; ++round) {
    const temp_folder home;
    const auto file = home / "graphmill" / "key";
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i)
      children.push_back(start_child([&home, &file, i] {
        const auto keys = user_keys(file);
        if (!keys)
          return 1;
        std::ofstream{home / std::to_string(i)} << keys.value().secret_key;
        return 0;
      }));
    for (const auto child : children)
      CATCH_CHECK(wait_for(child) == 0);
    const auto agreed = value_of(read_keys(file)).secret_key;
    for (int i = 0; i < processes; ++i)
      CATCH_CHECK(content_of(home / std::to_string(i)) == agreed);
    CATCH_CHECK(names_in(file.parent_path())
                == std::vector<std::string>{"key"});
  }
}

CATCH_TEST_CASE("others may see that a user has a key", "[transport][keys]") {
  const temp_folder home;
  const auto file = home / "graphmill" / "key";
  const auto keys = value_of(user_keys(file));
  std::filesystem::permissions(file.parent_path(), perms{0755});
  CATCH_CHECK(value_of(user_keys(file)).secret_key == keys.secret_key);
}

CATCH_TEST_CASE("a user's key that others had a hand in is refused",
                "[transport][keys]") {
  const temp_folder home;
  const auto file = home / "graphmill" / "key";
  value_of(user_keys(file));
  CATCH_SECTION("they can read it") {
    std::filesystem::permissions(file, perms{0644});
    const auto reason = error_of(user_keys(file));
    CATCH_CHECK(reason.code == ec::permission);
    CATCH_CHECK(has(reason.message, "chmod 600"));
    CATCH_CHECK(has(reason.message, file.string()));
  }
  CATCH_SECTION("they can replace it") {
    std::filesystem::permissions(file.parent_path(), perms{0770});
    const auto reason = error_of(user_keys(file));
    CATCH_CHECK(reason.code == ec::permission);
    CATCH_CHECK(has(reason.message, "chmod 700"));
  }
  CATCH_SECTION("it is none") {
    std::ofstream{file} << "graphmill-keys 1\n";
    CATCH_CHECK(error_of(user_keys(file)).code == ec::invalid_data);
  }
  CATCH_SECTION("something else is in the place of its folder") {
    std::filesystem::remove_all(file.parent_path());
    std::ofstream{file.parent_path()} << "x";
    CATCH_CHECK_FALSE(user_keys(file));
  }
}

CATCH_TEST_CASE("a user's key that belongs to somebody else is refused",
                "[transport][keys]") {
  if (::geteuid() != 0) {
    CATCH_WARN("skipped: only root can give files away");
    return;
  }
  constexpr uid_t somebody = 12345;
  const temp_folder home;
  const auto file = home / "graphmill" / "key";
  value_of(user_keys(file));
  const auto check_refused = [&file] {
    const auto reason = error_of(user_keys(file));
    CATCH_CHECK(reason.code == ec::permission);
    CATCH_CHECK(has(reason.message, "belongs to the user with the number "
                                    "12345, not to you (0)"));
  };
  CATCH_SECTION("the file") {
    CATCH_REQUIRE(::chown(file.c_str(), somebody, somebody) == 0);
    check_refused();
  }
  CATCH_SECTION("its folder") {
    CATCH_REQUIRE(::chown((home / "graphmill").c_str(), somebody, somebody)
                  == 0);
    check_refused();
  }
  CATCH_SECTION("the home in which it would be made") {
    std::filesystem::remove_all(home / "graphmill");
    CATCH_REQUIRE(::chown(home.path().c_str(), somebody, somebody) == 0);
    check_refused();
    CATCH_CHECK(names_in(home.path()).empty());
  }
}

CATCH_TEST_CASE("a key is chosen by what a user says", "[transport][keys]") {
  const temp_folder home;
  const environment of_user{nullptr, home.path().c_str()};
  CATCH_CHECK_FALSE(value_of(choose_keys({}, true)));
  CATCH_CHECK(names_in(home.path()).empty());
  const auto own = value_of(choose_keys({}, false));
  CATCH_REQUIRE(own);
  CATCH_CHECK(own->file == (home / "graphmill" / "key").string());
  value_of(write_keys(value_of(make_keys()), home / "other"));
  const auto named = value_of(choose_keys(home / "other", false));
  CATCH_REQUIRE(named);
  CATCH_CHECK(named->secret_key != own->secret_key);
  CATCH_CHECK(error_of(choose_keys(home / "other", true)).code
              == ec::invalid_argument);
  CATCH_CHECK(error_of(choose_keys(home / "none", false)).code
              == ec::not_found);
}
