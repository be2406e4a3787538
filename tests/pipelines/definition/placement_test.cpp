#include "pipelines/definition/placement.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <random>

using namespace graphmill;
using namespace graphmill::test;

namespace {

definition with_trainers(std::uint32_t trainers) {
  definition out;
  out.dataset = "d";
  out.trainer.replicas = trainers;
  out.trainer.device = "cpu";
  return out;
}

daemon_offer offer(std::string name, std::vector<part_id> parts,
                   std::uint32_t slots = 1) {
  return {name, "tcp://" + name, std::move(parts), slots};
}

} // namespace

CATCH_TEST_CASE("trainers go where their parts are", "[placement]") {
  const std::vector offers{offer("b", {1}), offer("a", {0})};
  const auto got = value_of(place(with_trainers(2), 2, offers));
  CATCH_REQUIRE(got.daemons.size() == 2);
  CATCH_CHECK(got.daemons[0].name == "a");
  CATCH_CHECK(got.owner_of_part == std::vector<std::uint16_t>{0, 1});
  CATCH_CHECK(got.daemon_of_rank == std::vector<std::uint16_t>{0, 1});
  CATCH_CHECK(got.parts_of(1) == std::vector<part_id>{1});
  CATCH_CHECK(got.ranks_of(1) == std::vector<rank_id>{1});
}

CATCH_TEST_CASE("parts that several serve are spread, slots are kept",
                "[placement]") {
  const std::vector offers{offer("a", {0, 1, 2, 3}, 2),
                           offer("b", {0, 1, 2, 3}, 3)};
  const auto got = value_of(place(with_trainers(5), 4, offers));
  CATCH_CHECK(got.owner_of_part == std::vector<std::uint16_t>{0, 1, 0, 1});
  CATCH_CHECK(got.parts_of(0) == std::vector<part_id>{0, 2});
  CATCH_CHECK(got.parts_of(0).size() == 2);
  CATCH_CHECK(got.ranks_of(0).size() == 2);
  CATCH_CHECK(got.ranks_of(1).size() == 3);
}

CATCH_TEST_CASE("a part has as many owners as are asked for and offered",
                "[placement]") {
  auto def = with_trainers(1);
  def.placement.owners = 2;
  struct {
    const char* about;
    std::vector<std::vector<part_id>> served;       ///< By daemon.
    std::vector<std::vector<std::uint16_t>> owners; ///< By part.
  } cases[] = {
    {"all serve all", {{0, 1}, {0, 1}}, {{0, 1}, {1, 0}}},
    {"one part has one", {{0, 1}, {1}}, {{0}, {1, 0}}},
    {"no more than two of four", {{0}, {0}, {0}, {0}}, {{0, 1}}},
    {"replicas go to those with the fewest parts",
     {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {0}},
     {{0, 3}, {1, 0}, {2, 1}}},
    {"nobody has more than its own", {{0}, {1}, {2}}, {{0}, {1}, {2}}},
  };
  for (const auto& [about, served, owners] : cases) {
    CATCH_INFO(about);
    std::vector<daemon_offer> offers;
    for (std::size_t d = 0; d < served.size(); ++d)
      offers.push_back(offer(std::string(1, char('a' + d)), served[d]));
    const auto got =
      value_of(place(def, static_cast<part_id>(owners.size()), offers));
    for (std::size_t part = 0; part < owners.size(); ++part)
      CATCH_CHECK(got.owners_of(static_cast<part_id>(part)) == owners[part]);
  }
}

