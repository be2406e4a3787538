#include "actors/cluster/membership.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

using namespace graphmill;
using namespace graphmill::test;

namespace {

join_request offer(std::vector<part_id> parts) {
  return {"wordnet", "abc", {"x", "y"}, std::move(parts), 1, "host"};
}

peer_identity peer(const std::string& name, const std::string& incarnation,
                   const std::string& address) {
  return {name, incarnation, address};
}

} // namespace

CATCH_TEST_CASE("a daemon of another dataset is refused by what differs",
                "[cluster]") {
  const membership cluster{offer({0})};
  CATCH_CHECK(cluster.check("b", offer({1})));
  auto other = offer({1});
  other.dataset = "cora";
  CATCH_CHECK(error_of(cluster.check("b", other)).message.find("\"cora\"")
              != std::string::npos);
  other = offer({1});
  other.part_digests[1] = "z";
  CATCH_CHECK(error_of(cluster.check("b", other)).message.find("part 1")
              != std::string::npos);
  other = offer({1});
  other.part_digests.push_back("w");
  CATCH_CHECK(error_of(cluster.check("b", other)).message.find("3 parts")
              != std::string::npos);
}

CATCH_TEST_CASE("only a living daemon of the same name is a rival",
                "[cluster]") {
  membership cluster{offer({0})};
  cluster.join(peer("b", "1", "tcp://b:1"), offer({1}));
  CATCH_CHECK_FALSE(cluster.rival_of(peer("b", "1", "tcp://b:1")));
  CATCH_CHECK(cluster.rival_of(peer("b", "2", "tcp://b:2")));
  CATCH_CHECK_FALSE(cluster.rival_of(peer("c", "2", "tcp://b:2")));
  CATCH_CHECK(cluster.lost("tcp://b:1", "silent"));
  CATCH_CHECK_FALSE(cluster.lost("tcp://b:1", "again"));
  CATCH_CHECK_FALSE(cluster.rival_of(peer("b", "2", "tcp://b:2")));
  cluster.join(peer("b", "2", "tcp://b:2"), offer({1}));
  CATCH_CHECK(cluster.statuses().size() == 1);
  CATCH_CHECK(cluster.offers().size() == 1);
}

CATCH_TEST_CASE("lost and drained daemons are not offered", "[cluster]") {
  membership cluster{offer({0})};
  cluster.join(peer("a", "1", "tcp://a"), offer({0}));
  cluster.join(peer("b", "2", "tcp://b"), offer({1}));
  cluster.lost("tcp://b", "silent");
  CATCH_CHECK(cluster.offers().size() == 1);
  CATCH_CHECK(cluster.statuses()[1].note == "silent");
  CATCH_CHECK_FALSE(cluster.back("tcp://b", "3")); // Another one.
  CATCH_CHECK(cluster.back("tcp://b", "2"));
  CATCH_CHECK(cluster.offers().size() == 2);
  value_of(cluster.drain("b", true));
  CATCH_CHECK(cluster.offers().size() == 1);
  // Started anew, it is drained still.
  cluster.join(peer("b", "4", "tcp://b"), offer({1}));
  CATCH_CHECK(cluster.offers().size() == 1);
  value_of(cluster.drain("b", false));
  CATCH_CHECK(cluster.offers().size() == 2);
  CATCH_CHECK(error_of(cluster.drain("q", true)).message.find("a, b")
              != std::string::npos);
  value_of(cluster.drain("b", true));
  cluster.lost("tcp://b", "silent");
  cluster.back("tcp://b", "4");
  CATCH_CHECK(cluster.offers().size() == 1);  // Drained still.
  CATCH_CHECK_FALSE(cluster.leave("b", "2")); // One that was there before.
  CATCH_CHECK(cluster.leave("b", "4"));
  CATCH_CHECK(cluster.statuses().size() == 1);
}

CATCH_TEST_CASE("a daemon at the address of another replaces it", "[cluster]") {
  membership cluster{offer({0})};
  cluster.join(peer("b", "1", "tcp://b"), offer({1}));
  cluster.join(peer("c", "2", "tcp://b"), offer({1}));
  CATCH_REQUIRE(cluster.statuses().size() == 1);
  CATCH_CHECK(cluster.statuses()[0].name == "c");
}

CATCH_TEST_CASE("an incarnation that was replaced is outdated", "[cluster]") {
  membership cluster{offer({0})};
  cluster.join(peer("b", "1", "tcp://b"), offer({1}));
  CATCH_CHECK_FALSE(cluster.outdated("tcp://b", "1"));
  CATCH_CHECK(cluster.outdated("tcp://b", "2"));
  CATCH_CHECK_FALSE(cluster.outdated("tcp://c", "2"));
}
