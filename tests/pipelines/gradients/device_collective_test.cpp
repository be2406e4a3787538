#include "pipelines/gradients/device_collective.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "tests/pipelines/gradients/memory_carrier.hpp"
#include "tests/pipelines/gradients/memory_ranks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_rendezvous.hpp"

#include <thread>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

/// Ranks whose bulk goes by devices, if these are good for that.
struct device_ranks {
  std::shared_ptr<parking> lot = std::make_shared<parking>();
  std::shared_ptr<memory_rendezvous> store =
    std::make_shared<memory_rendezvous>();
  std::shared_ptr<carrier_board> board = std::make_shared<carrier_board>();
  std::vector<std::unique_ptr<collective>> ranks;

  bulk_route route_of(int device, rank_id rank) const {
    bulk_route out;
    out.device.front() = static_cast<std::byte>(device);
    out.grace = 1ms;
    out.connect =
      [of = board, rank](
        const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      return std::make_unique<memory_carrier>(of, rank);
    };
    return out;
  }

  void add(bulk_route route, rank_id rank, rank_id of) {
    auto roll = std::make_shared<roll_call>(
      group_options{.run = "test", .rank = rank, .ranks = of}, store);
    ranks.push_back(join_by_devices(memory_connector(store)(roll, "same"),
                                    std::move(route), lot));
  }

  explicit device_ranks(const std::vector<int>& devices) {
    for (std::size_t r = 0; r < devices.size(); ++r)
      add(route_of(devices[r], static_cast<rank_id>(r)),
          static_cast<rank_id>(r), static_cast<rank_id>(devices.size()));
  }
  device_ranks() = default;
};

/// Waits for an operation that is sure to end.
void wait_for(const operation& of, const collective& group) {
  while (!of.done())
    group.bell()->wait(group.bell()->count(), 10ms);
}

/// All ranks send their number, from 1 on, to all; what each has received.
std::vector<std::vector<int>> exchange_numbers(device_ranks& all) {
  const auto count = all.ranks.size();
  std::vector<std::vector<int>> got(count, std::vector<int>(count));
  std::vector<std::shared_ptr<operation>> open;
  for (std::size_t r = 0; r < count; ++r) {
    got[r][r] = static_cast<int>(r) + 1;
    std::vector<transfer> out, in;
    for (std::size_t p = 0; p < count; ++p)
      if (p != r) {
        const auto peer = static_cast<rank_id>(p);
        out.push_back({peer, std::as_writable_bytes(std::span{&got[r][r], 1})});
        in.push_back({peer, std::as_writable_bytes(std::span{&got[r][p], 1})});
      }
    open.push_back(all.ranks[r]->exchange_bulk(out, in));
  }
  for (std::size_t r = 0; r < count; ++r)
    wait_for(*open[r], *all.ranks[r]);
  return got;
}

} // namespace

CATCH_TEST_CASE("bulk goes by devices if each rank has one of its own",
                "[gradients]") {
  struct line {
    std::vector<int> devices;
    bool carried;
  };
  for (const auto& [devices, carried] :
       {line{{1, 2, 3}, true}, line{{1, 2, 1}, false}, line{{1, 0, 2}, false},
        line{{0, 0, 0}, false}}) {
    CATCH_INFO("devices " << devices[0] << devices[1] << devices[2]);
    device_ranks all{devices};
    for (auto& one : all.ranks) {
      wait_for(*one->joined(), *one);
      CATCH_REQUIRE(!one->joined()->failed());
    }
    for (int round = 0; round < 3; ++round)
      for (const auto& got : exchange_numbers(all))
        CATCH_CHECK(got == std::vector{1, 2, 3});
    CATCH_CHECK(all.board->exchanges == (carried ? 9 : 0));
  }
}

CATCH_TEST_CASE("ranks that cannot connect their devices say why",
                "[gradients]") {
  device_ranks all;
  for (rank_id r = 0; r < 2; ++r) {
    auto route = all.route_of(r + 1, r);
    route.connect =
      [](const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      return fail(ec::unavailable, "the fabric is down");
    };
    all.add(std::move(route), r, 2);
  }
  for (auto& one : all.ranks) {
    wait_for(*one->joined(), *one);
    CATCH_CHECK(one->joined()->failed()->why.message == "the fabric is down");
    CATCH_CHECK(one->joined()->failed()->peer == one->rank());
  }
}

CATCH_TEST_CASE("a rank that is stuck while its device connects is parked",
                "[gradients]") {
  std::atomic<bool> let_go{false};
  std::atomic<int> stuck{0};
  device_ranks all;
  for (rank_id r = 0; r < 2; ++r) {
    auto route = all.route_of(r + 1, r);
    route.connect =
      [&let_go, &stuck](
        const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      ++stuck;
      while (!let_go) // As NCCL waits for a rank that has died.
        std::this_thread::sleep_for(1ms);
      return fail(ec::unavailable, "too late");
    };
    all.add(std::move(route), r, 2);
  }
  while (stuck != 2)
    std::this_thread::sleep_for(1ms);
  all.ranks.clear(); // Returns.
  CATCH_CHECK(all.lot->size() == 2);
  let_go = true;
  while (all.lot->size() > 0)
    std::this_thread::sleep_for(1ms);
}

