#include "actors/stages/training/late_group.hpp"

#include <deque>
#include <utility>

namespace graphmill {

namespace {

class late_group {
public:
  using interface = gradient_group_actor::extend<
    // INTERNAL: the oldest contribution has waited for long enough.
    takes<tick>>;
  static constexpr const char* name = "late_group";

  late_group(interface::pointer self, gradient_group_actor group,
             std::chrono::milliseconds delay)
    : self_(self), group_(std::move(group)), delay_(delay) {
    self_->link_to(group_);
    self_->set_exit_handler([this](const caf::exit_msg& exit) {
      const auto is_polite =
        !exit.reason || exit.reason == caf::exit_reason::user_shutdown;
      for (auto& [part, promise] : held_)
        promise.deliver(is_polite
                          ? to_caf(fail(ec::cancelled, "the gradient group is "
                                                       "shutting down"))
                          : exit.reason);
      self_->quit(exit.reason);
    });
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const contribution& part) -> caf::result<reduced_gradients> {
        auto promise = self_->make_response_promise<reduced_gradients>();
        held_.push_back({part, promise});
        post_later(handle_of<interface>(self_), delay_, tick{});
        return promise;
      },
      [this](const stop_after_step& stop) { post_urgent(group_, stop); },
      [this](const tick&) {
        auto [part, promise] = std::move(held_.front());
        held_.pop_front();
        promise.delegate(group_, std::move(part));
      },
    };
  }

private:
  struct late_part {
    contribution part;
    caf::typed_response_promise<reduced_gradients> promise;
  };

  interface::pointer self_;
  gradient_group_actor group_;
  std::chrono::milliseconds delay_;
  std::deque<late_part> held_;
};

} // namespace

gradient_group_actor spawn_late_group(caf::actor_system& system,
                                      gradient_group_actor group,
                                      std::chrono::milliseconds delay) {
  return spawn_state<late_group>(system, std::move(group), delay);
}

} // namespace graphmill
