#include "pipelines/gradients/carriers/c10d_carrier.hpp"

#include "pipelines/gradients/carriers/plain_text.hpp"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <numeric>

namespace graphmill {

namespace {

/// Memory of a transfer as a tensor that does not own it.
at::Tensor tensor_of(const transfer& piece) {
  return at::from_blob(piece.bytes.data(),
                       {static_cast<std::int64_t>(piece.bytes.size())},
                       at::kByte);
}

/// All-to-all takes pieces in the order of ranks.
std::vector<transfer> by_rank(std::span<const transfer> list) {
  std::vector<transfer> out(list.begin(), list.end());
  std::stable_sort(
    out.begin(), out.end(),
    [](const transfer& a, const transfer& b) { return a.peer < b.peer; });
  return out;
}

/// Calls `f` with each transfer and its place in a flat tensor.
template <class F>
void for_places(const std::vector<transfer>& list, const at::Tensor& flat,
                const F& f) {
  std::int64_t at = 0;
  for (const auto& piece : list) {
    const auto size = static_cast<std::int64_t>(piece.bytes.size());
    if (size > 0)
      f(piece, flat.narrow(0, at, size));
    at += size;
  }
}

} // namespace

c10d_carrier::c10d_carrier(c10::intrusive_ptr<c10d_group> group,
                           at::Device device, std::function<void()> end)
  : group_(std::move(group)), device_(device), end_(std::move(end)) {
  if (!device_.is_cpu())
    stream_ =
      c10::impl::VirtualGuardImpl{device_.type()}.getStreamFromGlobalPool(
        device_);
}

c10d_carrier::~c10d_carrier() {
  try {
    if (end_)
      end_();
  } catch (const std::exception&) {
    // Of a group that has failed: nobody waits for it any more.
  }
}

std::vector<std::int64_t>
c10d_carrier::sizes_of(std::span<const transfer> list) const {
  std::vector<std::int64_t> out(static_cast<std::size_t>(group_->getSize()));
  for (const auto& piece : list)
    out[static_cast<std::size_t>(piece.peer)] +=
      static_cast<std::int64_t>(piece.bytes.size());
  return out;
}

/// The smallest spare one that is large enough, or a new one.
at::Tensor c10d_carrier::take_buffer(std::int64_t bytes) {
  auto best = spare_.end();
  for (auto at = spare_.begin(); at != spare_.end(); ++at)
    if (at->numel() >= bytes
        && (best == spare_.end() || at->numel() < best->numel()))
      best = at;
  if (best == spare_.end())
    return at::empty({bytes},
                     at::TensorOptions().dtype(at::kByte).device(device_));
  auto out = std::move(*best);
  spare_.erase(best);
  return out;
}

result<void> c10d_carrier::start(std::span<const transfer> out,
                                 std::span<const transfer> in) {
  try {
    c10::OptionalStreamGuard here;
    if (stream_)
      here.reset_stream(*stream_);
    auto sent = sizes_of(out);
    auto received = sizes_of(in);
    const auto total = [](const std::vector<std::int64_t>& sizes) {
      return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    };
    flight next{
      by_rank(in), take_buffer(total(sent)), take_buffer(total(received)), {}};
    for_places(by_rank(out), next.sent,
               [](const transfer& from, at::Tensor place) {
                 place.copy_(tensor_of(from));
               });
    auto from = next.sent.narrow(0, 0, total(sent));
    auto to = next.received.narrow(0, 0, total(received));
    next.work = group_->alltoall_base(to, from, received, sent);
    flying_.push_back(std::move(next));
    return ok();
  } catch (const std::exception& e) {
    return fail(ec::unavailable, "{}", plain_text(e));
  }
}

result<bool> c10d_carrier::landed() {
  try {
    auto& oldest = flying_.front();
    if (!oldest.work->isCompleted())
      return false;
    // NCCL's `wait` does not throw it.
    if (const auto failure = oldest.work->exception())
      std::rethrow_exception(failure);
    c10::OptionalStreamGuard here;
    if (stream_)
      here.reset_stream(*stream_);
    oldest.work->wait(); // Orders the copies after the exchange.
    for_places(oldest.in, oldest.received,
               [](const transfer& into, const at::Tensor& place) {
                 tensor_of(into).copy_(place);
               });
    spare_.push_back(std::move(oldest.sent));
    spare_.push_back(std::move(oldest.received));
    flying_.pop_front();
    return true;
  } catch (const std::exception& e) {
    return fail(ec::unavailable, "{}", plain_text(e));
  }
}

} // namespace graphmill
