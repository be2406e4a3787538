#include "actors/stages/training/ddp_group.hpp"

#include "actors/base/actor_thread.hpp"
#include "pipelines/gradients/carriers/nccl_factory.hpp"
#include "pipelines/gradients/devices/device_collective.hpp"
#include "pipelines/gradients/messages/message_collective.hpp"

#include <atomic>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

class ddp_group {
public:
  using interface = gradient_group_actor::extend<
    // INTERNAL: a step has ended.
    takes<job_done>>;
  static constexpr const char* name = "ddp_group";

  ddp_group(interface::pointer self, ddp_group_config config)
    : self_(self), config_(std::move(config)),
      rank_(
        config_.options, config_.shape, config_.store,
        [this](auto roll, const std::string& fingerprint) {
          return connect(std::move(roll), fingerprint);
        },
        config_.counters),
      thread_(self) {
    if (!config_.gauge)
      config_.gauge =
        std::make_shared<actor_gauge>(actor_label{actor_kind::gradient_group});
    config_.gauge->enter(actor_state::starved);
    thread_.install([this] { rank_.abandon(); });
  }

  ~ddp_group() {
    quietly([this] { rank_.abandon(); });
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const contribution& part) { return add_part(part); },
      [this](const stop_after_step&) { stopping_ = true; },
      [this](const job_done&) { thread_.next(); },
    };
  }

  bool crashed(const caf::error& reason) { return thread_.crashed(reason); }

private:
  /// By messages and, where ranks compute on CUDA, by NCCL for gradients.
  std::unique_ptr<collective> connect(const std::shared_ptr<roll_call>& roll,
                                      const std::string& fingerprint) const {
    auto group =
      join_by_messages(roll, fingerprint, config_.link, config_.orphans);
    if (config_.device == "cpu")
      return group;
    return join_by_devices(std::move(group),
                           nccl_factory(config_.device, roll, config_.store),
                           config_.orphans);
  }

  caf::result<reduced_gradients> add_part(const contribution& part) {
    if (part.rank != config_.options.rank)
      return to_caf(fail(ec::invalid_argument,
                         "rank {} has contributed to the group of rank {}",
                         part.rank, config_.options.rank));
    auto promise = self_->make_response_promise<reduced_gradients>();
    auto done = std::make_shared<result<step_sum>>(error{});
    config_.gauge->asked(0);
    thread_.post(
      [this, part, done] {
        gradient_progress finished;
        auto* progress = part.progress.get();
        if (progress == nullptr) {
          finished.finish(part.metrics);
          progress = &finished;
        }
        *done = rank_.reduce({part.step, stopping_}, part.gradients, *progress);
      },
      [promise, done, gauge = config_.gauge, since = actor_gauge::clock::now()](
        const std::optional<error>& failure) mutable {
        const auto sum = *done ? done->value().gradients : nullptr;
        gauge->answered(actor_gauge::clock::now() - since,
                        sum ? sum->dense.size() * sizeof(float) : 0);
        if (failure)
          promise.deliver(to_caf(*failure));
        else if (!*done)
          promise.deliver(to_caf(done->error()));
        else
          promise.deliver(reduced_gradients{done->value().gradients,
                                            done->value().last,
                                            done->value().metrics});
      });
    return promise;
  }

  interface::pointer self_;
  ddp_group_config config_;
  group_rank rank_;
  std::atomic<bool> stopping_{false};
  actor_thread<interface> thread_; ///< Last: ends before what its jobs use.
};

} // namespace

gradient_group_actor spawn_ddp_group(caf::actor_system& system,
                                     ddp_group_config config) {
  return spawn_state<ddp_group>(system, std::move(config));
}

} // namespace graphmill
