#include "actors/cluster/run_relay.hpp"

#include "actors/cluster/calls.hpp"
#include "messages/run.hpp"

namespace graphmill {

namespace {

using relay_actor = run_reports_actor::extend<takes<call_ended>>;

class run_relay {
public:
  using interface = relay_actor;
  static constexpr const char* name = "run_relay";

  run_relay(interface::pointer self, run_relay_config config)
    : config_(std::move(config)), calls_(self, config_.net) {
    next_.run = config_.run;
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const step_result& done) {
        next_.steps.push_back({done.key, done.metrics.loss_sum,
                               done.metrics.correct, done.metrics.seeds});
        send();
      },
      [this](const trainer_stopped& stopped) {
        next_.stopped.push_back(stopped.rank);
        send();
      },
      [this](const run_failed& failed) {
        if (!next_.failure)
          next_.failure = failed.why;
        send();
      },
      [this](const call_ended& ended) { calls_.ended(ended); },
    };
  }

private:
  void send() {
    if (under_way_ || next_.empty())
      return;
    under_way_ = true;
    next_.sequence = ++sequence_;
    auto message = encode(next_);
    next_ = {};
    next_.run = config_.run;
    calls_.call(
      config_.coordinator, method::run_event, std::move(message), {},
      [this](const result<payload>& answer) {
        under_way_ = false;
        if (answer)
          send();
        else
          post(config_.node, run_orphaned{config_.run, answer.error()});
      });
  }

  run_relay_config config_;
  remote_calls<interface> calls_;
  run_events next_; ///< What has come since the last message.
  std::uint64_t sequence_ = 0;
  bool under_way_ = false;
};

} // namespace

run_reports_actor spawn_run_relay(caf::actor_system& system,
                                  run_relay_config config) {
  return spawn_state<run_relay>(system, std::move(config));
}

} // namespace graphmill
