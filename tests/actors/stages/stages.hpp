#pragma once

#include "actors/stages/dispatcher.hpp"
#include "tests/support/actors.hpp"
#include "tests/support/memory_graph.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace graphmill::test {

/// Tells a dummy stage what to answer to the job that it got as number `index`.
struct answer_now {
  std::size_t index = 0;
  std::optional<error> reason; ///< An error instead of an answer.
};

} // namespace graphmill::test

GRAPHMILL_LOCAL_MESSAGE(graphmill::test::answer_now)

namespace graphmill::test {

/// What a dummy stage has been asked, and how to make its answers.
template <class Job, class Answer>
struct stage_script {
  std::function<Answer(const Job&)> make;
  bool hold = false; ///< Answers wait for `answer_now`.
  std::vector<Job> jobs;
};

/// A stage that does as the test says.
template <class Job, class Answer>
class dummy_stage {
public:
  using script = stage_script<Job, Answer>;
  using interface = caf::typed_actor<answers<Job, Answer>, takes<answer_now>>;
  static constexpr const char* name = "dummy_stage";

  dummy_stage(typename interface::pointer self, std::shared_ptr<script> given)
    : self_(self), script_(std::move(given)) {}

  typename interface::behavior_type make_behavior() {
    return {
      [this](const Job& job) -> caf::result<Answer> {
        script_->jobs.push_back(job);
        promises_.push_back(self_->template make_response_promise<Answer>());
        auto promise = promises_.back();
        if (!script_->hold)
          answer(promises_.size() - 1, std::nullopt);
        return promise;
      },
      [this](const answer_now& told) { answer(told.index, told.reason); },
    };
  }

private:
  void answer(std::size_t index, const std::optional<error>& reason) {
    if (reason)
      promises_.at(index).deliver(to_caf(*reason));
    else
      promises_.at(index).deliver(script_->make(script_->jobs.at(index)));
  }

  typename interface::pointer self_;
  std::shared_ptr<script> script_;
  std::vector<caf::typed_response_promise<Answer>> promises_;
};

/// A dummy stage with what the test needs to lead it.
template <class Job, class Answer>
struct led_stage {
  using actor_type = dummy_stage<Job, Answer>;
  std::shared_ptr<stage_script<Job, Answer>> script =
    std::make_shared<stage_script<Job, Answer>>();
  typename actor_type::interface handle;

  void spawn(simulation& sim, std::function<Answer(const Job&)> make) {
    script->make = std::move(make);
    handle = sim.own(spawn_state<actor_type>(sim.system(), script));
  }
  const std::vector<Job>& jobs() const { return script->jobs; }
  void answer(simulation& sim, std::size_t index,
              std::optional<error> reason = std::nullopt) {
    post(handle, answer_now{index, std::move(reason)});
    sim.run();
  }
};

} // namespace graphmill::test
