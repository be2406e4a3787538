#include "actors/cluster/audit/audit_limits.hpp"
#include "actors/cluster/audit/audit_log.hpp"
#include "actors/cluster/audit/member_changes.hpp"
#include "messages/wire/cluster.hpp"
#include "partition/files/json_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

const std::filesystem::path some_members_file{"/home/a/graphmill.members"};

/// A key of the right length that says whose it is.
key_holder holder_with(key_role role, const std::string& name,
                       const std::string& key) {
  return {role, name, key + std::string(40 - key.size(), '-')};
}

const auto first_holder = holder_with(key_role::coordinator, "d0", "d0");
const auto old_alice = holder_with(key_role::client, "alice", "old");
const auto new_alice = holder_with(key_role::client, "alice", "new");
const auto bob_holder = holder_with(key_role::client, "bob", "bob");
const auto bob_reader = holder_with(key_role::reader, "bob", "bob");

} // namespace

CATCH_TEST_CASE("each member that comes or goes is noted",
                "[cluster][audit][members]") {
  const auto come = audit_of_members(
    {first_holder}, {bob_holder, first_holder, old_alice}, some_members_file);
  CATCH_REQUIRE(come.size() == 2);
  for (const auto& entry : come) {
    CATCH_CHECK(entry.who == some_members_file.string());
    CATCH_CHECK(entry.what == "member added");
    CATCH_CHECK(entry.host.empty());
    CATCH_CHECK(entry.done);
    CATCH_CHECK(entry.times == 1);
  }
  CATCH_CHECK(come[0].object == "client \"bob\", key " + bob_holder.key);
  CATCH_CHECK(come[1].object == "client \"alice\", key " + old_alice.key);
  const auto gone =
    audit_of_members({old_alice, first_holder, new_alice},
                     {new_alice, first_holder}, some_members_file);
  CATCH_REQUIRE(gone.size() == 1);
  CATCH_CHECK(gone[0].what == "member removed");
  CATCH_CHECK(gone[0].object == "client \"alice\", key " + old_alice.key);
}

CATCH_TEST_CASE("another role of a key and another key of a holder are changes",
                "[cluster][audit][members]") {
  const auto entries =
    audit_of_members({first_holder, old_alice, bob_holder},
                     {bob_reader, new_alice, first_holder}, some_members_file);
  CATCH_REQUIRE(entries.size() == 2);
  CATCH_CHECK(entries[0].what == "member changed");
  CATCH_CHECK(entries[0].object
              == "read-only client \"bob\" instead of client \"bob\", key "
                   + bob_holder.key);
  CATCH_CHECK(entries[1].what == "member changed");
  CATCH_CHECK(entries[1].object
              == "client \"alice\", key " + new_alice.key + " instead of "
                   + old_alice.key);
  // Of two new keys one is in the place of the old one.
  const auto third = holder_with(key_role::client, "alice", "third");
  const auto more =
    audit_of_members({first_holder, old_alice},
                     {first_holder, new_alice, third}, some_members_file);
  CATCH_REQUIRE(more.size() == 2);
  CATCH_CHECK(more[0].what == "member changed");
  CATCH_CHECK(more[1].what == "member added");
  CATCH_CHECK(more[1].object == "client \"alice\", key " + third.key);
}

CATCH_TEST_CASE("members who stay are not noted, whatever their order",
                "[cluster][audit][members]") {
  CATCH_CHECK(audit_of_members({first_holder, old_alice, new_alice, bob_holder},
                               {bob_holder, new_alice, old_alice, first_holder},
                               some_members_file)
                .empty());
}

CATCH_TEST_CASE("a members file that changes nothing is noted with the reason",
                "[cluster][audit][members]") {
  const auto entry = audit_of_refused_members(
    fail(ec::permission, "others can write the members"), some_members_file);
  CATCH_CHECK(entry.who == some_members_file.string());
  CATCH_CHECK(entry.what == "members refused");
  CATCH_CHECK_FALSE(entry.done);
  CATCH_CHECK(entry.why == "others can write the members");
  CATCH_CHECK(entry.code == "permission");
}

CATCH_TEST_CASE("no file of members fills the audit log",
                "[cluster][audit][members]") {
  const auto many = [](const std::string& whose) {
    std::vector<key_holder> out{first_holder};
    for (std::size_t i = 1; i < most_members; ++i)
      out.push_back(holder_with(
        key_role::client, std::string(100, 'n') + whose + std::to_string(i),
        whose + std::to_string(i)));
    return out;
  };
  const auto entries =
    audit_of_members(many("a"), many("b"), some_members_file);
  CATCH_REQUIRE(entries.size() == audit_limits::changes + 1);
  CATCH_CHECK(entries.back().times
              == 2 * (most_members - 1) - audit_limits::changes);
  const temp_folder folder;
  {
    audit_log log{folder.path(), [](const std::string&) {}};
    log.add(entries);
  }
  const auto text =
    value_of(read_text(folder / "audit.jsonl", std::size_t{1} << 26));
  CATCH_CHECK(text.size() < (std::size_t{2} << 20));
  CATCH_CHECK(
    static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'))
    == entries.size());
  const auto line =
    value_of(parse_json(text.substr(0, text.find('\n')), "the first line"));
  CATCH_CHECK(line["who"].get<std::string>() == some_members_file.string());
  CATCH_CHECK(line["result"].get<std::string>() == "ok");
}
