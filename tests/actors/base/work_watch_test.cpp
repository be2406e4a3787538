#include "actors/base/work_watch.hpp"

#include "actors/base/caf_compat.hpp"
#include "actors/base/compute_thread.hpp"
#include "actors/base/interfaces.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/patience.hpp"

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

/// A watch with a clock that the test moves.
struct watch_scene {
  explicit watch_scene(std::chrono::milliseconds limit) : watch(limit) {}

  /// What is told after `time`; "+ " before what is over.
  std::vector<std::string> after(std::chrono::milliseconds time) {
    now += time;
    std::vector<std::string> out;
    for (const auto& news : watch.look(now))
      out.push_back((news.over ? "+ " : "") + news.sentence);
    return out;
  }

  work_watch watch;
  work_watch::clock::time_point now{1h};
};

using told_sentences = std::vector<std::string>;

} // namespace

CATCH_TEST_CASE("long work is told once, and once when it is over",
                "[actors][watch]") {
  watch_scene s{3s};
  const auto gauge = s.watch.enter("the batcher");
  CATCH_CHECK(s.after(1s) == told_sentences{});
  gauge->begin(typeid(tick).name());
  CATCH_CHECK(s.after(1s)
              == told_sentences{}); // It is seen for the first time.
  CATCH_CHECK(s.after(1s) == told_sentences{});
  CATCH_CHECK(s.after(1s) == told_sentences{});
  CATCH_CHECK(
    s.after(1s)
    == told_sentences{"the batcher has been at one piece of work (tick) "
                      "for 3 s"});
  CATCH_CHECK(s.after(1s) == told_sentences{});
  gauge->end();
  CATCH_CHECK(s.after(1s)
              == told_sentences{"+ the batcher is done with it after 5 s"});
  CATCH_CHECK(s.after(1s) == told_sentences{});
}

CATCH_TEST_CASE("long work is shown until a minute after its end",
                "[actors][watch]") {
  watch_scene s{2s};
  const auto gauge = s.watch.enter("the batcher");
  gauge->begin("a job");
  s.after(1s);
  s.after(1s);
  CATCH_CHECK(s.watch.long_work() == told_sentences{}); // It is no long work.
  s.after(1s);
  gauge->tell("another job");
  s.after(1s);
  CATCH_CHECK(s.watch.long_work()
              == told_sentences{"the batcher has been at one piece of work "
                                "(another job) for 3 s"});
  gauge->end();
  CATCH_CHECK(s.after(1s)
              == told_sentences{"+ the batcher is done with it after 4 s"});
  const told_sentences over{"the batcher is done with it after 4 s"};
  CATCH_CHECK(s.watch.long_work() == over);
  s.after(60s);
  CATCH_CHECK(s.watch.long_work() == over);
  s.after(1s);
  CATCH_CHECK(s.watch.long_work() == told_sentences{});
}

CATCH_TEST_CASE("much work is not long work", "[actors][watch]") {
  watch_scene s{2s};
  const auto gauge = s.watch.enter("the batcher");
  for (int i = 0; i < 10; ++i) {
    gauge->begin("a job");
    CATCH_CHECK(s.after(1s) == told_sentences{});
    gauge->end();
  }
}

CATCH_TEST_CASE("the time in which the process was stopped does not count",
                "[actors][watch]") {
  watch_scene s{3s};
  const auto gauge = s.watch.enter("the batcher");
  gauge->begin("a job");
  CATCH_CHECK(s.after(1s) == told_sentences{});
  CATCH_CHECK(s.after(60s) == told_sentences{}); // As two seconds.
  CATCH_CHECK(
    s.after(1s)
    == told_sentences{"the batcher has been at one piece of work (a job) "
                      "for 3 s"});
}

