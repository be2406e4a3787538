#include "actors/cluster/coordinator/runs/queue_pass.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test::queue_passes {

using names = std::vector<std::string>;

definition run_of(std::uint32_t trainers, names daemons = {}) {
  definition out;
  out.dataset = "d";
  out.trainer.replicas = trainers;
  out.trainer.device = "cpu";
  out.placement.daemons = std::move(daemons);
  return out;
}

/// Daemons that all serve the only part.
std::vector<daemon_offer>
offers_of(const std::vector<std::pair<std::string, std::uint32_t>>& slots) {
  std::vector<daemon_offer> out;
  for (const auto& [name, count] : slots)
    out.push_back({name, "tcp://" + name, {0}, count});
  return out;
}

/// Names of the daemons with trainers, by rank.
names trainers_of(const placement& where) {
  names out;
  for (const auto daemon : where.daemon_of_rank)
    out.push_back(where.daemons[daemon].name);
  return out;
}

CATCH_TEST_CASE("runs that share daemons share slots", "[queue]") {
  queue_pass pass{offers_of({{"a", 1}, {"b", 2}}), 1, 3};
  const auto first = value_of(pass.place(run_of(2)));
  CATCH_CHECK(trainers_of(first) == names{"a", "b"});
  pass.add(first);
  CATCH_CHECK_FALSE(pass.is_full());
  CATCH_CHECK_FALSE(pass.waits_for_slots(run_of(1)));
  const auto second = value_of(pass.place(run_of(1)));
  CATCH_CHECK(trainers_of(second) == names{"b"});
  pass.add(second);
  CATCH_CHECK_FALSE(pass.place(run_of(1)));
  CATCH_CHECK(pass.waits_for_slots(run_of(1)));
  CATCH_CHECK(pass.waits_for_slots(run_of(3)));
  CATCH_CHECK_FALSE(pass.waits_for_slots(run_of(4))); // It never fits.
  pass.add_waiting();
  CATCH_CHECK(pass.is_full());
}

CATCH_TEST_CASE("a run that is on leaves others the daemons it does not train "
                "on",
                "[queue]") {
  queue_pass pass{offers_of({{"a", 1}, {"b", 1}}), 1, 2};
  pass.add(value_of(pass.place(run_of(1, {"a"}))));
  CATCH_CHECK(pass.waits_for_slots(run_of(1, {"a"})));
  CATCH_CHECK(trainers_of(value_of(pass.place(run_of(1, {"b"}))))
              == names{"b"});
  CATCH_CHECK(trainers_of(value_of(pass.place(run_of(1)))) == names{"b"});
}

CATCH_TEST_CASE("a run that waits keeps its turn on what it may train on",
                "[queue]") {
  queue_pass pass{offers_of({{"a", 2}, {"b", 2}, {"c", 1}}), 1, 4};
  pass.add(value_of(pass.place(run_of(1, {"a"}))));
  const auto big = run_of(4, {"a", "b"});
  CATCH_CHECK(pass.waits_for_slots(big));
  pass.keep_turn(big);
  // A slot of each is free still, and not for those that come later.
  CATCH_CHECK_FALSE(pass.place(run_of(1, {"a"})));
  CATCH_CHECK_FALSE(pass.place(run_of(1, {"b"})));
  CATCH_CHECK(pass.waits_for_slots(run_of(1, {"b"})));
  CATCH_CHECK(trainers_of(value_of(pass.place(run_of(1)))) == names{"c"});
  // Who was on takes what is free.
  CATCH_CHECK(pass.place(run_of(1, {"a"}), true));
  CATCH_CHECK_FALSE(pass.place(run_of(2, {"a"}), true));
  CATCH_CHECK(pass.waits_for_slots(run_of(2, {"a"}), true));
  auto named = run_of(1);
  named.placement.trainers = {"c"};
  pass.keep_turn(named);
  CATCH_CHECK_FALSE(pass.place(run_of(1)));
  pass.keep_turn(run_of(1));
  CATCH_CHECK_FALSE(pass.place(run_of(1, {"c"})));
}

CATCH_TEST_CASE("slots of a daemon that is gone are nobody's", "[queue]") {
  auto all = offers_of({{"a", 1}, {"b", 1}});
  const auto on_both = value_of(queue_pass(all, 1, 2).place(run_of(2)));
  queue_pass pass{offers_of({{"b", 2}}), 1, 2};
  pass.add(on_both);
  CATCH_CHECK(value_of(pass.place(run_of(1))).daemons.size() == 1);
  CATCH_CHECK_FALSE(pass.place(run_of(2)));
}

/// A cluster on which random runs are begun as the coordinator does it, and end
/// in a random order.
class simulated_queue {
public:
  explicit simulated_queue(std::uint32_t seed) : draws_(seed) {
    for (const auto* name : {"a", "b", "c"})
      slots_.emplace_back(name, 1 + draw(3));
    most_ = 1 + draw(4);
  }

  void play() {
    for (int i = 0; i < 60; ++i) {
      submit();
      begin_all();
      if (!on_.empty() && draw(2) == 0)
        end_one();
    }
    // Nobody waits for ever: as runs end, all begin, however large they are.
    begin_all();
    while (!queue_.empty()) {
      CATCH_REQUIRE_FALSE(on_.empty());
      end_one();
      begin_all();
    }
  }

private:
  struct queued {
    int number;
    definition def;
  };
  struct begun {
    int number;
    placement where;
  };

  std::uint32_t draw(std::uint32_t below) {
    return static_cast<std::uint32_t>(draws_() % below);
  }

  void submit() {
    names daemons;
    for (const auto& [name, count] : slots_)
      if (draw(2) == 0)
        daemons.push_back(name);
    auto def = run_of(1 + draw(5), daemons);
    if (place(def, 1, offers_of(slots_))) // Others are refused.
      queue_.push_back({++submitted_, std::move(def)});
  }

  void begin_all() {
    while (begin_one())
      ;
  }

  bool begin_one() {
    queue_pass pass{offers_of(slots_), 1, most_};
    for (const auto& run : on_)
      pass.add(run.where);
    for (auto it = queue_.begin(); it != queue_.end() && !pass.is_full();
         ++it) {
      auto where = pass.place(it->def);
      if (!where) {
        CATCH_REQUIRE(pass.waits_for_slots(it->def));
        pass.keep_turn(it->def);
        continue;
      }
      on_.push_back({it->number, std::move(where).value()});
      queue_.erase(it);
      check();
      return true;
    }
    return false;
  }

  void end_one() { on_.erase(on_.begin() + draw(std::uint32_t(on_.size()))); }

  /// No more runs, nor more trainers on a daemon, than there may be.
  void check() const {
    CATCH_REQUIRE(on_.size() <= most_);
    for (const auto& [name, count] : slots_) {
      std::uint32_t taken = 0;
      for (const auto& run : on_)
        for (const auto& trains : trainers_of(run.where))
          taken += trains == name ? 1 : 0;
      CATCH_REQUIRE(taken <= count);
    }
  }

  std::mt19937 draws_;
  std::vector<std::pair<std::string, std::uint32_t>> slots_;
  std::size_t most_ = 1;
  int submitted_ = 0;
  std::deque<queued> queue_;
  std::vector<begun> on_;
};

CATCH_TEST_CASE("random runs never share a slot, and all of them begin",
                "[queue]") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    CATCH_INFO("seed " << seed);
    simulated_queue{seed}.play();
  }
}

} // namespace graphmill::test::queue_passes
