#pragma once

// This header includes headers of libtorch, which take long to compile: only
// the sources that connect devices include it.

#include "pipelines/gradients/devices/bulk_carrier.hpp"

#include <ATen/ATen.h>
#include <c10/core/Stream.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/version.h>

#if TORCH_VERSION_MAJOR >= 2
#  include <torch/csrc/distributed/c10d/Backend.hpp>
#endif

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace graphmill {

#if TORCH_VERSION_MAJOR >= 2
using c10d_group = c10d::Backend;
#else
using c10d_group = c10d::ProcessGroup;
#endif

/// Carries exchanges by an all-to-all of c10d each, between tensors on a
/// device: NCCL's on CUDA. Owns the group and tensors on the device, into which
/// it copies what is sent and out of which it copies what has come. What
/// libtorch throws is returned as `unavailable`. One caller at a time.
class c10d_carrier final : public bulk_carrier {
public:
  /// @param end Ends what is under way, where the destructor of `group` waits
  /// for it; may be empty.
  c10d_carrier(c10::intrusive_ptr<c10d_group> group, at::Device device,
               std::function<void()> end = {});
  ~c10d_carrier() override;

  result<void> start(std::span<const transfer> out,
                     std::span<const transfer> in) override;
  result<bool> landed() override;

private:
  /// An exchange that has been started and has not landed.
  struct flight {
    std::vector<transfer> in;
    at::Tensor sent;
    at::Tensor received;
    c10::intrusive_ptr<c10d::Work> work;
  };

  std::vector<std::int64_t> sizes_of(std::span<const transfer> list) const;
  at::Tensor take_buffer(std::int64_t bytes);

  c10::intrusive_ptr<c10d_group> group_;
  const at::Device device_;
  /// Where copies go on while the replica computes; the CPU has none.
  std::optional<c10::Stream> stream_;
  /// Memory of exchanges that have landed. Steps have the same ones, so that
  /// soon none is allocated, for which devices would stop.
  std::vector<at::Tensor> spare_;
  const std::function<void()> end_;
  std::deque<flight> flying_;
};

} // namespace graphmill
