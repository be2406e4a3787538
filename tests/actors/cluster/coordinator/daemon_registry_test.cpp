#include "actors/cluster/coordinator/members/daemon_registry.hpp"
#include "partition/dataset/shard.hpp"
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
  const daemon_registry cluster{offer({0})};
  CATCH_CHECK(cluster.check(peer("b", "1", "tcp://b"), offer({1})));
  auto other = offer({1});
  other.dataset = "cora";
  CATCH_CHECK(error_of(cluster.check(peer("b", "1", "tcp://b"), other))
                .message.find("\"cora\"")
              != std::string::npos);
  other = offer({1});
  other.part_digests[1] = "z";
  CATCH_CHECK(error_of(cluster.check(peer("b", "1", "tcp://b"), other))
                .message.find("part 1")
              != std::string::npos);
  other = offer({1});
  other.part_digests.push_back("w");
  CATCH_CHECK(error_of(cluster.check(peer("b", "1", "tcp://b"), other))
                .message.find("3 parts")
              != std::string::npos);
}

CATCH_TEST_CASE("a refusal tells no digest but the front of what was sent",
                "[cluster]") {
  auto own = offer({0});
  own.dataset_digest = std::string(32, 'a');
  own.part_digests = {std::string(32, 'b'), std::string(32, 'c')};
  const daemon_registry cluster{own};
  auto guess = own;
  guess.dataset_digest = "0123456789abcdef0123456789abcdef";
  auto said = error_of(cluster.check(peer("b", "1", "tcp://b"), guess)).message;
  CATCH_CHECK(said.find("012345678") != std::string::npos);
  CATCH_CHECK(said.find("0123456789abcdef") == std::string::npos);
  CATCH_CHECK(said.find("aaaa") == std::string::npos);
  guess = own;
  guess.part_digests[1] = "fedcba9876543210fedcba9876543210";
  said = error_of(cluster.check(peer("b", "1", "tcp://b"), guess)).message;
  CATCH_CHECK(said.find("fedcba987") != std::string::npos);
  CATCH_CHECK(said.find("fedcba9876543210") == std::string::npos);
  CATCH_CHECK(said.find("cccc") == std::string::npos);
}

CATCH_TEST_CASE("consumers of feeds have neither parts nor slots, and are few",
                "[cluster]") {
  daemon_registry cluster{offer({0})};
  auto nothing = offer({});
  nothing.slots = 0;
  const auto consumer = [](std::size_t number) {
    const auto name = "b/feed-" + std::to_string(number);
    auto out = peer(name, name, "tcp://" + name);
    out.holder = {key_role::daemon, "b", "key of b"};
    return out;
  };
  CATCH_CHECK(error_of(cluster.check(consumer(0), offer({1}))).code
              == ec::invalid_argument);
  CATCH_CHECK(error_of(cluster.check(consumer(0), offer({}))).code
              == ec::invalid_argument);
  for (std::size_t n = 0; n < daemon_registry::consumers_of_key; ++n) {
    CATCH_REQUIRE(cluster.check(consumer(n), nothing));
    cluster.join(consumer(n), nothing);
  }
  CATCH_CHECK(error_of(cluster.check(consumer(100), nothing)).code
              == ec::unavailable);
  CATCH_CHECK(cluster.check(consumer(0), nothing)); // It registers again.
  auto other = consumer(100);
  other.holder = {key_role::daemon, "c", "key of c"};
  CATCH_CHECK(cluster.check(other, nothing));
  cluster.leave("b/feed-0", "b/feed-0");
  CATCH_CHECK(cluster.check(consumer(100), nothing));
}

