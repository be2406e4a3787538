#include "actors/cluster/client/chaos_plan.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <map>
#include <set>
#include <string>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

const std::vector all_kinds{chaos_kind::kill,    chaos_kind::stop,
                            chaos_kind::delay,   chaos_kind::cut,
                            chaos_kind::corrupt, chaos_kind::disk};

} // namespace

CATCH_TEST_CASE("a plan is a function of its seed", "[cluster][chaos]") {
  // Computed by another program, from Philox alone.
  const auto plan = plan_chaos({7, all_kinds, {"a", "b", "c"}, 7, 4s});
  std::string text;
  for (const auto& fault : plan)
    text += std::to_string(fault.after.count()) + ' '
            + sentence_of(fault.request) + '\n';
  CATCH_CHECK(text
              == "3494 stop a for 1000 ms\n"
                 "4646 stop c for 10000 ms\n"
                 "4911 cut connections of b to c\n"
                 "3336 stop b for 10000 ms\n"
                 "3432 delay messages of b to all others by 84 ms for 3363 ms\n"
                 "2736 cut connections of a to all others\n"
                 "5442 corrupt 1 messages of a\n");
  // A longer one begins with it; another seed gives another one.
  auto longer = plan_chaos({7, all_kinds, {"a", "b", "c"}, 20, 4s});
  longer.resize(plan.size());
  CATCH_CHECK(longer == plan);
  CATCH_CHECK_FALSE(plan_chaos({8, all_kinds, {"a", "b", "c"}, 7, 4s}) == plan);
}

CATCH_TEST_CASE("a daemon is killed at moments that come to it",
                "[cluster][chaos]") {
  chaos_wishes wishes{
    1, {chaos_kind::kill}, {"lead", "serve", "train"}, 500, 2s};
  wishes.coordinator = "lead";
  wishes.trainers = {"train"};
  std::map<std::string, std::set<moment>> at;
  for (const auto& fault : plan_chaos(wishes))
    at[fault.request.daemon].insert(fault.request.at);
  using moments = std::set<moment>;
  CATCH_CHECK(
    (at["lead"]
     == moments{moment::at_once, moment::mid_epoch, moment::checkpoint}));
  CATCH_CHECK((at["serve"] == moments{moment::at_once, moment::mid_epoch}));
  CATCH_CHECK((at["train"]
               == moments{moment::at_once, moment::mid_epoch, moment::exchange,
                          moment::epoch_edge, moment::evaluation}));
}

CATCH_TEST_CASE("whatever is planned can be asked for", "[cluster][chaos]") {
  std::set<chaos_kind> kinds;
  std::set<std::string> daemons;
  for (const auto& fault : plan_chaos({1, all_kinds, {"a", "b"}, 500, 2s})) {
    CATCH_CHECK(fault.request.check());
    CATCH_CHECK(fault.after >= 1s);
    CATCH_CHECK(fault.after <= 3s);
    CATCH_CHECK(fault.request.peer != fault.request.daemon);
    kinds.insert(fault.request.kind);
    daemons.insert(fault.request.daemon);
  }
  CATCH_CHECK(kinds.size() == all_kinds.size());
  CATCH_CHECK(daemons == std::set<std::string>{"a", "b"});
}