CATCH_TEST_CASE("a run uses no others than the daemons that it may use",
                "[placement]") {
  const std::vector offers{offer("a", {0, 1}, 2), offer("b", {0, 1}, 2),
                           offer("c", {0, 1}, 2)};
  auto def = with_trainers(3);
  def.placement.daemons = {"c", "b"};
  def.placement.owners = 3;
  const auto got = value_of(place(def, 2, offers));
  CATCH_REQUIRE(got.daemons.size() == 2);
  CATCH_CHECK(got.daemons[0].name == "b");
  CATCH_CHECK(got.daemons[1].name == "c");
  CATCH_CHECK(got.owners_of(0) == std::vector<std::uint16_t>{0, 1});
  CATCH_CHECK(got.ranks_of(0).size() + got.ranks_of(1).size() == 3);

  def.placement.daemons = {"a", "elsewhere"}; // Who is away need not come.
  CATCH_CHECK(error_of(place(def, 2, offers)).message
              == "`trainer.replicas` asks for 3 trainers, but the daemons of "
                 "`placement.daemons`, a, elsewhere, take 2: name more of "
                 "them, or start them with more --slots");
  def.trainer.replicas = 2;
  CATCH_CHECK(value_of(place(def, 2, offers)).daemons.size() == 1);
  def.placement.daemons = {"elsewhere"};
  CATCH_CHECK(error_of(place(def, 2, offers)).message
              == "no daemon of `placement.daemons` serves parts 0, 1 of 2: "
                 "start one with `graphmill node --serve`, or name more of "
                 "them");
}

CATCH_TEST_CASE("a run can spare who only serves what others serve, too",
                "[placement]") {
  // a: sampler, b: trainer, c and d: parts 0 and 1, e: part 2.
  const std::vector offers{offer("a", {}), offer("b", {}), offer("c", {0, 1}),
                           offer("d", {0, 1}), offer("e", {2})};
  auto def = with_trainers(1);
  def.placement = {{"b"}, {"a"}, 2};
  const auto got = value_of(place(def, 3, offers));
  CATCH_REQUIRE(got.daemons.size() == 5);
  const std::vector<std::uint16_t> none;
  for (const std::uint16_t daemon : {0, 1, 4})
    CATCH_CHECK_FALSE(got.can_spare(daemon, none));
  CATCH_CHECK(got.can_spare(2, none));
  CATCH_CHECK(got.can_spare(3, none));
  const std::vector<std::uint16_t> other{4, 2};
  CATCH_CHECK(got.can_spare(2, other)); // Itself gone, d is there.
  CATCH_CHECK_FALSE(got.can_spare(3, other));
}

CATCH_TEST_CASE("a daemon may be in a run for its replicas alone",
                "[placement]") {
  const std::vector offers{offer("a", {}), offer("b", {0}), offer("c", {0}),
                           offer("d", {0})};
  auto def = with_trainers(1);
  def.placement.trainers = {"a"};
  def.placement.owners = 2;
  const auto got = value_of(place(def, 1, offers));
  CATCH_REQUIRE(got.daemons.size() == 3); // Without d.
  CATCH_CHECK(got.daemons[2].name == "c");
  CATCH_CHECK(got.owners_of(0) == std::vector<std::uint16_t>{1, 2});
  CATCH_CHECK(got.parts_of(2) == std::vector<part_id>{0});
  CATCH_CHECK(got.ranks_of(2).empty());
}

CATCH_TEST_CASE("a daemon with nothing to do is left out", "[placement]") {
  const std::vector offers{offer("a", {0}), offer("b", {}), offer("c", {1})};
  const auto got = value_of(place(with_trainers(1), 2, offers));
  CATCH_REQUIRE(got.daemons.size() == 2);
  CATCH_CHECK(got.daemons[1].name == "c");
  CATCH_CHECK(got.owner_of_part == std::vector<std::uint16_t>{0, 1});
}

CATCH_TEST_CASE("what cannot be placed is told", "[placement]") {
  const std::vector offers{offer("a", {0}), offer("b", {2})};
  const auto orphan = error_of(place(with_trainers(1), 4, offers));
  CATCH_CHECK(orphan.message.find("parts 1, 3 of 4") != std::string::npos);
  const auto many = error_of(place(with_trainers(3), 1, offers));
  CATCH_CHECK(many.message.find("3 trainers") != std::string::npos);
  CATCH_CHECK(many.message.find("takes 2") != std::string::npos);
  CATCH_CHECK_FALSE(place(with_trainers(1), 1, {}));
}

