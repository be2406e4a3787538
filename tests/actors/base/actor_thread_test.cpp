#include "actors/base/actor_thread.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/patience.hpp"

#include <future>
#include <memory>
#include <stdexcept>
#include <vector>

using namespace graphmill;

namespace {

struct begin_job {
  std::shared_ptr<std::promise<void>> begun;
  std::shared_future<void> may_end;
};

} // namespace

GRAPHMILL_LOCAL_MESSAGE(begin_job)

namespace {

using worker = caf::typed_actor<takes<begin_job>, takes<job_done>, takes<tick>>;

/// Does long jobs, and notes how they went. Throws at a tick.
class busy_actor {
public:
  using interface = worker;
  static constexpr const char* name = "busy_actor";
  busy_actor(interface::pointer self, std::promise<std::string>* told)
    : told_(told), thread_(self) {
    thread_.install([] {});
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const begin_job& job) {
        thread_.post(
          [job] {
            job.begun->set_value();
            if (job.may_end.wait_for(test::patience)
                != std::future_status::ready)
              throw std::runtime_error("nobody lets the job end");
            job.may_end.get();
          },
          [this](const std::optional<error>& failure) {
            told_->set_value(failure ? failure->message : "");
          });
      },
      [this](const job_done&) { thread_.next(); },
      [](const tick&) { throw std::runtime_error("13 brings bad luck"); },
    };
  }

  bool crashed(const caf::error& reason) { return thread_.crashed(reason); }

private:
  std::promise<std::string>* told_;
  actor_thread<interface> thread_;
};

using echo_actor = caf::typed_actor<takes<tick>>;

class echo {
public:
  using interface = echo_actor;
  static constexpr const char* name = "echo";
  echo(interface::pointer, std::promise<void>* heard) : heard_(heard) {}
  interface::behavior_type make_behavior() {
    return {[this](const tick&) { heard_->set_value(); }};
  }

private:
  std::promise<void>* heard_;
};

struct actor_thread_scene {
  std::promise<void> let_end; ///< Of all jobs.
  std::shared_future<void> may_end = let_end.get_future().share();
  caf::actor_system_config settings;
  std::unique_ptr<caf::actor_system> system;

  actor_thread_scene() {
    set_scheduler(settings, 2);
    system = std::make_unique<caf::actor_system>(settings);
  }

  /// An actor with a job that is on.
  worker begin(std::promise<std::string>& told) {
    auto out = spawn_state<busy_actor>(*system, &told);
    begin_job job{std::make_shared<std::promise<void>>(), may_end};
    auto begun = job.begun->get_future();
    post(out, job);
    begun.wait();
    return out;
  }

  /// Checks that another actor's messages have their turn.
  void expect_others_to_be_served() {
    std::promise<void> heard;
    auto other = spawn_state<echo>(*system, &heard);
    post(other, tick{});
    CATCH_CHECK(heard.get_future().wait_for(test::patience)
                == std::future_status::ready);
    stop_actor(other);
  }
};

} // namespace

CATCH_TEST_CASE("actors that end in a long job do not hold up the others",
                "[actors][lane]") {
  std::vector<std::promise<std::string>> told(4);
  actor_thread_scene s;
  for (auto& promise : told) // More than there are threads.
    stop_actor(s.begin(promise));
  s.expect_others_to_be_served();
  s.let_end.set_value();
  for (auto& promise : told)
    CATCH_CHECK(promise.get_future().get().empty());
  s.system.reset(); // Ends, for all actors have.
}

CATCH_TEST_CASE("actors that crash in a long job do not hold up the others",
                "[actors][lane]") {
  std::vector<std::promise<std::string>> told(4);
  std::vector<std::promise<error>> ended(told.size());
  actor_thread_scene s;
  for (std::size_t i = 0; i < told.size(); ++i) { // More than threads.
    const auto actor = s.begin(told[i]);
    caf::actor_cast<caf::actor>(actor)->attach_functor(
      [&end = ended[i]](const caf::error& reason) {
        end.set_value(from_caf(reason, "it"));
      });
    post(actor, tick{});
  }
  s.expect_others_to_be_served();
  s.let_end.set_value();
  for (auto& promise : told) // Their jobs have come to an end.
    CATCH_CHECK(promise.get_future().get().empty());
  for (auto& promise : ended) {
    const auto reason = promise.get_future().get();
    CATCH_CHECK(reason.code == ec::crashed);
    CATCH_CHECK(reason.message == "busy_actor crashed: 13 brings bad luck");
  }
  s.system.reset(); // Ends, for all actors have.
}

CATCH_TEST_CASE("an actor that crashes without a job ends at once",
                "[actors][lane]") {
  std::promise<std::string> told;
  std::promise<error> ended;
  actor_thread_scene s;
  const auto actor = spawn_state<busy_actor>(*s.system, &told);
  caf::actor_cast<caf::actor>(actor)->attach_functor(
    [&ended](const caf::error& reason) {
      ended.set_value(from_caf(reason, "it"));
    });
  post(actor, tick{});
  auto end = ended.get_future();
  CATCH_REQUIRE(end.wait_for(test::patience) == std::future_status::ready);
  CATCH_CHECK(end.get().code == ec::crashed);
}

CATCH_TEST_CASE("what a job throws comes to its actor", "[actors][lane]") {
  std::promise<std::string> told;
  actor_thread_scene s;
  const auto actor = s.begin(told);
  s.let_end.set_exception(
    std::make_exception_ptr(std::runtime_error("no such file")));
  CATCH_CHECK(told.get_future().get() == "cannot finish a job: no such file");
  stop_actor(actor);
}
