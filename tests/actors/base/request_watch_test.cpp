#include "actors/base/request_watch.hpp"

#include "actors/base/interfaces.hpp"
#include "tests/support/actors.hpp"
#include "tests/support/catch.hpp"

#include <deque>
#include <memory>
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

CATCH_TEST_CASE("an actor that is gone is not waited for",
                "[actors][requests]") {
  request_watch_scene s{15min};
  stop_actor(s.debtor);
  s.sim.run();
  s.ask();
  CATCH_CHECK(s.seen->failures == std::vector{ec::unavailable});
}
