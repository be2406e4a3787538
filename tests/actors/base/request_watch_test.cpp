#include "actors/base/request_watch.hpp"

#include "actors/base/interfaces.hpp"
#include "tests/support/actors.hpp"
#include "tests/support/catch.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

struct question {
  int number = 0;
};
struct reply {
  int number = 0;
};

/// Tells the asker to ask.
struct order {
  int count = 1;
};

} // namespace

GRAPHMILL_LOCAL_MESSAGE(question)
GRAPHMILL_LOCAL_MESSAGE(reply)
GRAPHMILL_LOCAL_MESSAGE(order)

namespace {

/// Answers questions; with a tick, the oldest that it owes the answer to.
using helper_actor = caf::typed_actor<answers<question, reply>, takes<tick>>;

/// What a helper owes, oldest first; it answers at once unless told to wait.
struct book {
  bool wait = false;
  std::deque<std::pair<int, caf::typed_response_promise<reply>>> owed;
};

class helper {
public:
  using interface = helper_actor;
  static constexpr const char* name = "helper";
  helper(interface::pointer self, std::shared_ptr<book> debts)
    : self_(self), debts_(std::move(debts)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const question& asked) -> caf::result<reply> {
        if (!debts_->wait)
          return reply{asked.number};
        auto promise = self_->make_response_promise<reply>();
        debts_->owed.emplace_back(asked.number, promise);
        return promise;
      },
      [this](const tick&) {
        auto [number, promise] = std::move(debts_->owed.front());
        debts_->owed.pop_front();
        promise.deliver(reply{number});
      },
    };
  }

private:
  interface::pointer self_;
  std::shared_ptr<book> debts_;
};

struct outcome {
  std::vector<int> answers;
  std::vector<ec> failures;
};

using asker_actor = caf::typed_actor<takes<order>, takes<tick>>;

class asker {
public:
  using interface = asker_actor;
  static constexpr const char* name = "asker";
  asker(interface::pointer self, helper_actor debtor,
        std::chrono::milliseconds silence, std::shared_ptr<outcome> out)
    : self_(self), debtor_(std::move(debtor)), silence_(silence),
      out_(std::move(out)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const order& wanted) {
        for (int i = 0; i < wanted.count; ++i)
          requests_.ask(self_, debtor_, silence_, question{next_++})
            .then(
              [this](const reply& got) { out_->answers.push_back(got.number); },
              [this](const caf::error& reason) {
                out_->failures.push_back(from_caf(reason, "helper").code);
              });
      },
      [this](const tick&) { requests_.give_up(debtor_); },
    };
  }

private:
  interface::pointer self_;
  helper_actor debtor_;
  std::chrono::milliseconds silence_;
  std::shared_ptr<outcome> out_;
  request_watch requests_;
  int next_ = 0;
};

/// What has a handler throw that is none of a message.
enum class bad_luck { answer, failure, end };

/// Asks a helper when told to, and throws. Notes what it is told that it has
/// thrown, and ticks.
class hasty_asker {
public:
  using interface = asker_actor;
  static constexpr const char* name = "hasty_asker";
  hasty_asker(interface::pointer self, helper_actor helper, bool goes_on,
              std::shared_ptr<std::vector<std::string>> out)
    : self_(self), helper_(std::move(helper)), goes_on_(goes_on),
      out_(std::move(out)) {
    deaths_.install(self_);
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const order& wanted) {
        if (wanted.count == 0)
          deaths_.watch(self_, helper_, [](const caf::error&) { fall(); });
        else
          requests_.ask(self_, helper_, 50ms, question{})
            .then([](const reply&) { fall(); },
                  [](const caf::error&) { fall(); });
      },
      [this](const tick&) { out_->emplace_back("a tick"); },
    };
  }

  bool crashed(const caf::error& reason) {
    out_->push_back(from_caf(reason, "it").message);
    return goes_on_;
  }

private:
  static void fall() { throw std::runtime_error("13 brings bad luck"); }

  interface::pointer self_;
  helper_actor helper_;
  bool goes_on_;
  std::shared_ptr<std::vector<std::string>> out_;
  request_watch requests_;
  down_watch deaths_;
};

struct request_watch_scene {
  test::simulation sim;
  std::shared_ptr<book> debts = std::make_shared<book>();
  std::shared_ptr<outcome> seen = std::make_shared<outcome>();
  helper_actor debtor = sim.own(spawn_state<helper>(sim.system(), debts));
  asker_actor creditor;

  explicit request_watch_scene(std::chrono::milliseconds silence,
                               bool wait = true)
    : creditor(
      sim.own(spawn_state<asker>(sim.system(), debtor, silence, seen))) {
    debts->wait = wait;
    sim.run();
  }

  void ask(int count = 1) {
    post(creditor, order{count});
    sim.run();
  }

  void answer_oldest() {
    post(debtor, tick{});
    sim.run();
  }
};

} // namespace

CATCH_TEST_CASE("answered requests leave no timers behind",
                "[actors][requests]") {
  request_watch_scene s{15min, false};
  for (int i = 0; i < 1000; ++i) {
    s.ask();
    s.sim.advance(1ms);
  }
  CATCH_CHECK(s.seen->answers.size() == 1000);
  CATCH_CHECK(s.sim.timers() <= 1);
  stop_actor(s.creditor);
  s.sim.run();
  CATCH_CHECK(s.sim.timers() == 0); // Nor does an actor that has ended.
}

