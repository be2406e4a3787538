#include "pipelines/gradients/carriers/c10d_carrier.hpp"
#include "pipelines/gradients/devices/device_collective.hpp"
#include "tests/pipelines/gradients/memory_carrier.hpp"
#include "tests/pipelines/gradients/memory_ranks.hpp"

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

namespace graphmill::test {

namespace {

using sizes = std::vector<std::int64_t>;

/// Done when the oldest exchange of a carrier has landed.
class memory_work final : public c10d::Work {
public:
  explicit memory_work(std::shared_ptr<memory_carrier> by)
    : by_(std::move(by)) {}

  bool isCompleted() override {
    if (done_)
      return true;
    const auto came = by_->landed();
    if (!came)
      failure_ =
        std::make_exception_ptr(std::runtime_error{came.error().message});
    done_ = !came || came.value();
    return done_;
  }
  std::exception_ptr exception() const override { return failure_; }
  bool wait(std::chrono::milliseconds) override { return true; }

private:
  std::shared_ptr<memory_carrier> by_;
  std::exception_ptr failure_;
  bool done_ = false;
};

/// What NCCL is between CUDA devices, between threads of this process.
class memory_process_group final : public c10d_group {
public:
  memory_process_group(std::shared_ptr<carrier_board> board, rank_id rank,
                       rank_id ranks)
    : c10d_group(rank, ranks),
      by_(std::make_shared<memory_carrier>(std::move(board), rank)) {}

  const std::string getBackendName() const override { return "memory"; }

  c10::intrusive_ptr<c10d::Work>
  alltoall_base(at::Tensor& to, at::Tensor& from, sizes& to_sizes,
                sizes& from_sizes, const c10d::AllToAllOptions&) override {
    const auto started =
      by_->start(pieces_of(from, from_sizes), pieces_of(to, to_sizes));
    if (!started)
      throw std::runtime_error{started.error().message};
    return c10::make_intrusive<memory_work>(by_);
  }

private:
  std::vector<transfer> pieces_of(at::Tensor& flat, const sizes& of) const {
    std::vector<transfer> out;
    auto* at = static_cast<std::byte*>(flat.data_ptr());
    for (std::size_t r = 0; r < of.size(); ++r) {
      const auto size = static_cast<std::size_t>(of[r]);
      if (static_cast<int>(r) != getRank())
        out.push_back({static_cast<rank_id>(r), {at, size}});
      at += size;
    }
    return out;
  }

  std::shared_ptr<memory_carrier> by_;
};

/// Ranks of a group meet on one board, as long as their store lives: another
/// store that comes to lie where it was is another group's.
struct meeting {
  std::weak_ptr<rendezvous_store> at;
  std::shared_ptr<carrier_board> board;
};

std::shared_ptr<carrier_board>
board_of(const std::string& group,
         const std::shared_ptr<rendezvous_store>& store) {
  static std::mutex mutex;
  static std::map<std::pair<const rendezvous_store*, std::string>, meeting>
    meetings;
  std::lock_guard lock{mutex};
  auto& found = meetings[{store.get(), group}];
  if (found.at.expired())
    found = {store, std::make_shared<carrier_board>()};
  return found.board;
}

} // namespace

group_rank::connector connector_of(std::shared_ptr<rendezvous_store> store,
                                   std::shared_ptr<orphan_threads> orphans) {
  return [store, orphans](auto roll, const std::string& fingerprint) {
    carrier_factory factory;
    factory.device.front() = static_cast<std::byte>(roll->options().rank + 1);
    factory.grace = roll->options().grace;
    factory.connect =
      [roll, store](
        const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      const auto& options = roll->options();
      return std::make_unique<c10d_carrier>(
        c10::make_intrusive<memory_process_group>(
          board_of(roll->key(""), store), options.rank, options.ranks),
        at::kCPU);
    };
    return join_by_devices(memory_connector(store, orphans)(roll, fingerprint),
                           std::move(factory), orphans);
  };
}

} // namespace graphmill::test