CATCH_TEST_CASE("only a living daemon of the same name is a rival",
                "[cluster]") {
  daemon_registry cluster{offer({0})};
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

CATCH_TEST_CASE("an address is its daemon's until that is lost", "[cluster]") {
  daemon_registry cluster{offer({0})};
  auto holder = peer("b", "1", "tcp://b:1");
  holder.holder = {key_role::daemon, "b", "key of b"};
  cluster.join(holder, offer({1}));
  CATCH_CHECK(cluster.key_of("b") == "key of b");
  CATCH_CHECK(cluster.key_of("c").empty());
  CATCH_CHECK_FALSE(cluster.tenant_of(peer("b", "2", "tcp://b:1")));
  CATCH_CHECK_FALSE(cluster.tenant_of(peer("c", "2", "tcp://c:1")));
  const auto tenant = cluster.tenant_of(peer("c", "2", "tcp://b:1"));
  CATCH_REQUIRE(tenant);
  CATCH_CHECK(tenant->status.name == "b");
  CATCH_CHECK(cluster.lost("tcp://b:1", "silent"));
  CATCH_CHECK_FALSE(cluster.tenant_of(peer("c", "2", "tcp://b:1")));
  // The one key of all is nobody's.
  auto anybody = peer("d", "3", "tcp://d:1");
  anybody.holder.key = "key of all";
  cluster.join(anybody, offer({1}));
  CATCH_CHECK(cluster.key_of("d").empty());
}

CATCH_TEST_CASE("a daemon whose data are damaged is not offered", "[cluster]") {
  daemon_registry cluster{offer({0})};
  cluster.join(peer("a", "1", "tcp://a"), offer({0}));
  auto damaged = offer({1});
  damaged.fault = "features.npy is damaged";
  cluster.join(peer("b", "2", "tcp://b"), damaged);
  CATCH_CHECK(cluster.offers().size() == 1);
  CATCH_CHECK(cluster.statuses()[1].state == daemon_state::damaged);
  CATCH_CHECK(cluster.statuses()[1].note == "features.npy is damaged");
  cluster.lost("tcp://b", "silent");
  CATCH_CHECK(cluster.statuses()[1].note == "silent");
  cluster.back("tcp://b", "2");
  CATCH_CHECK(cluster.statuses()[1].state == daemon_state::damaged);
  cluster.join(peer("b", "2", "tcp://b"), offer({1})); // Mended.
  CATCH_CHECK(cluster.offers().size() == 2);
  CATCH_CHECK(cluster.statuses()[1].note.empty());
}

CATCH_TEST_CASE(
  "a daemon that has lied is not offered until it is started anew",
  "[cluster]") {
  daemon_registry cluster{offer({0})};
  cluster.join(peer("a", "1", "tcp://a"), offer({0}));
  cluster.join(peer("b", "2", "tcp://b"), offer({1}));
  cluster.distrust("b", "it lied");
  cluster.distrust("nobody", "it lied");
  CATCH_CHECK(cluster.is_distrusted("b"));
  CATCH_CHECK_FALSE(cluster.is_distrusted("a"));
  CATCH_CHECK_FALSE(cluster.is_distrusted("nobody"));
  CATCH_CHECK(cluster.offers().size() == 1);
  CATCH_CHECK(cluster.statuses()[1].state == daemon_state::damaged);
  CATCH_CHECK(cluster.statuses()[1].note == "it lied");
  // Nothing that it says of itself changes that.
  cluster.join(peer("b", "2", "tcp://b"), offer({1}));
  CATCH_CHECK(cluster.statuses()[1].note == "it lied");
  cluster.lost("tcp://b", "silent");
  cluster.back("tcp://b", "2");
  CATCH_CHECK(cluster.statuses()[1].state == daemon_state::damaged);
  cluster.lost("tcp://b", "silent");
  cluster.distrust("b", "it lied again");
  CATCH_CHECK(cluster.statuses()[1].state == daemon_state::lost);
  cluster.join(peer("b", "3", "tcp://b"), offer({1}));
  CATCH_CHECK(cluster.offers().size() == 2);
}

CATCH_TEST_CASE("one daemon does not decide who leads, but all others do",
                "[cluster]") {
  daemon_registry cluster{offer({0})};
  cluster.join(peer("self", "0", "tcp://self"), offer({0}));
  CATCH_CHECK_FALSE(cluster.nobody_obeys("self"));
  CATCH_CHECK_FALSE(cluster.is_disobeyed());
  cluster.join(peer("a", "1", "tcp://a"), offer({0}));
  cluster.disobeys("a", "it says so");
  CATCH_CHECK(cluster.is_disobeyed());
  CATCH_CHECK(cluster.statuses()[0].state == daemon_state::damaged);
  CATCH_CHECK(cluster.statuses()[0].note == "it says so");
  CATCH_CHECK_FALSE(cluster.nobody_obeys("self")); // It is the only one.
  cluster.join(peer("b", "2", "tcp://b"), offer({1}));
  CATCH_CHECK_FALSE(cluster.nobody_obeys("self"));
  cluster.disobeys("b", "it says so");
  cluster.disobeys("nobody", "it says so");
  CATCH_CHECK(cluster.nobody_obeys("self"));
  cluster.lost("tcp://b", "silent"); // Then it says nothing.
  CATCH_CHECK_FALSE(cluster.nobody_obeys("self"));
  cluster.back("tcp://b", "2");
  CATCH_CHECK(cluster.nobody_obeys("self"));
  auto nothing = offer({});
  nothing.slots = 0;
  cluster.join(peer("a/feed-1", "4", "tcp://f"), nothing); // It has no voice.
  CATCH_CHECK(cluster.nobody_obeys("self"));
  cluster.disobeys("a/feed-1", "it lies");
  cluster.join(peer("b", "3", "tcp://b"), offer({1})); // Started again.
  CATCH_CHECK_FALSE(cluster.nobody_obeys("self"));
  CATCH_CHECK(cluster.offers().size() == 2);
  cluster.join(peer("a", "5", "tcp://a"), offer({0}));
  CATCH_CHECK_FALSE(cluster.is_disobeyed()); // Whatever a consumer says.
  cluster.lost("tcp://f", "silent");
  CATCH_CHECK(cluster.forget("a").empty()); // It is there.
  CATCH_CHECK(cluster.forget("a/feed-1") == "tcp://f");
  CATCH_CHECK(cluster.forget("a/feed-1").empty());
}

CATCH_TEST_CASE("lost and drained daemons are not offered", "[cluster]") {
  daemon_registry cluster{offer({0})};
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

CATCH_TEST_CASE("who has left does not come back", "[cluster]") {
  daemon_registry cluster{offer({0})};
  const auto leave = [&cluster](const std::string& incarnation) {
    cluster.join(peer("b", incarnation, "tcp://b"), offer({1}));
    return cluster.leave("b", incarnation);
  };
  CATCH_CHECK(leave("1"));
  const auto first = peer("b", "1", "tcp://b");
  const auto said = error_of(cluster.check(first, offer({1})));
  CATCH_CHECK(said.code == ec::unavailable); // Not for good, to who is ending.
  CATCH_CHECK(said.message == "daemon \"b\" has left the cluster");
  // The next process of that name does.
  CATCH_CHECK(cluster.check(peer("b", "2", "tcp://b"), offer({1})));
  // Nobody fills the memory by coming and going.
  for (std::size_t i = 0; i < daemon_registry::most_daemons; ++i)
    CATCH_CHECK(leave(std::to_string(2 + i)));
  CATCH_CHECK(cluster.check(first, offer({1})));
  CATCH_CHECK_FALSE(cluster.check(peer("b", "2", "tcp://b"), offer({1})));
}

CATCH_TEST_CASE("a daemon at the address of another replaces it", "[cluster]") {
  daemon_registry cluster{offer({0})};
  cluster.join(peer("b", "1", "tcp://b"), offer({1}));
  cluster.join(peer("c", "2", "tcp://b"), offer({1}));
  CATCH_REQUIRE(cluster.statuses().size() == 1);
  CATCH_CHECK(cluster.statuses()[0].name == "c");
  // And one that comes back elsewhere leaves an address.
  CATCH_CHECK(cluster.join(peer("c", "3", "tcp://b"), offer({1})).empty());
  CATCH_CHECK(cluster.join(peer("c", "4", "tcp://d"), offer({1}))
              == std::vector<std::string>{"tcp://b"});
}

CATCH_TEST_CASE("an incarnation that was replaced is outdated", "[cluster]") {
  daemon_registry cluster{offer({0})};
  cluster.join(peer("b", "1", "tcp://b"), offer({1}));
  CATCH_CHECK_FALSE(cluster.outdated("tcp://b", "1"));
  CATCH_CHECK(cluster.outdated("tcp://b", "2"));
  CATCH_CHECK_FALSE(cluster.outdated("tcp://c", "2"));
}

CATCH_TEST_CASE("what a run could use besides is known", "[cluster]") {
  daemon_registry cluster{offer({0})};
  cluster.join(peer("a", "1", "tcp://a"), offer({0}));
  cluster.join(peer("b", "2", "tcp://b"), offer({1}));
  cluster.join(peer("c", "3", "tcp://c"), offer({1}));
  value_of(cluster.drain("b", true));
  cluster.lost("tcp://c", std::string(9000, 'x'));
  CATCH_CHECK(cluster.offers().size() == 1);
  CATCH_CHECK(cluster.offers(daemon_state::draining).size() == 2);
  CATCH_CHECK(cluster.offers(daemon_state::lost).size() == 3);
  CATCH_CHECK(cluster.names_of(daemon_state::draining)
              == std::vector<std::string>{"b"});
  CATCH_CHECK(cluster.statuses()[2].note.size() < 1000);
}

CATCH_TEST_CASE("a daemon that leaves takes nothing more", "[cluster]") {
  daemon_registry cluster{offer({0})};
  cluster.join(peer("a", "1", "tcp://a"), offer({0}));
  cluster.begin_to_leave("a");
  cluster.begin_to_leave("nobody");
  CATCH_CHECK(cluster.offers().empty());
  CATCH_CHECK(cluster.statuses()[0].state == daemon_state::draining);
  // Its successor is another.
  cluster.join(peer("a", "2", "tcp://a"), offer({0}));
  CATCH_CHECK(cluster.offers().size() == 1);
}

CATCH_TEST_CASE("a cluster takes so many daemons and no more", "[cluster]") {
  daemon_registry cluster{offer({0})};
  const auto name = [](std::size_t i) { return fmt::format("d{}", i); };
  for (std::size_t i = 0; i < daemon_registry::most_daemons; ++i) {
    const auto next = peer(name(i), "1", "tcp://" + name(i));
    value_of(cluster.check(next, offer({1})));
    cluster.join(next, offer({1}));
  }
  const auto more = peer("more", "1", "tcp://more");
  const auto refused = error_of(cluster.check(more, offer({1})));
  CATCH_CHECK(refused.message.find("as many as it takes") != std::string::npos);
  // That is there already.
  value_of(cluster.check(peer("d7", "1", "tcp://d7"), offer({1})));
  // Who has been lost for longest makes room.
  cluster.lost("tcp://d9", "silent");
  cluster.lost("tcp://d3", "silent");
  value_of(cluster.check(more, offer({1})));
  CATCH_CHECK(cluster.join(more, offer({1}))
              == std::vector<std::string>{"tcp://d9"});
  CATCH_CHECK(cluster.statuses().size() == daemon_registry::most_daemons);
  CATCH_CHECK(error_of(cluster.find("d9")).code == ec::not_found);
  value_of(cluster.find("d3"));
  auto long_host = offer({1});
  long_host.host = std::string(daemon_registry::longest_host + 1, 'h');
  CATCH_CHECK(
    error_of(cluster.check(peer("d7", "1", "tcp://d7"), long_host)).code
    == ec::invalid_argument);
}

CATCH_TEST_CASE("a daemon can join with all parts that there may be",
                "[cluster]") {
  auto full = offer({});
  const std::string digest(32, 'f'); // Of 128 bits.
  full.part_digests.assign(most_parts, digest);
  for (part_id p = 0; p < most_parts; ++p)
    full.parts.push_back(p);
  const auto message = encode(full);
  CATCH_CHECK(message.body.size() < max_frame_bytes);
  CATCH_CHECK(value_of(decode_join_request(message)).parts == full.parts);
}
