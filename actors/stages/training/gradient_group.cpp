#include "actors/stages/training/gradient_group.hpp"

#include "pipelines/gradients/gradient_set.hpp"

#include <map>

namespace graphmill {

namespace {

class gradient_group {
public:
  using interface = gradient_group_actor;
  static constexpr const char* name = "gradient_group";

  gradient_group(interface::pointer self, gradient_group_config config)
    : self_(self), config_(std::move(config)) {
    if (!config_.gauge)
      config_.gauge =
        std::make_shared<actor_gauge>(actor_label{actor_kind::gradient_group});
    config_.gauge->enter(actor_state::starved);
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const contribution& part) { return add_part(part); },
      [this](const stop_after_step&) { stopping_ = true; },
    };
  }

private:
  /// A step that not all ranks have contributed to yet.
  struct open_step {
    std::vector<std::shared_ptr<gradient_set>> gradients;
    std::vector<caf::typed_response_promise<reduced_gradients>> promises;
    std::vector<actor_gauge::clock::time_point> since; ///< Of the promises.
    rank_id present = 0;
    std::vector<batch_metrics> metrics;
  };

  caf::result<reduced_gradients> add_part(const contribution& part) {
    if (part.rank < 0 || part.rank >= config_.ranks)
      return to_caf(fail(ec::invalid_argument,
                         "rank {} is not in a group of {}", part.rank,
                         config_.ranks));
    auto& step = open_[part.step];
    step.gradients.resize(static_cast<std::size_t>(config_.ranks));
    step.metrics.resize(step.gradients.size());
    auto& place = step.gradients[part.rank];
    if (place != nullptr)
      return to_caf(fail(ec::invalid_argument,
                         "rank {} has contributed to step {} already",
                         part.rank, part.step));
    place = part.gradients;
    step.metrics[part.rank] = part.metrics;
    auto promise = self_->make_response_promise<reduced_gradients>();
    step.promises.push_back(promise);
    step.since.push_back(actor_gauge::clock::now());
    config_.gauge->asked(0);
    if (++step.present == config_.ranks)
      reduce(std::move(open_.extract(part.step).mapped()));
    return promise;
  }

  void reduce(open_step step) {
    busy_scope busy{*config_.counters};
    config_.gauge->enter(actor_state::running);
    auto& sum = step.gradients.front();
    for (std::size_t r = 1; r < step.gradients.size(); ++r)
      add(*sum, *step.gradients[r]);
    config_.counters->item_done(sum->dense.size() * sizeof(float)
                                * step.gradients.size());
    for (auto& promise : step.promises)
      promise.deliver(reduced_gradients{sum, stopping_, step.metrics});
    for (auto since : step.since)
      config_.gauge->answered(actor_gauge::clock::now() - since,
                              sum->dense.size() * sizeof(float));
  }

  interface::pointer self_;
  gradient_group_config config_;
  std::map<std::int64_t, open_step> open_;
  bool stopping_ = false;
};

} // namespace

gradient_group_actor spawn_gradient_group(caf::actor_system& system,
                                          gradient_group_config config) {
  return spawn_state<gradient_group>(system, std::move(config));
}

} // namespace graphmill
