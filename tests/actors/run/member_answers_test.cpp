#include "actors/run/member_answers.hpp"
#include "actors/run/replicas.hpp"
#include "tests/support/catch.hpp"

#include <memory>

using namespace graphmill;

namespace {

member_state state_of(rank_id rank) {
  trainer_state trainer;
  trainer.rank = rank;
  return {{trainer}};
}

trainer_answer answer_of(std::size_t member, rank_id rank, std::int64_t steps,
                         const char* digest = "equal") {
  trainer_answer out{member, {}};
  out.state.rank = rank;
  out.state.steps = steps;
  out.state.digest = digest;
  return out;
}

trainer_answer with_weights(trainer_answer of) {
  of.state.parameters = std::make_shared<const std::vector<named_tensor>>();
  return of;
}

} // namespace

CATCH_TEST_CASE("a request is answered when every member has answered",
                "[actors][answers]") {
  member_answers it{2};
  CATCH_CHECK(it.ask_all() == std::vector<std::size_t>{0, 1});
  CATCH_CHECK(it.owing() == 2);
  it.keep(1, state_of(0));
  CATCH_CHECK(it.settle(1));
  CATCH_CHECK_FALSE(it.settle(1)); // Once.
  CATCH_CHECK_FALSE(it.awaits(it.request(), 1));
  it.keep(0, state_of(1));
  CATCH_CHECK(it.settle(0));
  CATCH_CHECK(it.owing() == 0);
  const auto answers = it.take();
  CATCH_REQUIRE(answers.size() == 2);
  CATCH_CHECK(answers[0].member == 1); // By rank.
  CATCH_CHECK(answers[1].member == 0);
  CATCH_CHECK(it.take().empty());
}

CATCH_TEST_CASE("answers to an older request do not count",
                "[actors][answers]") {
  member_answers it{2};
  it.ask_all();
  const auto old = it.request();
  it.keep(0, state_of(0));
  it.settle(0);
  it.ask_all();
  CATCH_CHECK_FALSE(it.awaits(old, 1));
  CATCH_CHECK(it.awaits(it.request(), 0));
  CATCH_CHECK(it.take().empty());
}

CATCH_TEST_CASE("a lost member is not asked, but waited for until it is "
                "settled",
                "[actors][answers]") {
  member_answers it{3};
  it.ask_all();
  it.lose(1);
  CATCH_CHECK(it.awaits(it.request(), 1));
  CATCH_CHECK(it.settle(1));
  CATCH_CHECK(it.ask_all() == std::vector<std::size_t>{0, 2});
  CATCH_CHECK_FALSE(it.awaits(it.request(), 1));
  it.settle(0);
  it.settle(2);
  it.ask(2); // That one alone.
  CATCH_CHECK(it.owing() == 1);
  CATCH_CHECK(it.awaits(it.request(), 2));
}

CATCH_TEST_CASE("replicas differ from what most of them have",
                "[actors][answers]") {
  CATCH_CHECK_FALSE(difference({}));
  CATCH_CHECK_FALSE(difference({answer_of(0, 0, 5), answer_of(0, 1, 5)}));
  const auto odd =
    difference({answer_of(0, 0, 5, "a"), answer_of(0, 1, 5, "b"),
                answer_of(0, 2, 5, "c"), answer_of(0, 3, 5, "b")});
  CATCH_REQUIRE(odd);
  CATCH_CHECK(odd->message.starts_with(
    "after 5 training steps the weights of rank 0, 2 differ from those of rank "
    "1: "));
}

CATCH_TEST_CASE("weights are looked for where there are most steps, once at "
                "each member",
                "[actors][answers]") {
  member_answers members{3};
  members.lose(1);
  std::vector answers{answer_of(0, 0, 6), answer_of(1, 1, 7),
                      answer_of(2, 2, 7), answer_of(2, 3, 7)};
  sort_by_steps(answers);
  CATCH_CHECK(answers.front().state.rank == 1);
  weight_search search{answers};
  CATCH_CHECK(search.next(members) == 2);
  CATCH_CHECK(search.found() == nullptr);
  search.take({}); // It could not give them.
  CATCH_CHECK(search.next(members) == 0);
  search.take({with_weights(answer_of(0, 0, 6))});
  CATCH_CHECK_FALSE(search.next(members));
  CATCH_REQUIRE(search.found());
  CATCH_CHECK(search.found()->rank == 0);
  CATCH_CHECK(search.found()->steps == 6);

  weight_search in_vain{{answer_of(0, 0, 1)}};
  CATCH_CHECK(in_vain.next(members) == 0);
  CATCH_CHECK_FALSE(in_vain.next(members));
  CATCH_CHECK(in_vain.found() == nullptr);

  weight_search at_hand{{with_weights(answer_of(0, 0, 1))}};
  CATCH_CHECK_FALSE(at_hand.next(members));
  CATCH_CHECK(at_hand.found() != nullptr);
}
