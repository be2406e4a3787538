#include "pipelines/gradients/devices/device_collective.hpp"
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
  std::shared_ptr<orphan_threads> orphans = std::make_shared<orphan_threads>();
  std::shared_ptr<memory_rendezvous> store =
    std::make_shared<memory_rendezvous>();
  std::shared_ptr<carrier_board> board = std::make_shared<carrier_board>();
  std::vector<std::unique_ptr<collective>> ranks;

  carrier_factory factory_of(int device, rank_id rank) const {
    carrier_factory out;
    out.device.front() = static_cast<std::byte>(device);
    out.grace = 1ms;
    out.connect =
      [of = board, rank](
        const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      return std::make_unique<memory_carrier>(of, rank);
    };
    return out;
  }

  void add(carrier_factory factory, rank_id rank, rank_id of) {
    auto roll = std::make_shared<roll_call>(
      group_options{.run = "test", .rank = rank, .ranks = of}, store);
    ranks.push_back(
      join_by_devices(memory_connector(store, orphans)(roll, "same"),
                      std::move(factory), orphans));
  }

  explicit device_ranks(const std::vector<int>& devices) {
    for (std::size_t r = 0; r < devices.size(); ++r)
      add(factory_of(devices[r], static_cast<rank_id>(r)),
          static_cast<rank_id>(r), static_cast<rank_id>(devices.size()));
  }
  device_ranks() = default;
};

/// Waits for an operation that is sure to end.
void wait_for(const operation& of, const collective& group) {
  while (!of.done() && !of.failed())
    group.bell()->wait(group.bell()->count(), 10ms);
}

/// All ranks send their number, from 1 on, to all; what each has received.
std::vector<std::vector<int>> exchange_numbers(device_ranks& group) {
  const auto count = group.ranks.size();
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
    open.push_back(group.ranks[r]->exchange_bulk(out, in));
  }
  for (std::size_t r = 0; r < count; ++r)
    wait_for(*open[r], *group.ranks[r]);
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
    device_ranks group{devices};
    for (auto& rank : group.ranks) {
      wait_for(*rank->joined(), *rank);
      CATCH_REQUIRE(!rank->joined()->failed());
    }
    for (int round = 0; round < 3; ++round)
      for (const auto& got : exchange_numbers(group))
        CATCH_CHECK(got == std::vector{1, 2, 3});
    CATCH_CHECK(group.board->exchanges == (carried ? 9 : 0));
  }
}

CATCH_TEST_CASE("ranks that cannot connect their devices say why",
                "[gradients]") {
  device_ranks group;
  for (rank_id r = 0; r < 2; ++r) {
    auto factory = group.factory_of(r + 1, r);
    factory.connect =
      [](const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      return fail(ec::unavailable, "the fabric is down");
    };
    group.add(std::move(factory), r, 2);
  }
  for (auto& rank : group.ranks) {
    wait_for(*rank->joined(), *rank);
    CATCH_CHECK(rank->joined()->failed()->reason.message
                == "the fabric is down");
    CATCH_CHECK(rank->joined()->failed()->peer == rank->rank());
  }
}

CATCH_TEST_CASE("a rank that is stuck while its device connects is parked",
                "[gradients]") {
  std::atomic<bool> let_go{false};
  std::atomic<int> stuck{0};
  device_ranks group;
  for (rank_id r = 0; r < 2; ++r) {
    auto factory = group.factory_of(r + 1, r);
    factory.connect =
      [&let_go, &stuck](
        const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      ++stuck;
      while (!let_go) // As NCCL waits for a rank that has died.
        std::this_thread::sleep_for(1ms);
      return fail(ec::unavailable, "too late");
    };
    group.add(std::move(factory), r, 2);
  }
  while (stuck != 2)
    std::this_thread::sleep_for(1ms);
  group.ranks.clear(); // Returns.
  CATCH_CHECK(group.orphans->size() == 2);
  let_go = true;
  while (group.orphans->size() > 0)
    std::this_thread::sleep_for(1ms);
}

