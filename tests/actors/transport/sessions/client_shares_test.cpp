#include "actors/transport/sessions/address.hpp"
#include "actors/transport/sessions/client_shares.hpp"
#include "tests/support/catch.hpp"

#include <cstddef>
#include <string>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

const session_time beginning{1h};

std::string client_named(std::size_t number) {
  return "client-" + std::to_string(number);
}

/// How many newcomers of a host come in until there is no place for one.
std::size_t fill(client_shares& shares, const std::string& host) {
  std::size_t count = 0;
  while (shares.has_place(host, host + std::to_string(count)))
    shares.came(beginning, host, host + std::to_string(count++));
  return count;
}

/// How many questions of a client begin at once, each answered at once.
std::size_t burst(client_shares& shares, session_time now,
                  const std::string& host, const std::string& client) {
  std::size_t count = 0;
  while (!shares.begin(now, client, method::status, class_of(method::status))) {
    shares.ended(now, host, client, class_of(method::status));
    ++count;
  }
  return count;
}

} // namespace

CATCH_TEST_CASE("a bucket lets a burst through, and then its pace",
                "[transport][limits]") {
  token_bucket bucket{10, 3};
  auto now = beginning;
  for (int i = 0; i < 3; ++i)
    bucket.take(now);
  CATCH_CHECK(bucket.level(now) == 0);
  bucket.take(now); // No debt.
  now += 500ms;
  CATCH_CHECK(bucket.level(now) == 3);
  CATCH_CHECK(bucket.is_full(now));
  bucket.take(now);
  CATCH_CHECK_FALSE(bucket.is_full(now));
  CATCH_CHECK(bucket.level(now + 1h) == 3);
}

CATCH_TEST_CASE("however many places a host takes, others find some",
                "[transport][limits]") {
  client_shares shares{{}, 4096};
  // 3,584 are open; two for each that stays free.
  CATCH_CHECK(fill(shares, "10.0.0.1") == 2390);
  CATCH_CHECK(fill(shares, "10.0.0.2") == 796);
  CATCH_CHECK(fill(shares, "10.0.0.3") > 200);
  CATCH_CHECK(shares.has_place("10.0.0.4", "anybody"));
  CATCH_CHECK_FALSE(shares.has_place("10.0.0.1", "anybody"));
}

CATCH_TEST_CASE("those whom we keep have a place when nobody else has",
                "[transport][limits]") {
  client_shares shares{{.places_per_free = 1000}, 16};
  CATCH_CHECK(fill(shares, "10.0.0.1") == 14);
  CATCH_CHECK_FALSE(shares.has_place("10.0.0.2", "member"));
  shares.keep("tcp://10.0.0.2:1", "member");
  CATCH_CHECK(shares.has_place("10.0.0.2", "member"));
  shares.keep("tcp://10.0.0.2:1", "successor");
  CATCH_CHECK_FALSE(shares.has_place("10.0.0.2", "member"));
  CATCH_CHECK(shares.has_place("10.0.0.2", "successor"));
  shares.unkeep("tcp://10.0.0.2:1");
  CATCH_CHECK_FALSE(shares.has_place("10.0.0.2", "successor"));
}

CATCH_TEST_CASE("the idlest client of a host gives up its place",
                "[transport][limits]") {
  client_shares shares{{}, 4096};
  const std::string host = "10.0.0.1";
  CATCH_CHECK_FALSE(shares.idlest(beginning, host));
  for (std::size_t i = 0; i < 4; ++i)
    shares.came(beginning + 100ms * static_cast<int>(i), host, client_named(i));
  CATCH_CHECK_FALSE(shares.idlest(beginning + 900ms, host));
  const auto now = beginning + 5s;
  CATCH_CHECK(shares.idlest(now, host) == client_named(0));
  CATCH_CHECK_FALSE(shares.idlest(now, "10.0.0.2"));
  CATCH_CHECK_FALSE(
    shares.begin(now, client_named(0), method::watch, class_of(method::watch)));
  CATCH_CHECK(shares.idlest(now, host) == client_named(1));
  shares.keep("tcp://10.0.0.1:1", client_named(1));
  CATCH_CHECK(shares.idlest(now, host) == client_named(2));
  shares.unconnected(client_named(3));
  CATCH_CHECK(shares.idlest(now, host) == client_named(3));
  shares.left(now, client_named(3));
  shares.left(now, client_named(2));
  CATCH_CHECK_FALSE(shares.idlest(now, host));
  shares.ended(now, host, client_named(0), class_of(method::watch));
  CATCH_CHECK_FALSE(shares.idlest(now, host)); // It had its answer just now.
  CATCH_CHECK(shares.idlest(now + 1s, host) == client_named(0));
}

