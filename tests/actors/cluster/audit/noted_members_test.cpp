#include "actors/cluster/audit/noted_members.hpp"

#include "actors/transport/sockets/connections/members.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

const std::filesystem::path changed_file{"/home/a/graphmill.members"};

key_holder with_name(key_role role, const std::string& name) {
  return {role, name, name + std::string(40 - name.size(), 'k')};
}

const std::vector leader_alone{with_name(key_role::coordinator, "d0")};
const std::vector leader_and_alice{leader_alone[0],
                                   with_name(key_role::client, "alice")};

} // namespace

CATCH_TEST_CASE("a coordinator notes what has changed before it came, once",
                "[cluster][audit][members]") {
  const temp_folder folder;
  noted_members first{folder.path()};
  CATCH_CHECK(value_of(first.change_to(leader_alone, changed_file)).empty());
  value_of(first.keep());
  CATCH_CHECK(value_of(read_members(first.file())) == leader_alone);
  CATCH_CHECK(value_of(first.change_to(leader_and_alice, changed_file)).size()
              == 1);
  // Killed before it could keep that: the next one tells it again rather than
  // nobody.
  noted_members second{folder.path()};
  const auto told = value_of(second.change_to(leader_and_alice, changed_file));
  CATCH_REQUIRE(told.size() == 1);
  CATCH_CHECK(told[0].who == changed_file.string());
  CATCH_CHECK(told[0].what == "member added");
  value_of(second.keep());
  noted_members third{folder.path()};
  CATCH_CHECK(
    value_of(third.change_to(leader_and_alice, changed_file)).empty());
}

CATCH_TEST_CASE(
  "what a coordinator has left damaged is refused, and begun anew",
  "[cluster][audit][members]") {
  const temp_folder folder;
  noted_members noted{folder.path()};
  std::ofstream{noted.file()} << "nonsense\n";
  CATCH_CHECK(error_of(noted.change_to(leader_alone, changed_file)).code
              == ec::invalid_data);
  value_of(noted.keep());
  CATCH_CHECK(value_of(noted.change_to(leader_and_alice, changed_file)).size()
              == 1);
  noted_members next{folder.path()};
  CATCH_CHECK(value_of(next.change_to(leader_alone, changed_file)).empty());
}
