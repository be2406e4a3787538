#include "actors/feed/feed_lead.hpp"

#include <utility>

namespace graphmill {

namespace {

class feed_lead {
public:
  using interface = run_reports_actor;
  static constexpr const char* name = "feed lead";

  feed_lead(interface::pointer, std::function<void(const error&)> on_failure)
    : on_failure_(std::move(on_failure)) {}

  interface::behavior_type make_behavior() {
    return {
      [](const member_ready&) {},
      [](const step_result&) {},
      [](const trainer_stopped&) {},
      [this](const run_failed& failure) { on_failure_(failure.reason); },
    };
  }

private:
  std::function<void(const error&)> on_failure_;
};

} // namespace

run_reports_actor
spawn_feed_lead(caf::actor_system& system,
                std::function<void(const error&)> on_failure) {
  return spawn_state<feed_lead>(system, std::move(on_failure));
}

} // namespace graphmill
