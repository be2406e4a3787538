#include "pipelines/gradients/carriers/nccl_factory.hpp"

#include "pipelines/gradients/carriers/c10d_carrier.hpp"
#include "pipelines/gradients/carriers/c10d_store.hpp"
#include "pipelines/gradients/carriers/plain_text.hpp"

#define USE_C10D_NCCL
#include <ATen/cuda/CUDAContext.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include <array>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace graphmill {

namespace {

using nccl_group = c10d::ProcessGroupNCCL;
using clock = rendezvous_store::clock;

struct setting {
  const char* name;
  const char* value;
};

/// What keeps libtorch from ending the process by itself. The settings for
/// debugging are among them because they would turn that on again.
#if TORCH_VERSION_MAJOR > 2                                                    \
  || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR > 1)
constexpr std::array settings{setting{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "0"},
                              setting{"TORCH_NCCL_ENABLE_MONITORING", "0"},
                              setting{"TORCH_NCCL_BLOCKING_WAIT", "0"},
                              setting{"TORCH_NCCL_DESYNC_DEBUG", "0"},
                              setting{"TORCH_DISTRIBUTED_DEBUG", "OFF"}};
#else
constexpr std::array settings{
  setting{"NCCL_ASYNC_ERROR_HANDLING", "0"}, setting{"NCCL_BLOCKING_WAIT", "0"},
  setting{"NCCL_DESYNC_DEBUG", "0"}, setting{"TORCH_DISTRIBUTED_DEBUG", "OFF"}};
#endif

/// What NCCL is told of how long an exchange may take: `group_rank` gives up
/// long before, and says who is missing.
constexpr std::chrono::hours no_limit{24};

carrier_factory::device_id identity_of(const at::Device& device) {
  const auto* properties = at::cuda::getDeviceProperties(device.index());
  carrier_factory::device_id out;
  static_assert(sizeof properties->uuid.bytes == sizeof out);
  std::memcpy(out.data(), properties->uuid.bytes, sizeof out);
  return out;
}

/// Exchanges a byte with each peer, for NCCL connects to a peer only with the
/// first exchange: a device that cannot be reached is thus known before
/// training begins.
result<void> exchange_first(c10d_carrier& by, const group_options& options,
                            clock::time_point deadline,
                            const std::atomic<bool>& stop) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(options.ranks) * 2);
  std::vector<transfer> out, in;
  for (rank_id r = 0; r < options.ranks; ++r)
    if (r != options.rank) {
      auto* own = bytes.data() + std::size_t(r) * 2;
      out.push_back({r, {own, 1}});
      in.push_back({r, {own + 1, 1}});
    }
  GRAPHMILL_TRYV(by.start(out, in));
  for (;;) {
    GRAPHMILL_TRY(const auto came, by.landed());
    if (came)
      return ok();
    if (stop)
      return fail(ec::cancelled, "the gradient group was abandoned");
    if (clock::now() > deadline)
      return fail(ec::timeout, "no answer from all devices");
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

result<std::unique_ptr<bulk_carrier>>
connect(const at::Device& device, const std::shared_ptr<roll_call>& roll,
        const std::shared_ptr<rendezvous_store>& store,
        const std::atomic<bool>& stop) {
  const auto& options = roll->options();
  const auto failed = [&](const std::string& reason) {
    return fail(ec::unavailable, "cannot connect {} by NCCL: {}", device.str(),
                reason);
  };
  try {
    const auto deadline = clock::now() + options.connect_timeout;
    auto how = nccl_group::Options::create();
    how->timeout = no_limit;
    auto group = c10::make_intrusive<nccl_group>(
      c10::make_intrusive<c10d_store>("nccl", roll, store, deadline, stop),
      options.rank, options.ranks, how);
    std::function<void()> end;
#if TORCH_VERSION_MAJOR >= 2
    end = [group] { group->abort(); }; // Of libtorch 1: the destructor does.
#endif
    auto out =
      std::make_unique<c10d_carrier>(std::move(group), device, std::move(end));
    if (auto first = exchange_first(*out, options, deadline, stop); !first)
      return failed(first.error().message);
    return std::unique_ptr<bulk_carrier>{std::move(out)};
  } catch (const std::exception& e) {
    return failed(plain_text(e));
  }
}

} // namespace

void keep_process_alive() {
  for (const auto& [name, value] : settings)
    setenv(name, value, 1);
}

carrier_factory nccl_factory(const std::string& device,
                             std::shared_ptr<roll_call> roll,
                             std::shared_ptr<rendezvous_store> store) {
  try {
    const at::Device here{device};
    if (!here.is_cuda() || !here.has_index())
      return {};
    carrier_factory out;
    out.device = identity_of(here);
    out.grace = roll->options().grace;
    out.connect = [=](const std::atomic<bool>& stop) {
      return connect(here, roll, store, stop);
    };
    return out;
  } catch (const std::exception&) {
    // The driver does not work, which `check_device` says where it matters:
    // here it only means that there is no device to connect.
    return {};
  }
}

} // namespace graphmill
