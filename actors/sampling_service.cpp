#include "actors/sampling_service.hpp"

#include "actors/worker_pool.hpp"

namespace graphmill {

namespace {

class sampling_service {
public:
  using interface = sampling_service_actor;
  static constexpr const char* name = "sampling_service";

  sampling_service(interface::pointer, sampling_service_config config)
    : config_(std::move(config)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const neighbour_job& job) { return answer(job); },
    };
  }

private:
  caf::result<neighbour_answer> answer(const neighbour_job& job) {
    crash_if_told(job);
    busy_scope busy{*config_.counters};
    auto reply = std::make_shared<neighbour_reply>();
    reply->counts = pod_vector<std::int32_t>{config_.pool};
    reply->sources = pod_vector<std::byte>{config_.pool};
    reply->edge_ids = pod_vector<edge_id>{config_.pool};
    if (auto done = sample_neighbours(*config_.part, job.request, *reply);
        !done)
      return to_caf(done.error());
    config_.counters->item_done(reply->sources.size());
    return neighbour_answer{std::move(reply)};
  }

  sampling_service_config config_;
};

} // namespace

sampling_service_actor spawn_sampling_service(caf::actor_system& system,
                                              sampling_service_config config) {
  return spawn_state<sampling_service>(system, std::move(config));
}

} // namespace graphmill
