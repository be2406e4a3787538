#pragma once

#include "actors/base/compute_thread.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// The CLUSTER PORT of the COORDINATOR itself: its transport and its threads.
class actor_port : public cluster_port {
public:
  /// @param has_members Whether keys have roles.
  actor_port(coordinator_actor::pointer self, std::shared_ptr<transport> net,
             bool has_members);

  /// Waits for the job at hand of each thread, and drops the others. Jobs use
  /// what the COORDINATOR owns, so its destructor calls this first.
  void end_threads();

  void ended(const call_ended& call) { calls_.ended(call); }

  const peer_identity& self() const override { return calls_.net().self(); }
  std::vector<link_standing> links() const override {
    return calls_.net().links();
  }
  void keep(const std::string& address) override { calls_.net().keep(address); }
  void forget(const std::string& address) override {
    calls_.net().forget(address);
  }
  void admit(key_table table) override;
  void call(const std::string& address, method what, payload data,
            const call_options& how, callback then) override {
    calls_.call(address, what, std::move(data), how, std::move(then));
  }
  void post(lane on, std::function<void()> job,
            std::function<void(const error&)> failed) override {
    thread(on).post(std::move(job), std::move(failed));
  }
  std::size_t waiting(lane on) override { return thread(on).waiting(); }
  std::function<void()> resume(std::function<void()> then) override;

private:
  compute_thread& thread(lane on) {
    return *threads_[static_cast<std::size_t>(on)];
  }

  remote_calls<coordinator_actor> calls_;
  std::array<std::unique_ptr<compute_thread>, 3> threads_; ///< By lane.
};

} // namespace graphmill
