#include "actors/transport/sockets/connections/members.hpp"

#include "actors/transport/sockets/connections/keys.hpp"
#include "messages/wire/cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using std::filesystem::perms;

namespace {

key_holder new_member(key_role role, const std::string& name) {
  return {role, name, value_of(make_keys()).public_key};
}

std::string member_line(const key_holder& of) {
  return std::string{to_string(of.role)} + ' ' + of.name + ' ' + of.key + '\n';
}

void overwrite(const std::filesystem::path& file, const std::string& text) {
  std::ofstream{file, std::ios::trunc} << text;
  std::filesystem::permissions(file, perms::owner_read | perms::owner_write);
}

} // namespace

CATCH_TEST_CASE("a members file says who has which key",
                "[transport][members]") {
  const auto first = new_member(key_role::coordinator, "first");
  const auto old_key = new_member(key_role::client, "alice");
  const auto new_key = new_member(key_role::client, "alice");
  const auto screen = new_member(key_role::reader, "a.b_c-9");
  const auto text = "graphmill-members 1\r\n# " + member_line(screen) + "\n  \t"
                    + member_line(first) + "  # more\n" + member_line(old_key)
                    + member_line(new_key) + "reader\t a.b_c-9  " + screen.key
                    + " \r";
  CATCH_CHECK(value_of(parse_members(text, "f"))
              == std::vector{first, old_key, new_key, screen});
  CATCH_CHECK(coordinator_of(value_of(parse_members(text, "f"))) == first);
}

CATCH_TEST_CASE("what is no members file is refused with the line",
                "[transport][members]") {
  const auto first = new_member(key_role::coordinator, "first");
  const auto alice = new_member(key_role::client, "alice");
  const auto head = "graphmill-members 1\n" + member_line(first);
  value_of(parse_members(head, "f"));
  for (const auto& text :
       {std::string{}, std::string{"graphmill-members 2\n"},
        std::string{"graphmill-members 1\n"}, member_line(first),
        std::string(100000, '\0'), head + member_line(first),
        head + member_line(new_member(key_role::coordinator, "other")),
        head + "client alice\n", head + "client alice " + alice.key + " more\n",
        head + "all alice " + alice.key + "\n",
        head + "root alice " + alice.key + "\n",
        head + "client al/ice " + alice.key + "\n",
        head + "client " + std::string(longest_member_name + 1, 'a') + ' '
          + alice.key + "\n",
        head + "client alice " + alice.key.substr(1) + "\n",
        head + "client alice " + std::string(40, '#') + "\n",
        head + "client alice " + std::string(39, '0') + "\x80\n",
        head + member_line(alice) + "reader alice "
          + new_member(key_role::reader, "alice").key + "\n"}) {
    CATCH_INFO(text.substr(0, 300));
    const auto reason = error_of(parse_members(text, "the file"));
    CATCH_CHECK(reason.code == ec::invalid_data);
    CATCH_CHECK(reason.message.find("the file") != std::string::npos);
  }
  CATCH_CHECK(error_of(parse_members(head + "\n" + "nonsense\n", "f"))
                .message.find("line 4 of f")
              != std::string::npos);
}

CATCH_TEST_CASE("no bytes harm the reader of members", "[transport][members]") {
  CATCH_INFO("seed 17");
  std::mt19937_64 random{17};
  const auto whole = "graphmill-members 1\n"
                     + member_line(new_member(key_role::coordinator, "first"))
                     + member_line(new_member(key_role::daemon, "second"));
  for (std::size_t size = 0; size < whole.size(); ++size)
    (void)parse_members(whole.substr(0, size), "f");
  for (int i = 0; i < 2000; ++i) {
    auto broken = whole;
    for (int change = 0; change < 3; ++change)
      broken[random() % broken.size()] = static_cast<char>(random());
    if (const auto read = parse_members(broken, "f"))
      for (const auto& member : read.value()) {
        CATCH_CHECK(is_public_key(member.key));
        CATCH_CHECK(is_member_name(member.name));
      }
  }
}

CATCH_TEST_CASE("members are added and revoked by whole files",
                "[transport][members]") {
  const temp_folder folder;
  const auto file = folder / "members";
  const auto first = new_member(key_role::coordinator, "first");
  const auto old_key = new_member(key_role::client, "alice");
  const auto new_key = new_member(key_role::client, "alice");
  CATCH_CHECK(error_of(add_member(file, old_key)).code == ec::not_found);
  value_of(make_members(file, first));
  CATCH_CHECK(error_of(make_members(file, first)).code == ec::invalid_argument);
  value_of(add_member(file, old_key));
  CATCH_CHECK_FALSE(add_member(file, old_key)); // A key stands there once.
  value_of(add_member(file, new_key));
  CATCH_CHECK(value_of(read_members(file))
              == std::vector{first, old_key, new_key});
  std::ofstream{file, std::ios::app} << "# alice is on leave";
  CATCH_CHECK(value_of(revoke_member(file, old_key.key)) == 1);
  CATCH_CHECK(value_of(read_members(file)) == std::vector{first, new_key});
  CATCH_CHECK(content_of(file).ends_with("# alice is on leave\n"));
  value_of(add_member(file, old_key));
  CATCH_CHECK(value_of(revoke_member(file, "alice")) == 2);
  CATCH_CHECK(error_of(revoke_member(file, "alice")).code == ec::not_found);
  CATCH_CHECK(error_of(revoke_member(file, "first")).code
              == ec::invalid_argument);
  CATCH_CHECK(value_of(read_members(file)) == std::vector{first});
  // Nothing is left beside it.
  CATCH_CHECK(
    std::distance(std::filesystem::directory_iterator{folder.path()}, {}) == 1);
}

