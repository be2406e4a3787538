#include "actors/cluster/coordinator/members/cluster_daemons.hpp"

#include "tests/actors/cluster/coordinator/fake_port.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

struct joining_daemons {
  joining_daemons() {
    config.offer = {"wordnet", "abc", {"x"}, {0}, 1, "host"};
    config.log = std::make_shared<spdlog::logger>(
      "lead", std::make_shared<spdlog::sinks::null_sink_mt>());
    daemons.emplace(
      port, notices(), config,
      cluster_daemons::hooks{
        [this](const std::string& name, const error&) { note("lost", name); },
        [this](const peer_identity& who) { note("again", who.name); },
        [this](const std::string& name, bool anew) {
          note(anew ? "new" : "joined", name);
        },
        [] {},
        [this](const std::string& name) {
          return name == needed ? std::vector<std::string>{"run"}
                                : std::vector<std::string>{};
        }});
  }

  cluster_notices& notices() {
    if (!notices_)
      notices_.emplace(config, "lead");
    return *notices_;
  }

  void note(const std::string& what, const std::string& name) {
    told.push_back(what + " " + name);
  }

  static peer_identity who(const std::string& name,
                           const std::string& incarnation,
                           const std::string& address) {
    return {name, incarnation, address};
  }

  /// @returns where the answer will be.
  std::shared_ptr<std::optional<result<payload>>>
  join(const peer_identity& from) {
    return join(from, config.offer);
  }

  std::shared_ptr<std::optional<result<payload>>>
  join(const peer_identity& from, const join_request& offer) {
    auto out = std::make_shared<std::optional<result<payload>>>();
    incoming_request request;
    request.from = from;
    request.data = encode(offer);
    request.reply =
      responder{[out](result<payload> came) { *out = std::move(came); }};
    daemons->join(request);
    return out;
  }

  void meet(const peer_identity& whom) {
    peer_event event;
    event.change = peer_event::kind::up;
    event.identity = whom;
    daemons->on_peer(event);
  }

  coordinator_config config;
  fake_port port;
  std::string needed; ///< A daemon that runs need.
  std::vector<std::string> told;
  std::optional<cluster_notices> notices_;
  std::optional<cluster_daemons> daemons;
};

constexpr const char* at_a = "tcp://127.0.0.1:7001";
constexpr const char* at_b = "tcp://127.0.0.1:7002";

} // namespace

CATCH_TEST_CASE("a daemon is in the cluster once it was reached", "[leading]") {
  joining_daemons it;
  const auto a = it.who("a", "1", at_a);
  const auto answer = it.join(a);
  CATCH_CHECK_FALSE(answer->has_value());
  CATCH_CHECK(it.port.kept.contains(at_a));
  CATCH_CHECK_FALSE(it.daemons->registry().find("a"));
  it.meet(a);
  CATCH_CHECK(value_of(**answer).byte_size() != 0);
  CATCH_CHECK(it.daemons->registry().find("a"));
  // It had a share before it was started anew.
  CATCH_CHECK(it.told == std::vector<std::string>{"lost a", "new a"});
  it.join(a); // It has lost us and is back.
  CATCH_CHECK(it.told.at(2) == "again a");
  CATCH_CHECK(it.told.at(3) == "joined a");
}

CATCH_TEST_CASE("whoever leaves before it was reached does not join",
                "[leading]") {
  joining_daemons it;
  const auto a = it.who("a", "1", at_a);
  const auto answer = it.join(a);
  it.daemons->let_go("a", "1");
  CATCH_REQUIRE(*answer);
  CATCH_CHECK(error_of(**answer).code == ec::unavailable);
  CATCH_CHECK_FALSE(it.port.kept.contains(at_a));
  it.meet(a);
  CATCH_CHECK_FALSE(it.daemons->registry().find("a"));
  // What it asked before comes later.
  CATCH_CHECK(error_of(**it.join(a)).code == ec::unavailable);
}

CATCH_TEST_CASE("a lost consumer is awaited for a while, and then forgotten",
                "[leading]") {
  joining_daemons it;
  auto nothing = it.config.offer;
  nothing.parts.clear();
  nothing.slots = 0;
  const auto lose = [&it](const char* address) {
    peer_event event;
    event.change = peer_event::kind::lost;
    event.identity.address = address;
    event.reason = "killed";
    it.daemons->on_peer(event);
  };
  const auto a = it.who("a", "1", at_a);
  const auto f = it.who("a/feed-1", "2", at_b);
  it.join(a);
  it.meet(a);
  it.join(f, nothing);
  it.meet(f);
  lose(at_a);
  lose(at_b);
  const auto now = cluster_daemons::clock::now();
  it.daemons->look(now);
  CATCH_CHECK(it.daemons->registry().find("a/feed-1"));
  it.meet(f); // Its connection had broken.
  it.daemons->look(now + std::chrono::hours{1});
  CATCH_CHECK(it.daemons->registry().find("a/feed-1"));
  lose(at_b);
  it.daemons->look(now + std::chrono::hours{2});
  CATCH_CHECK_FALSE(it.daemons->registry().find("a/feed-1"));
  CATCH_CHECK_FALSE(it.port.kept.contains(at_b));
  CATCH_CHECK(it.daemons->registry().find("a")); // It has parts.
}

CATCH_TEST_CASE("a daemon takes the place of one of its name that is dead",
                "[leading]") {
  joining_daemons it;
  it.join(it.who("a", "1", at_a));
  it.meet(it.who("a", "1", at_a));
  // One that answers stays.
  const auto refused = it.join(it.who("a", "2", at_b));
  it.port.answer(at_a, method::status);
  CATCH_CHECK(error_of(**refused).code == ec::invalid_argument);
  const auto joins = it.join(it.who("a", "3", at_b));
  it.port.answer(at_a, method::status, fail(ec::unavailable, "nobody"));
  it.meet(it.who("a", "3", at_b));
  CATCH_CHECK(value_of(**joins).byte_size() != 0);
  CATCH_CHECK(value_of(it.daemons->registry().find("a")).status.address
              == at_b);
  CATCH_CHECK_FALSE(it.port.kept.contains(at_a));
}

CATCH_TEST_CASE("a daemon that a run needs leaves when it does not any more",
                "[leading]") {
  joining_daemons it;
  const auto a = it.who("a", "1", at_a);
  it.join(a);
  it.meet(a);
  it.needed = "a";
  auto is_gone = false;
  it.daemons->leave_later(
    a, responder{[&](const result<payload>&) { is_gone = true; }});
  it.daemons->let_leavers_go();
  CATCH_CHECK_FALSE(is_gone);
  CATCH_CHECK(it.daemons->registry().offers().empty());
  it.needed.clear();
  it.daemons->let_leavers_go();
  CATCH_CHECK(is_gone);
  CATCH_CHECK_FALSE(it.daemons->registry().find("a"));
  CATCH_CHECK_FALSE(it.port.kept.contains(at_a));
}

} // namespace graphmill::test