CATCH_TEST_CASE("looks that come early look at nothing", "[actors][watch]") {
  watch_scene s{2s};
  const auto gauge = s.watch.enter("the batcher");
  gauge->begin("a job");
  CATCH_CHECK(s.after(1s) == told_sentences{});
  for (int i = 0; i < 19; ++i)
    CATCH_CHECK(s.after(100ms) == told_sentences{});
  CATCH_CHECK(s.after(100ms).size() == 1); // Two seconds since the first.
}

CATCH_TEST_CASE("who ends in long work is told of as over", "[actors][watch]") {
  watch_scene s{1s};
  auto gauge = s.watch.enter("the batcher");
  gauge->begin("a job");
  s.after(1s);
  CATCH_CHECK(s.after(1s).size() == 1);
  gauge.reset();
  CATCH_CHECK(s.after(1s)
              == told_sentences{"+ the batcher is done with it after 2 s"});
}

CATCH_TEST_CASE("of many who are held up some are named and all counted",
                "[actors][watch]") {
  watch_scene s{1s};
  std::vector<std::shared_ptr<work_gauge>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(s.watch.enter(fmt::format("worker {}", i)));
    all.back()->begin("a job");
  }
  s.after(1s);
  const auto told = s.after(1s);
  CATCH_REQUIRE(told.size() == 9);
  CATCH_CHECK(told.front()
              == "worker 0 has been at one piece of work (a job) for 1 s");
  CATCH_CHECK(told.back() == "the same holds for 12 more");
}

namespace {

using held_actor = caf::typed_actor<takes<tick>>;

/// Is held up in its message until the test lets it go.
class held_up {
public:
  using interface = held_actor;
  static constexpr const char* name = "held_up";
  held_up(interface::pointer, std::promise<void>* begun,
          std::shared_future<void> may_end)
    : begun_(begun), may_end_(std::move(may_end)) {}

  interface::behavior_type make_behavior() {
    return {[this](const tick&) {
      begun_->set_value();
      may_end_.wait_for(test::patience);
    }};
  }

private:
  std::promise<void>* begun_;
  std::shared_future<void> may_end_;
};

} // namespace

CATCH_TEST_CASE("an actor that has one message for long is named with it",
                "[actors][watch]") {
  std::promise<void> begun;
  std::promise<void> let_end;
  watched_system_config settings;
  set_scheduler(settings, 2);
  std::string told;
  {
    caf::actor_system system{settings};
    const auto actor =
      spawn_state<held_up>(system, &begun, let_end.get_future().share());
    post(actor, tick{});
    const auto is_held =
      begun.get_future().wait_for(test::patience) == std::future_status::ready;
    auto now = work_watch::clock::time_point{1h};
    for (auto end = now + 40s; now < end; now += 1s)
      for (const auto& news : settings.watch->look(now))
        told += news.sentence;
    let_end.set_value();
    stop_actor(actor);
    CATCH_REQUIRE(is_held);
  }
  CATCH_CHECK(told.starts_with("held_up (actor "));
  CATCH_CHECK(
    told.ends_with(") has been at one piece of work (tick) for 30 s"));
}

CATCH_TEST_CASE("a failure that could not be told is told again",
                "[actors][lane]") {
  std::promise<std::string> told;
  int times = 0;
  compute_thread thread;
  thread.post([] { throw std::runtime_error("no such file"); },
              [&told, &times](const error& reason) {
                if (++times < 3)
                  throw std::bad_alloc{};
                told.set_value(reason.message);
              });
  auto answer = told.get_future();
  CATCH_REQUIRE(answer.wait_for(test::patience) == std::future_status::ready);
  CATCH_CHECK(answer.get() == "cannot finish a job: no such file");
}

CATCH_TEST_CASE("a failure that cannot be told ends no thread",
                "[actors][lane]") {
  std::promise<void> done;
  compute_thread thread;
  thread.post([] { throw std::bad_alloc{}; },
              [](const error&) { throw std::bad_alloc{}; });
  thread.post([&done] { done.set_value(); }, [](const error&) {});
  CATCH_CHECK(done.get_future().wait_for(test::patience)
              == std::future_status::ready);
}
