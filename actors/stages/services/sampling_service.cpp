#include "actors/stages/services/sampling_service.hpp"

#include "actors/base/actor_thread.hpp"
#include "partition/disk/disk_sampling.hpp"
#include "partition/files/mapped_file.hpp"

namespace graphmill {

namespace {

result<neighbour_answer> sampled(const sampling_service_config& config,
                                 const neighbour_job& job) {
  busy_scope busy{*config.counters};
  auto reply =
    std::make_shared<neighbour_reply>(neighbour_reply::in(config.pool));
  GRAPHMILL_TRYV(config.from_disk
                   ? sample_from_disk(*config.part, job.request, *reply)
                   : sample_neighbours(*config.part, job.request, *reply));
  // What lay beyond the end of a shortened file has been read as zeros.
  if (auto fault = mapped_file::first_fault())
    return *std::move(fault);
  config.counters->item_done(reply->sources.size());
  return neighbour_answer{std::move(reply)};
}

class sampling_service {
public:
  using interface = sampling_service_actor;
  static constexpr const char* name = "sampling_service";

  sampling_service(interface::pointer, sampling_service_config config)
    : config_(std::move(config)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const neighbour_job& job) -> caf::result<neighbour_answer> {
        auto answer = sampled(config_, job);
        if (!answer)
          return to_caf(answer.error());
        return std::move(answer).value();
      },
    };
  }

private:
  sampling_service_config config_;
};

/// The same for a part on disk, by a thread of its own that may wait for pages.
class disk_sampling_service {
public:
  using interface = sampling_service_actor::extend<takes<job_done>>;
  static constexpr const char* name = "disk_sampling_service";

  disk_sampling_service(interface::pointer self, sampling_service_config config)
    : self_(self), config_(std::move(config)), thread_(self) {
    thread_.install([] {});
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const neighbour_job& job) { return begin(job); },
      [this](const job_done&) { thread_.next(); },
    };
  }

  bool crashed(const caf::error& reason) { return thread_.crashed(reason); }

private:
  caf::result<neighbour_answer> begin(const neighbour_job& job) {
    auto promise = self_->make_response_promise<neighbour_answer>();
    auto answer = std::make_shared<std::optional<result<neighbour_answer>>>();
    thread_.post(
      [this, job, answer] { *answer = sampled(config_, job); },
      [promise, answer](const std::optional<error>& failure) mutable {
        if (failure)
          promise.deliver(to_caf(*failure));
        else if (**answer)
          promise.deliver((*answer)->value());
        else
          promise.deliver(to_caf((*answer)->error()));
      });
    return promise;
  }

  interface::pointer self_;
  sampling_service_config config_;
  actor_thread<interface> thread_; ///< Last: ends before what its jobs use.
};

} // namespace

sampling_service_actor spawn_sampling_service(caf::actor_system& system,
                                              sampling_service_config config) {
  if (config.from_disk)
    return spawn_state<disk_sampling_service>(system, std::move(config));
  return spawn_state<sampling_service>(system, std::move(config));
}

} // namespace graphmill