CATCH_TEST_CASE("a rank that is lost while devices connect is named",
                "[gradients]") {
  std::atomic<bool> let_go{false};
  std::atomic<int> stuck{0};
  device_ranks group;
  for (rank_id r = 0; r < 3; ++r) {
    auto factory = group.factory_of(r + 1, r);
    factory.connect =
      [&let_go, &stuck](
        const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      ++stuck;
      while (!let_go)
        std::this_thread::sleep_for(1ms);
      return fail(ec::unavailable, "too late");
    };
    group.add(std::move(factory), r, 3);
  }
  while (stuck != 3)
    std::this_thread::sleep_for(1ms);
  group.ranks[2].reset();
  for (int r = 0; r < 2; ++r) {
    while (!group.ranks[r]->joined()->failed())
      group.ranks[r]->bell()->wait(group.ranks[r]->bell()->count(), 10ms);
    CATCH_CHECK(group.ranks[r]->joined()->failed()->peer == 2);
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
  device_ranks group;
  for (rank_id r = 0; r < 2; ++r) {
    auto factory = group.factory_of(r + 1, r);
    factory.connect =
      [at_start](
        const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      return std::make_unique<broken_carrier>(at_start);
    };
    group.add(std::move(factory), r, 2);
  }
  for (auto& rank : group.ranks) {
    wait_for(*rank->joined(), *rank);
    for (int i = 0; i < 2; ++i) { // The second one fails at once.
      const auto of = rank->exchange_bulk({}, {});
      wait_for(*of, *rank);
      CATCH_CHECK(of->failed()->reason.message == "unhandled system error");
      CATCH_CHECK(of->failed()->peer == rank->rank());
    }
  }
}

CATCH_TEST_CASE("abandoning ends exchanges whose peers never come",
                "[gradients]") {
  device_ranks group{{1, 2}};
  for (auto& rank : group.ranks) {
    wait_for(*rank->joined(), *rank);
    CATCH_REQUIRE(rank->has_bulk_way());
  }
  int theirs = 7;
  const transfer from{1, std::as_writable_bytes(std::span{&theirs, 1})};
  const auto of = group.ranks[0]->exchange_bulk({}, {&from, 1});
  group.ranks[0]->abandon();
  wait_for(*of, *group.ranks[0]);
  CATCH_CHECK(of->failed()->reason.code == ec::cancelled);
  const auto later = group.ranks[0]->exchange_bulk({}, {&from, 1});
  CATCH_CHECK(later->failed()->reason.code == ec::cancelled);
  // What comes now does not touch the memory any more.
  int mine = 8;
  const transfer to{0, std::as_writable_bytes(std::span{&mine, 1})};
  wait_for(*group.ranks[1]->exchange_bulk({&to, 1}, {}), *group.ranks[1]);
  group.ranks.clear();
  CATCH_CHECK(theirs == 7);
}

CATCH_TEST_CASE("abandoning fails a join that is under way", "[gradients]") {
  device_ranks group;
  group.add(group.factory_of(1, 0), 0, 2); // Rank 1 does not come.
  group.ranks[0]->abandon();
  const auto joined = group.ranks[0]->joined();
  wait_for(*joined, *group.ranks[0]);
  CATCH_CHECK(joined->failed()->reason.code == ec::cancelled);
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
  const auto orphans = std::make_shared<orphan_threads>();
  const auto store = std::make_shared<memory_rendezvous>();
  const auto connect = [&](auto roll, const std::string& fingerprint) {
    carrier_factory factory;
    factory.device.front() = static_cast<std::byte>(roll->options().rank + 1);
    factory.connect =
      [](const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      return std::make_unique<still_carrier>();
    };
    return join_by_devices(memory_connector(store, orphans)(roll, fingerprint),
                           std::move(factory), orphans);
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
      group_rank own{options,
                     {4, {}},
                     store,
                     connect,
                     std::make_shared<stage_counters>("group", 1)};
      gradient_progress progress;
      progress.final_from(0);
      progress.finish({0, 0, 1});
      const auto sum = own.reduce({}, gradients, progress);
      messages[std::size_t(r)] = sum ? "" : sum.error().message;
    });
  for (auto& rank : ranks)
    rank.join();
  CATCH_CHECK_THAT(messages[0], contains("rank 1 is missing from the"));
  CATCH_CHECK_THAT(messages[1], contains("rank 0 is missing from the"));
}

} // namespace graphmill::test