CATCH_TEST_CASE("a client has so many requests under way, and its host more",
                "[transport][limits]") {
  const client_limits limits;
  client_shares shares{limits, 4096};
  const std::string host = "10.0.0.1";
  shares.came(beginning, host, client_named(0));
  for (int i = 0; i < 16; ++i)
    CATCH_CHECK_FALSE(shares.begin(beginning, client_named(0), method::watch,
                                   class_of(method::watch)));
  const auto refused = shares.begin(beginning, client_named(0), method::watch,
                                    class_of(method::watch));
  CATCH_REQUIRE(refused);
  CATCH_CHECK(refused->retry_after == limits.pause);
  CATCH_CHECK(refused->why.find("16") != std::string::npos);
  // Other classes, and what daemons ask of each other, are apart.
  CATCH_CHECK_FALSE(shares.begin(beginning, client_named(0), method::status,
                                 class_of(method::status)));
  for (int i = 0; i < 10'000; ++i)
    CATCH_REQUIRE_FALSE(shares.begin(beginning, client_named(0), method::sample,
                                     class_of(method::sample)));
  shares.ended(beginning, host, client_named(0), class_of(method::watch));
  CATCH_CHECK_FALSE(shares.begin(beginning, client_named(0), method::watch,
                                 class_of(method::watch)));
  // Its host, with as many clients as it takes.
  std::size_t begun = 16;
  for (std::size_t c = 1; c < 100; ++c) {
    shares.came(beginning, host, client_named(c));
    while (!shares.begin(beginning, client_named(c), method::watch,
                         class_of(method::watch)))
      ++begun;
  }
  CATCH_CHECK(begun == 512);
  shares.came(beginning, "10.0.0.2", "other");
  CATCH_CHECK_FALSE(
    shares.begin(beginning, "other", method::watch, class_of(method::watch)));
}

CATCH_TEST_CASE("what a client left under way still counts for its host",
                "[transport][limits]") {
  client_shares shares{{}, 4096};
  const std::string host = "10.0.0.1";
  std::size_t begun = 0;
  for (std::size_t c = 0; c < 100; ++c) {
    shares.came(beginning, host, client_named(c));
    for (int i = 0; i < 16; ++i)
      begun += !shares.begin(beginning, client_named(c), method::watch,
                             class_of(method::watch));
    shares.left(beginning, client_named(c));
  }
  CATCH_CHECK(begun == 512);
  shares.ended(beginning, host, client_named(0), class_of(method::watch));
  shares.came(beginning, host, client_named(100));
  CATCH_CHECK_FALSE(shares.begin(beginning, client_named(100), method::watch,
                                 class_of(method::watch)));
  CATCH_CHECK(shares.begin(beginning, client_named(100), method::watch,
                           class_of(method::watch)));
}

CATCH_TEST_CASE("a script of a hundred submits waits for nothing",
                "[transport][limits]") {
  client_shares shares{{}, 4096};
  for (std::size_t c = 0; c < 100; ++c) {
    shares.came(beginning, "10.0.0.1", client_named(c));
    CATCH_REQUIRE_FALSE(shares.begin(beginning, client_named(c), method::submit,
                                     class_of(method::submit)));
    shares.ended(beginning, "10.0.0.1", client_named(c),
                 class_of(method::submit));
    shares.left(beginning, client_named(c));
  }
  shares.came(beginning, "10.0.0.1", "one");
  CATCH_CHECK(burst(shares, beginning, "10.0.0.1", "one") == 200);
  CATCH_CHECK(burst(shares, beginning, "10.0.0.1", "one") == 0);
  CATCH_CHECK(burst(shares, beginning + 2s, "10.0.0.1", "one") == 100);
}

CATCH_TEST_CASE("who asks little is served however much its host asks",
                "[transport][limits]") {
  client_shares shares{{}, 4096};
  std::size_t served = 0;
  for (std::size_t c = 0; c < 20; ++c) {
    shares.came(beginning, "10.0.0.1", client_named(c));
    served += burst(shares, beginning, "10.0.0.1", client_named(c));
  }
  // What the host may at once, and what each client may however that stands.
  CATCH_CHECK(served >= 2000);
  CATCH_CHECK(served <= 2000 + 20 * 8);
  shares.came(beginning, "10.0.0.1", "modest");
  CATCH_CHECK(burst(shares, beginning, "10.0.0.1", "modest") == 8);
}

CATCH_TEST_CASE("refusals of a host are told together", "[transport][limits]") {
  client_shares shares{{}, 4096};
  shares.came(beginning, "10.0.0.1", "one");
  burst(shares, beginning, "10.0.0.1", "one"); // Its last one is refused.
  for (int i = 0; i < 10; ++i)
    CATCH_CHECK(
      shares.begin(beginning, "one", method::status, class_of(method::status))
        ->times
      == 0);
  const auto later = beginning + 1s;
  for (int i = 0; i < 50; ++i) {
    CATCH_REQUIRE_FALSE(
      shares.begin(later, "one", method::status, class_of(method::status)));
    shares.ended(later, "10.0.0.1", "one", class_of(method::status));
  }
  CATCH_CHECK(
    shares.begin(later, "one", method::status, class_of(method::status))->times
    == 11);
}

CATCH_TEST_CASE("hosts that want nothing any more are forgotten",
                "[transport][limits]") {
  client_shares shares{{}, 4096};
  for (std::size_t i = 0; i < 10'000; ++i) {
    const auto host = "host-" + std::to_string(i);
    shares.came(beginning, host, client_named(i));
    shares.left(beginning, client_named(i));
    CATCH_REQUIRE(shares.hosts() <= 64);
  }
}

CATCH_TEST_CASE("addresses that one machine may have are one host",
                "[transport][limits]") {
  CATCH_CHECK(host_group("127.0.0.1") == "loopback");
  CATCH_CHECK(host_group("127.8.9.1") == "loopback");
  CATCH_CHECK(host_group("::1") == "loopback");
  CATCH_CHECK(host_group("::ffff:127.0.0.1") == "loopback");
  CATCH_CHECK(host_group("10.0.0.1") == "10.0.0.1");
  CATCH_CHECK(host_group("::ffff:10.0.0.1") == "10.0.0.1");
  CATCH_CHECK(host_group("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::");
  CATCH_CHECK(host_group("fe80::1%eth0") == "fe80::");
  CATCH_CHECK(host_group("") == "");
}