CATCH_TEST_CASE("a request that is not answered fails in time",
                "[actors][requests]") {
  request_watch_scene s{50ms};
  s.ask();
  s.sim.advance(49ms);
  CATCH_CHECK(s.seen->failures.empty());
  s.sim.advance(1ms);
  CATCH_CHECK(s.seen->failures == std::vector{ec::timeout});
  s.answer_oldest(); // Too late.
  CATCH_CHECK(s.seen->answers.empty());
  CATCH_CHECK(s.sim.timers() == 0);
  s.ask();
  s.sim.advance(49ms);
  s.answer_oldest();
  CATCH_CHECK(s.seen->answers == std::vector{1});
  CATCH_CHECK(s.seen->failures.size() == 1);
}

CATCH_TEST_CASE("standing in line is not waiting for an answer",
                "[actors][requests]") {
  request_watch_scene s{50ms};
  s.ask(10);
  for (int i = 0; i < 8; ++i) {
    s.sim.advance(40ms);
    s.answer_oldest();
  }
  CATCH_CHECK(s.seen->failures.empty());
  CATCH_CHECK(s.seen->answers.size() == 8);
  s.sim.advance(30ms);
  s.ask(); // Has been asked 30 ms later than the helper was heard.
  s.sim.advance(19ms);
  CATCH_CHECK(s.seen->failures.empty());
  s.sim.advance(1ms);
  CATCH_CHECK(s.seen->failures == std::vector{ec::timeout, ec::timeout});
  s.sim.advance(29ms);
  CATCH_CHECK(s.seen->failures.size() == 2);
  s.sim.advance(1ms);
  CATCH_CHECK(s.seen->failures.size() == 3);
}

CATCH_TEST_CASE("the time in which the process was stopped is no silence",
                "[actors][requests]") {
  const std::chrono::minutes stopped{GENERATE(10, 480)};
  request_watch_scene s{30min};
  s.ask(2);
  s.sim.advance(10min, 1s);
  s.sim.advance(stopped, stopped); // All at once, as when it wakes up.
  CATCH_CHECK(s.seen->failures.empty());
  s.sim.advance(5min, 1s);
  s.answer_oldest();
  CATCH_CHECK(s.seen->answers == std::vector{0});
  s.sim.advance(30min - 1s, 1s);
  CATCH_CHECK(s.seen->failures.empty());
  s.sim.advance(1s);
  CATCH_CHECK(s.seen->failures == std::vector{ec::timeout});
}

CATCH_TEST_CASE("of a stop no more than a minute counts",
                "[actors][requests]") {
  request_watch_scene s{30min};
  s.ask();
  s.sim.advance(10min, 1s); // Looks again in a minute, and so 9 min late.
  s.sim.advance(10min, 10min);
  s.sim.advance(19min - 1s, 1s);
  CATCH_CHECK(s.seen->failures.empty());
  s.sim.advance(1s);
  CATCH_CHECK(s.seen->failures == std::vector{ec::timeout});
}

CATCH_TEST_CASE("what a lost actor owes fails at once", "[actors][requests]") {
  request_watch_scene s{15min};
  s.ask(3);
  post(s.creditor, tick{});
  s.sim.run();
  CATCH_CHECK(s.seen->failures == std::vector(3, ec::unavailable));
  s.answer_oldest(); // It is there after all.
  CATCH_CHECK(s.seen->answers.empty());
  s.debts->wait = false;
  s.ask();
  CATCH_CHECK(s.seen->answers == std::vector{3});
}

namespace {

void check_bad_luck(bool goes_on, bad_luck luck) {
  std::optional<error> end;
  test::simulation sim;
  const auto noted = std::make_shared<std::vector<std::string>>();
  const auto helped =
    sim.own(spawn_state<helper>(sim.system(), std::make_shared<book>()));
  const auto hasty =
    sim.own(spawn_state<hasty_asker>(sim.system(), helped, goes_on, noted));
  caf::actor_cast<caf::actor>(hasty)->attach_functor(
    [&end](const caf::error& reason) { end = from_caf(reason, "it"); });
  if (luck == bad_luck::end)
    post(hasty, order{0});
  sim.run();
  if (luck != bad_luck::answer)
    stop_actor(helped);
  sim.run();
  if (luck != bad_luck::end)
    post(hasty, order{1});
  sim.run();
  const std::string sentence = "hasty_asker crashed: 13 brings bad luck";
  CATCH_CHECK(*noted == std::vector{sentence});
  CATCH_CHECK(end.has_value() == !goes_on);
  if (end) {
    CATCH_CHECK(end->code == ec::crashed);
    CATCH_CHECK(end->message == sentence);
  }
  post(hasty, tick{});
  sim.run();
  CATCH_CHECK(noted->size() == (goes_on ? 2 : 1));
}

} // namespace

CATCH_TEST_CASE("what an answer has an actor throw is taken as of a message",
                "[actors][requests]") {
  for (const auto luck : {bad_luck::answer, bad_luck::failure, bad_luck::end})
    for (const bool goes_on : {false, true})
      check_bad_luck(goes_on, luck);
}

CATCH_TEST_CASE("an actor that is gone is not waited for",
                "[actors][requests]") {
  request_watch_scene s{15min};
  stop_actor(s.debtor);
  s.sim.run();
  s.ask();
  CATCH_CHECK(s.seen->failures == std::vector{ec::unavailable});
}
