#include "pipelines/gradients/carriers/c10d_carrier.hpp"
#include "pipelines/gradients/carriers/c10d_store.hpp"
#include "pipelines/gradients/carriers/gloo_collective.hpp"
#include "pipelines/gradients/carriers/plain_text.hpp"
#include "pipelines/gradients/device_collective.hpp"
#include "tests/pipelines/gradients/ranks.hpp"

#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace graphmill::test {

namespace {

/// As NCCL connects CUDA devices: here a second Gloo connects the processor.
carrier_factory
factory_by_gloo(const std::shared_ptr<roll_call>& roll,
                const std::shared_ptr<rendezvous_store>& store) {
  carrier_factory out;
  out.device.front() = static_cast<std::byte>(roll->options().rank + 1);
  out.grace = roll->options().grace;
  out.connect =
    [=](
      const std::atomic<bool>& stop) -> result<std::unique_ptr<bulk_carrier>> {
    using gloo_group = c10d::ProcessGroupGloo;
    const auto& options = roll->options();
    try {
      auto how = gloo_group::Options::create(options.connect_timeout);
      how->devices.push_back(gloo_group::createDeviceForHostname(options.host));
      const auto deadline =
        rendezvous_store::clock::now() + options.connect_timeout;
      return std::make_unique<c10d_carrier>(
        c10::make_intrusive<gloo_group>(
          c10::make_intrusive<c10d_store>("devices", roll, store, deadline,
                                          stop),
          options.rank, options.ranks, how),
        at::kCPU);
    } catch (const std::exception& e) {
      return fail(ec::unavailable, "{}", plain_text(e));
    }
  };
  return out;
}

} // namespace

group_rank::connector connector_of(std::shared_ptr<rendezvous_store> store,
                                   std::shared_ptr<orphan_threads> orphans) {
  return [=](auto roll, const std::string& fingerprint) {
    return join_by_devices(join_by_gloo(roll, fingerprint, store, orphans),
                           factory_by_gloo(roll, store), orphans);
  };
}

} // namespace graphmill::test