CATCH_TEST_CASE("trainers that round differently are refused", "[placement]") {
  auto here = offer("a", {0});
  here.arithmetic = "OpenBLAS for Zen";
  here.arithmetic_digest = "1/5";
  auto there = offer("b", {1});
  there.arithmetic = "OpenBLAS for SkylakeX";
  there.arithmetic_digest = "2/5";
  const auto refused =
    error_of(place(with_trainers(2), 2, std::vector{here, there}));
  CATCH_CHECK(refused.code == ec::invalid_argument);
  for (const auto* part :
       {"\"a\" (OpenBLAS for Zen)", "\"b\" (OpenBLAS for SkylakeX)",
        "OPENBLAS_CORETYPE=Haswell"})
    CATCH_CHECK(refused.message.find(part) != std::string::npos);
  CATCH_CHECK(refused.message.find("exponentials") == std::string::npos);
  // Who only serves data adds nothing up; on CUDA the CPU has no part in it.
  CATCH_CHECK(place(with_trainers(1), 2, std::vector{here, there}));
  here.cuda_devices = there.cuda_devices = 1;
  auto on_devices = with_trainers(2);
  on_devices.trainer.device = "cuda";
  CATCH_CHECK(place(on_devices, 2, std::vector{here, there}));
  there.arithmetic_digest = "1/5";
  CATCH_CHECK(place(with_trainers(2), 2, std::vector{here, there}));
}

CATCH_TEST_CASE("what trainers round differently is told", "[placement]") {
  auto here = offer("a", {0});
  auto there = offer("b", {1});
  here.arithmetic = there.arithmetic = "OpenBLAS for Haswell, glibc 2.36";
  here.arithmetic_digest = "1/5";
  there.arithmetic_digest = "1/6";
  const auto refusal = [&] {
    return error_of(place(with_trainers(2), 2, std::vector{here, there}))
      .message;
  };
  const auto exponentials = refusal();
  CATCH_CHECK(exponentials.find("round exponentials, though not products,")
              != std::string::npos);
  CATCH_CHECK(exponentials.find("GLIBC_TUNABLES") != std::string::npos);
  CATCH_CHECK(exponentials.find("OPENBLAS_CORETYPE") == std::string::npos);
  there.arithmetic_digest = "2/6";
  const auto both = refusal();
  for (const auto* part : {"round products and exponentials", "GLIBC_TUNABLES",
                           "OPENBLAS_CORETYPE"})
    CATCH_CHECK(both.find(part) != std::string::npos);
}

CATCH_TEST_CASE("the order of offers does not matter", "[placement]") {
  CATCH_INFO("seed 3");
  std::mt19937_64 random{3};
  for (int round = 0; round < 50; ++round) {
    std::vector<daemon_offer> offers;
    for (int d = 0; d < 6; ++d)
      offers.push_back(offer(std::string(1, char('a' + d)),
                             {part_id(d), part_id(random() % 6)},
                             1 + random() % 3));
    auto def = with_trainers(6);
    def.placement.owners = 2;
    const auto first = value_of(place(def, 6, offers));
    std::shuffle(offers.begin(), offers.end(), random);
    const auto second = value_of(place(def, 6, offers));
    CATCH_CHECK(first.daemons == second.daemons);
    CATCH_CHECK(first.owner_of_part == second.owner_of_part);
    CATCH_CHECK(first.replicas_of_part == second.replicas_of_part);
    CATCH_CHECK(first.daemon_of_rank == second.daemon_of_rank);
  }
}

CATCH_TEST_CASE("named daemons train, in turn as far as they have slots",
                "[placement]") {
  const std::vector offers{offer("a", {0}, 2), offer("b", {1}, 1),
                           offer("c", {}, 2)};
  auto def = with_trainers(4);
  def.placement.trainers = {"c", "b", "a"};
  const auto got = value_of(place(def, 2, offers));
  CATCH_CHECK(got.daemon_of_rank == std::vector<std::uint16_t>{2, 1, 0, 2});
  CATCH_CHECK(got.owner_of_part == std::vector<std::uint16_t>{0, 1});
  def.placement.trainers = {"c", "b"};
  const auto reason = error_of(place(def, 2, offers)).message;
  CATCH_CHECK(reason.find("4 trainers") != std::string::npos);
  CATCH_CHECK(reason.find("c, b, take 3") != std::string::npos);
}

