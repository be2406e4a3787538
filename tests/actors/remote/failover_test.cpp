#include "actors/remote/failover.hpp"

#include "messages/base/random.hpp"
#include "tests/support/catch.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

error unreachable() {
  return fail(ec::unavailable, "cannot reach it");
}

/// Daemons d0, d1, ... that answer when the test says so.
struct slow_owners {
  struct call {
    bool brief = false;
    std::function<void(result<payload>)> reply;
  };

  explicit slow_owners(std::size_t count) : calls(count) {
    std::vector<failover::target> daemons;
    for (std::size_t d = 0; d < count; ++d)
      daemons.push_back(
        {fmt::format("d{}", d), way_to(d, true), way_to(d, false)});
    failover::settings with;
    with.now = [this] { return now; };
    with.tell = [this](const std::string& sentence) {
      told.push_back(sentence);
    };
    owners = failover::over(std::move(daemons), std::move(with));
  }

  remote_call way_to(std::size_t daemon, bool brief) {
    return [this, daemon, brief](method, payload,
                                 std::function<void(result<payload>)> reply) {
      calls[daemon].push_back({brief, std::move(reply)});
    };
  }

  /// Ends call number `which` to a daemon.
  void end(std::size_t daemon, std::size_t which, result<payload> how) {
    const auto reply = calls[daemon].at(which).reply;
    reply(std::move(how));
  }

  failover::clock::time_point now{};
  std::vector<std::vector<call>> calls; ///< By daemon.
  std::vector<std::string> told;
  std::shared_ptr<failover> owners;
};

/// What came of a question.
struct told_answer {
  int times = 0;
  std::optional<error> failure;
  std::string from;
};

std::shared_ptr<told_answer> put(const part_call& to) {
  auto out = std::make_shared<told_answer>();
  to(method::gather, {}, [out](result<payload> got, const std::string& from) {
    ++out->times;
    out->from = from;
    if (!got)
      out->failure = got.error();
  });
  return out;
}

bool came_from(const told_answer& got, const std::string& daemon) {
  return got.times == 1 && !got.failure && got.from == daemon;
}

} // namespace

CATCH_TEST_CASE("a part with one owner has its patience and its errors",
                "[failover]") {
  slow_owners world{2};
  const auto part = world.owners->among({1});
  for (std::size_t i = 0; i < 2; ++i) {
    const auto got = put(part);
    CATCH_REQUIRE(world.calls[1].size() == i + 1);
    CATCH_CHECK_FALSE(world.calls[1][i].brief);
    world.end(1, i, unreachable());
    CATCH_CHECK(got->times == 1);
    CATCH_CHECK(got->failure->code == ec::unavailable);
    CATCH_CHECK(got->from == "d1");
  }
  CATCH_CHECK(world.calls[0].empty());
  const auto got = put(part);
  world.end(1, 2, payload{});
  CATCH_CHECK(came_from(*got, "d1"));
  CATCH_CHECK(world.told.empty()); // Nobody else was asked.
}

CATCH_TEST_CASE("what an owner that dies has is asked of the next at once",
                "[failover]") {
  for (const auto code : {ec::unavailable, ec::timeout}) {
    slow_owners world{3};
    const auto part = world.owners->among({2, 0});
    const auto other = world.owners->among({0, 2});
    const auto first = put(part);
    const auto second = put(part);
    const auto third = put(other);
    CATCH_CHECK(world.calls[2].size() == 2);
    CATCH_CHECK(world.calls[2][0].brief);
    CATCH_CHECK(world.calls[0].size() == 1);
    world.end(2, 0, fail(code, "gone"));
    // The second did not wait for its own failure, which changes nothing.
    CATCH_REQUIRE(world.calls[0].size() == 3);
    world.end(2, 1, fail(code, "gone"));
    CATCH_CHECK(world.calls[0].size() == 3);
    const auto fourth = put(part); // It is known to be away.
    CATCH_CHECK(world.calls[2].size() == 2);
    CATCH_REQUIRE(world.calls[0].size() == 4);
    CATCH_CHECK(first->times + second->times + third->times + fourth->times
                == 0);
    for (std::size_t i = 0; i < 4; ++i)
      world.end(0, i, payload{});
    for (const auto& got : {first, second, third, fourth})
      CATCH_CHECK(came_from(*got, "d0"));
    CATCH_REQUIRE(world.told.size() == 1);
    CATCH_CHECK(world.told[0].find("daemon d2 does not answer")
                != std::string::npos);
    CATCH_CHECK(world.calls[1].empty());
  }
}

CATCH_TEST_CASE("the first answer counts, whoever gives it", "[failover]") {
  slow_owners world{2};
  const auto part = world.owners->among({0, 1});
  const auto first = put(part);
  const auto second = put(part);
  world.end(0, 0, fail(ec::timeout, "late"));
  CATCH_REQUIRE(world.calls[1].size() == 2);
  world.end(0, 1, payload{}); // It was only slow.
  CATCH_CHECK(came_from(*second, "d0"));
  CATCH_CHECK(world.told.size() == 2); // Away, and there again.
  world.end(1, 0, payload{});
  world.end(1, 1, payload{});
  CATCH_CHECK(came_from(*first, "d1"));
  CATCH_CHECK(second->times == 1);
  put(part);
  CATCH_CHECK(world.calls[0].size() == 3);
}