CATCH_TEST_CASE("a members file that others may write is refused",
                "[transport][members]") {
  const temp_folder folder;
  const auto file = folder / "members";
  value_of(make_members(file, new_member(key_role::coordinator, "first")));
  const auto readable =
    perms::owner_all | perms::group_read | perms::others_read;
  std::filesystem::permissions(file, readable);
  value_of(read_members(file));
  for (const auto open : {perms::group_write, perms::others_write}) {
    std::filesystem::permissions(file, readable | open);
    CATCH_CHECK(error_of(read_members(file)).code == ec::permission);
    CATCH_CHECK_FALSE(add_member(file, new_member(key_role::client, "alice")));
  }
  const auto fifo = folder / "fifo";
  CATCH_REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CATCH_CHECK(error_of(read_members(fifo)).code == ec::invalid_data);
  overwrite(file, "graphmill-members 1\n" + std::string(2 << 20, '#'));
  CATCH_CHECK(error_of(read_members(file)).code == ec::invalid_data);
}

CATCH_TEST_CASE("a change of a members file is told once it is whole",
                "[transport][members]") {
  const temp_folder folder;
  const auto file = folder / "members";
  const auto first = new_member(key_role::coordinator, "first");
  const auto alice = new_member(key_role::client, "alice");
  value_of(make_members(file, first));
  members_watch watch{file};
  CATCH_CHECK_FALSE(watch.look());
  CATCH_CHECK(value_of(*watch.look()) == std::vector{first});
  CATCH_CHECK_FALSE(watch.look());
  value_of(add_member(file, alice));
  CATCH_CHECK_FALSE(watch.look()); // It may be written to just now.
  CATCH_CHECK(value_of(*watch.look()) == std::vector{first, alice});
  CATCH_CHECK_FALSE(watch.look());
  overwrite(file, "half of it");
  watch.look();
  CATCH_CHECK(error_of(*watch.look()).code == ec::invalid_data);
  CATCH_CHECK_FALSE(watch.look()); // Told once.
  std::filesystem::remove(file);
  watch.look();
  CATCH_CHECK(error_of(*watch.look()).code == ec::not_found);
  value_of(make_members(file, first));
  watch.look();
  CATCH_CHECK(value_of(*watch.look()) == std::vector{first});
}

CATCH_TEST_CASE("a key file says as whom its key may be used",
                "[transport][keys]") {
  const temp_folder folder;
  const auto leader = value_of(make_keys());
  for (const auto role : {key_role::coordinator, key_role::daemon,
                          key_role::client, key_role::reader}) {
    auto keys = value_of(make_keys());
    keys.role = role;
    keys.name = "some-name";
    keys.coordinator_key =
      role == key_role::coordinator ? keys.public_key : leader.public_key;
    const auto file = folder / std::string{to_string(role)};
    value_of(write_keys(keys, file));
    CATCH_CHECK(content_of(file).starts_with("graphmill-keys 2\n"));
    const auto read = value_of(read_keys(file));
    CATCH_CHECK(read.role == role);
    CATCH_CHECK(read.name == "some-name");
    CATCH_CHECK(read.public_key == keys.public_key);
    CATCH_CHECK(read.secret_key == keys.secret_key);
    CATCH_CHECK(read.coordinator_key == keys.coordinator_key);
  }
  const auto old_file = folder / "old";
  value_of(write_keys(leader, old_file));
  CATCH_CHECK(content_of(old_file).starts_with("graphmill-keys 1\n"));
  CATCH_CHECK(value_of(read_keys(old_file)).role == key_role::all);
}

CATCH_TEST_CASE("a key file with a role that makes no sense is refused",
                "[transport][keys]") {
  const temp_folder folder;
  const auto file = folder / "key";
  const auto keys = value_of(make_keys());
  const auto other = value_of(make_keys()).public_key;
  const auto text_with = [&keys](const std::string& more) {
    return "graphmill-keys 2\n" + more + "public " + keys.public_key
           + "\nsecret " + keys.secret_key + "\n";
  };
  const auto sound =
    text_with("role client\nname alice\ncoordinator " + other + "\n");
  overwrite(file, sound);
  value_of(read_keys(file));
  for (const auto& more :
       {std::string{}, "role all\nname alice\ncoordinator " + other + "\n",
        "name alice\ncoordinator " + other + "\n",
        "role client\ncoordinator " + other + "\n",
        "role client\nname a b\ncoordinator " + other + "\n",
        std::string{"role client\nname alice\n"},
        "role client\nname alice\ncoordinator " + keys.public_key + "\n",
        "role coordinator\nname alice\ncoordinator " + other + "\n",
        "role client\nname alice\ncoordinator " + std::string(40, ' ')
          + "\n"}) {
    overwrite(file, text_with(more));
    CATCH_CHECK(error_of(read_keys(file)).code == ec::invalid_data);
  }
  CATCH_INFO("seed 23");
  std::mt19937_64 random{23};
  for (int i = 0; i < 500; ++i) {
    auto broken = sound;
    broken.resize(1 + random() % sound.size());
    broken[random() % broken.size()] = static_cast<char>(random());
    overwrite(file, broken);
    if (const auto read = read_keys(file))
      CATCH_CHECK(read.value().public_key == keys.public_key);
  }
}