CATCH_TEST_CASE("named daemons sample, those without other work too",
                "[placement]") {
  const std::vector offers{offer("a", {0, 1}, 4), offer("b", {}, 9),
                           offer("c", {})};
  auto def = with_trainers(2);
  CATCH_CHECK(value_of(place(def, 2, offers)).samplers.empty());
  def.placement.samplers = {"c", "b"};
  const auto got = value_of(place(def, 2, offers));
  CATCH_REQUIRE(got.daemons.size() == 3);
  CATCH_CHECK(got.samplers == std::vector<std::uint16_t>{2, 1});
  // No trainer goes to a sampler while others have slots.
  def.trainer.replicas = 4;
  CATCH_CHECK(value_of(place(def, 2, offers)).ranks_of(0).size() == 4);
}

CATCH_TEST_CASE("a daemon that is named must be there", "[placement]") {
  const std::vector offers{offer("b", {1}), offer("a", {0})};
  auto def = with_trainers(1);
  def.placement.samplers = {"a", "x"};
  const auto sampler = error_of(place(def, 2, offers)).message;
  CATCH_CHECK(sampler
              == "`placement.samplers` names daemon \"x\", which is not in "
                 "service; there are a, b");
  def.placement = {{""}, {}};
  const auto trainer = error_of(place(def, 2, offers)).message;
  CATCH_CHECK(trainer.find("`placement.trainers`") != std::string::npos);
}

CATCH_TEST_CASE("trainers go where their device is", "[placement]") {
  std::vector offers{offer("a", {0}, 4), offer("b", {}, 4), offer("c", {}, 4)};
  offers[1].cuda_devices = 1;
  offers[2].cuda_devices = 2;
  auto def = with_trainers(8);
  def.trainer.device = "cuda";
  const auto any = value_of(place(def, 1, offers));
  CATCH_CHECK(any.ranks_of(0).empty());
  CATCH_CHECK(any.ranks_of(1).size() == 4);
  def.trainer.replicas = 4;
  def.trainer.device = "cuda:1";
  CATCH_CHECK(value_of(place(def, 1, offers)).daemons.size() == 2);
  def.trainer.replicas = 5;
  const auto reason = error_of(place(def, 1, offers)).message;
  CATCH_CHECK(reason.find("5 trainers on cuda:1, but the cluster takes 4")
              != std::string::npos);
  def.trainer.device = "cpu";
  CATCH_CHECK(place(def, 1, offers));
}

CATCH_TEST_CASE("of a range of trainers as many are placed as can be",
                "[placement][sizes]") {
  auto def = with_trainers(3);
  def.trainer.min_replicas = 2;
  const auto a = offer("a", {0});
  const auto b = offer("b", {1});
  const auto c = offer("c", {}, 4);
  const auto trainers = [&def](const std::vector<daemon_offer>& offers) {
    return value_of(place(def, 2, offers)).daemon_of_rank;
  };
  CATCH_CHECK(trainers({a, b}) == std::vector<std::uint16_t>{0, 1});
  CATCH_CHECK(trainers({a, b, c}).size() == 3);
  def.trainer.min_replicas = 3;
  CATCH_CHECK_THAT(error_of(place(def, 2, std::vector{a, b})).message,
                   contains("asks for 3 trainers"));

  CATCH_SECTION("of those that are named and there") {
    def.trainer.min_replicas = 1;
    def.placement.trainers = {"c", "b", "d"};
    CATCH_CHECK(trainers({a, b}) == std::vector<std::uint16_t>{1});
    CATCH_CHECK(trainers({a, b, c}) == std::vector<std::uint16_t>{2, 1, 2});
    def.placement.trainers = {"d"};
    CATCH_CHECK_THAT(error_of(place(def, 2, std::vector{a, b})).message,
                     contains("names daemon \"d\""));
  }
  CATCH_SECTION("of sizes all must find a place") {
    def.trainer.min_replicas = 1;
    def.trainer.sizes = {"0/0:1", "2/0:2"};
    CATCH_CHECK(trainers({a, b, c}).size() == 2);
    def.trainer.sizes = {"0/0:3", "2/0:2"};
    CATCH_CHECK_THAT(error_of(place(def, 2, std::vector{a, b})).message,
                     contains("`trainer.sizes` asks for 3 trainers"));
  }
}