CATCH_TEST_CASE("what is wrong with a question is not asked twice",
                "[failover]") {
  slow_owners world{2};
  const auto part = world.owners->among({0, 1});
  const auto got = put(part);
  world.end(0, 0, fail(ec::invalid_argument, "no such node"));
  CATCH_CHECK(got->times == 1);
  CATCH_CHECK(got->failure->code == ec::invalid_argument);
  CATCH_CHECK(got->from == "d0");
  const auto ending = put(part);
  CATCH_REQUIRE(world.calls[0].size() == 2); // It is there.
  world.end(0, 1, fail(ec::cancelled, "our own connections are closed"));
  CATCH_CHECK(ending->times == 1);
  CATCH_CHECK(world.calls[1].empty());
}

CATCH_TEST_CASE("when all are away, all are asked once more, patiently",
                "[failover]") {
  slow_owners world{2};
  const auto part = world.owners->among({0, 1});
  const auto lucky = put(part);
  world.end(0, 0, unreachable());
  world.end(1, 0, unreachable());
  CATCH_REQUIRE(world.calls[0].size() == 2);
  CATCH_REQUIRE(world.calls[1].size() == 2);
  CATCH_CHECK_FALSE(world.calls[0][1].brief);
  CATCH_CHECK_FALSE(world.calls[1][1].brief);
  world.end(0, 1, unreachable());
  CATCH_CHECK(lucky->times == 0);
  world.end(1, 1, payload{}); // It has only taken long.
  CATCH_CHECK(came_from(*lucky, "d1"));

  const auto poor = put(part);
  CATCH_REQUIRE(world.calls[1].size() == 3); // d1 is there again, d0 is not.
  world.end(1, 2, unreachable());
  CATCH_REQUIRE(world.calls[0].size() == 3);
  CATCH_REQUIRE(world.calls[1].size() == 4);
  world.end(1, 3, unreachable());
  CATCH_CHECK(poor->times == 0);
  world.end(0, 2, fail(ec::unavailable, "it serves no part of the run"));
  CATCH_CHECK(poor->times == 1);
  CATCH_CHECK(poor->failure->message == "it serves no part of the run");
  CATCH_CHECK(poor->from == "d0");
}

CATCH_TEST_CASE("an owner that answers again is asked again", "[failover]") {
  slow_owners world{2};
  const auto part = world.owners->among({0, 1});
  const auto pass_by = [&world, &part] {
    const auto got = put(part);
    world.end(1, world.calls[1].size() - 1, payload{});
    CATCH_CHECK(came_from(*got, "d1"));
  };
  put(part);
  world.end(0, 0, unreachable());
  world.end(1, 0, payload{});
  world.now += 999ms;
  pass_by();
  CATCH_CHECK(world.calls[0].size() == 1);
  world.now += 1ms;
  pass_by();
  CATCH_REQUIRE(world.calls[0].size() == 2); // A look.
  CATCH_CHECK(world.calls[0][1].brief);
  pass_by();
  CATCH_CHECK(world.calls[0].size() == 2);
  world.end(0, 1, fail(ec::unavailable, "it serves no part of the run"));
  world.now += 1999ms;
  pass_by();
  CATCH_CHECK(world.calls[0].size() == 2);
  world.now += 1ms;
  pass_by();
  CATCH_REQUIRE(world.calls[0].size() == 3);
  CATCH_CHECK(world.told.size() == 1);
  world.end(0, 2, payload{});
  CATCH_CHECK(world.told.size() == 2);
  const auto got = put(part);
  CATCH_REQUIRE(world.calls[0].size() == 4);
  world.end(0, 3, payload{});
  CATCH_CHECK(came_from(*got, "d0"));
}

CATCH_TEST_CASE("looks become rare, and no rarer than they may be",
                "[failover]") {
  slow_owners world{2};
  const auto part = world.owners->among({0, 1});
  put(part);
  world.end(0, 0, unreachable());
  // From one look to the next: 1, 2, 4, 8, 16, 30, 30 s.
  std::vector<int> looks;
  for (auto second = 1; second <= 100; ++second) {
    world.now += 1s;
    const auto before = world.calls[0].size();
    put(part);
    if (world.calls[0].size() != before) {
      looks.push_back(second);
      world.end(0, before, unreachable());
    }
  }
  CATCH_CHECK(looks == std::vector<int>{1, 3, 7, 15, 31, 61, 91});
}

CATCH_TEST_CASE("each question is answered once, as long as one owner lives",
                "[failover]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{seed, 6};
    slow_owners world{3};
    const auto immortal = draws.below(3);
    std::vector<bool> dead(3);
    std::vector<part_call> parts{world.owners->among({0, 1, 2}),
                                 world.owners->among({2, 0, 1}),
                                 world.owners->among({1, 2, 0})};
    std::vector<std::shared_ptr<told_answer>> asked;
    std::vector<std::size_t> ended(3);
    const auto end_one = [&](std::uint32_t daemon) {
      if (ended[daemon] == world.calls[daemon].size())
        return false;
      world.end(daemon, ended[daemon]++,
                dead[daemon] ? result<payload>{unreachable()} : payload{});
      return true;
    };
    for (auto round = 0; round < 60; ++round) {
      const auto daemon = draws.below(3);
      switch (draws.below(4)) {
      case 0:
        asked.push_back(put(parts[daemon]));
        break;
      case 1:
        if (daemon != immortal)
          dead[daemon] = !dead[daemon];
        world.now += std::chrono::milliseconds{draws.below(2000)};
        break;
      default:
        end_one(daemon);
      }
    }
    while (end_one(0) || end_one(1) || end_one(2))
      ;
    for (const auto& got : asked) {
      CATCH_CHECK(got->times == 1);
      CATCH_CHECK_FALSE(got->failure);
    }
  }
}
