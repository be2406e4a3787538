#include "actors/feed/outlet.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace graphmill {

namespace {

class outlet {
public:
  using interface = outlet_actor;
  static constexpr const char* name = "outlet";

  outlet(interface::pointer self, outlet_config config)
    : self_(self), config_(std::move(config)) {
    config_.gauge->enter(actor_state::starved);
  }

  ~outlet() {
    for (auto& [sequence, promise] : credits_)
      promise.deliver(
        to_caf(fail(ec::cancelled, "the outlet is shutting down")));
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const step_input& input) { return take(input); },
      [](const trainer_request&) -> caf::result<trainer_state> {
        return to_caf(fail(ec::invalid_argument, "an outlet has no model"));
      },
      [](const job_done&) {},
      [this](const wanted_pass& next) {
        phase_ = next.phase;
        pass_ = next.pass;
        next_ = next.pass.first;
      },
      [this](const batches_back& back) { take_back(back.batches); },
    };
  }

private:
  using answer_promise = caf::typed_response_promise<step_finished>;

  struct unsent_batch {
    std::uint64_t sequence;
    std::uint64_t pass;
    std::shared_ptr<minibatch> batch;
  };

  caf::result<step_finished> take(const step_input& input) {
    const auto& key = input.batch->data.key;
    if (key.phase != phase_ || key.epoch != pass_.epoch || key.step != next_
        || next_ >= pass_.steps)
      return step_finished{input.sequence, config_.rank};
    ++next_;
    auto answer = self_->make_response_promise<step_finished>();
    credits_.emplace(input.sequence, answer);
    unsent_.push_back({input.sequence, pass_.number, input.batch});
    hand_out();
    return answer;
  }

  /// In the order of steps, as far as there is room.
  void hand_out() {
    while (!unsent_.empty()) {
      const auto& [sequence, pass, batch] = unsent_.front();
      if (!config_.hand(sequence, pass, batch))
        break;
      config_.gauge->works_on(batch->data.key);
      config_.gauge->enter(actor_state::running);
      unsent_.pop_front();
    }
    config_.gauge->queued(unsent_.size());
  }

  void take_back(const std::vector<batch_back>& back) {
    for (const auto& one : back) {
      const auto it = credits_.find(one.sequence);
      if (it == credits_.end() || !one.returned)
        continue;
      it->second.deliver(step_finished{one.sequence, config_.rank});
      config_.gauge->made(0);
      credits_.erase(it);
    }
    hand_out();
    // A consumer that has returned all batches waits for the next one.
    if (credits_.empty())
      config_.gauge->enter(actor_state::starved);
  }

  interface::pointer self_;
  outlet_config config_;
  phase phase_ = phase::train;
  feed_pass pass_;
  std::int64_t next_ = 0; ///< The step that is handed out next.
  /// Of batches that have not been returned, by sequence.
  std::map<std::uint64_t, answer_promise> credits_;
  std::deque<unsent_batch> unsent_; ///< That have not been handed out.
};

} // namespace

outlet_actor spawn_outlet(caf::actor_system& system, outlet_config config) {
  return spawn_state<outlet>(system, std::move(config));
}

} // namespace graphmill