CATCH_TEST_CASE("a rank that is lost while devices connect is named",
                "[gradients]") {
  std::atomic<bool> let_go{false};
  std::atomic<int> stuck{0};
  device_ranks all;
  for (rank_id r = 0; r < 3; ++r) {
    auto route = all.route_of(r + 1, r);
    route.connect =
      [&let_go, &stuck](
        const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      ++stuck;
      while (!let_go)
        std::this_thread::sleep_for(1ms);
      return fail(ec::unavailable, "too late");
    };
    all.add(std::move(route), r, 3);
  }
  while (stuck != 3)
    std::this_thread::sleep_for(1ms);
  all.ranks[2].reset();
  for (int r = 0; r < 2; ++r) {
    while (!all.ranks[r]->joined()->failed())
      all.ranks[r]->bell()->wait(all.ranks[r]->bell()->count(), 10ms);
    CATCH_CHECK(all.ranks[r]->joined()->failed()->peer == 2);
  }
  let_go = true;
}

CATCH_TEST_CASE("an exchange that a carrier fails at ends with its error",
                "[gradients]") {
  class broken_carrier final : public bulk_carrier {
  public:
    explicit broken_carrier(bool at_start) : at_start_(at_start) {}
    result<void> start(std::span<const transfer>,
                       std::span<const transfer>) override {
      return at_start_ ? result<void>{broken()} : ok();
    }
    result<bool> landed() override { return broken(); }

  private:
    static error broken() {
      return fail(ec::unavailable, "unhandled system error");
    }
    const bool at_start_;
  };
  const auto at_start = GENERATE(false, true);
  device_ranks all;
  for (rank_id r = 0; r < 2; ++r) {
    auto route = all.route_of(r + 1, r);
    route.connect =
      [at_start](
        const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      return std::make_unique<broken_carrier>(at_start);
    };
    all.add(std::move(route), r, 2);
  }
  for (auto& one : all.ranks) {
    wait_for(*one->joined(), *one);
    for (int i = 0; i < 2; ++i) { // The second one fails at once.
      const auto of = one->exchange_bulk({}, {});
      wait_for(*of, *one);
      CATCH_CHECK(of->failed()->why.message == "unhandled system error");
      CATCH_CHECK(of->failed()->peer == one->rank());
    }
  }
}

CATCH_TEST_CASE("abandoning ends exchanges whose peers never come",
                "[gradients]") {
  device_ranks all{{1, 2}};
  for (auto& one : all.ranks) {
    wait_for(*one->joined(), *one);
    CATCH_REQUIRE(one->has_bulk_way());
  }
  int theirs = 7;
  const transfer from{1, std::as_writable_bytes(std::span{&theirs, 1})};
  const auto of = all.ranks[0]->exchange_bulk({}, {&from, 1});
  all.ranks[0]->abandon();
  wait_for(*of, *all.ranks[0]);
  CATCH_CHECK(of->failed()->why.code == ec::cancelled);
  const auto later = all.ranks[0]->exchange_bulk({}, {&from, 1});
  CATCH_CHECK(later->failed()->why.code == ec::cancelled);
  // What comes now does not touch the memory any more.
  int mine = 8;
  const transfer to{0, std::as_writable_bytes(std::span{&mine, 1})};
  wait_for(*all.ranks[1]->exchange_bulk({&to, 1}, {}), *all.ranks[1]);
  all.ranks.clear();
  CATCH_CHECK(theirs == 7);
}

CATCH_TEST_CASE("abandoning fails a join that is under way", "[gradients]") {
  device_ranks all;
  all.add(all.route_of(1, 0), 0, 2); // Rank 1 does not come.
  all.ranks[0]->abandon();
  const auto joined = all.ranks[0]->joined();
  wait_for(*joined, *all.ranks[0]);
  CATCH_CHECK(joined->failed()->why.code == ec::cancelled);
}

CATCH_TEST_CASE("bulk that stands still ends a step, naming the others",
                "[gradients]") {
  class still_carrier final : public bulk_carrier {
    result<void> start(std::span<const transfer>,
                       std::span<const transfer>) override {
      return ok();
    }
    result<bool> landed() override { return false; }
  };
  const auto lot = std::make_shared<parking>();
  const auto store = std::make_shared<memory_rendezvous>();
  const auto connect = [&](auto roll, const std::string& fingerprint) {
    bulk_route route;
    route.device.front() = static_cast<std::byte>(roll->options().rank + 1);
    route.connect =
      [](const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      return std::make_unique<still_carrier>();
    };
    return join_by_devices(memory_connector(store)(roll, fingerprint),
                           std::move(route), lot);
  };
  const auto gradients = std::make_shared<gradient_set>();
  gradients->dense.resize(4);
  std::vector<std::string> messages(2);
  std::vector<std::thread> ranks;
  for (rank_id r = 0; r < 2; ++r)
    ranks.emplace_back([&, r] {
      group_options options{.run = "test", .rank = r, .ranks = 2};
      options.step_timeout = 200ms;
      options.slow_after = 20ms;
      group_member member{options,
                          {4, {}},
                          store,
                          connect,
                          std::make_shared<stage_counters>("group", 1)};
      gradient_progress progress;
      progress.final_from(0);
      progress.finish(1);
      const auto sum = member.reduce({}, gradients, progress);
      messages[std::size_t(r)] = sum ? "" : sum.error().message;
    });
  for (auto& rank : ranks)
    rank.join();
  CATCH_CHECK_THAT(messages[0], contains("rank 1 is missing from the"));
  CATCH_CHECK_THAT(messages[1], contains("rank 0 is missing from the"));
}

} // namespace graphmill::test
