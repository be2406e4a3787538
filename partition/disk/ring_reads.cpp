#include "partition/disk/block_reads.hpp"

#include <liburing.h>

namespace graphmill {

namespace {

class ring final : public block_reads {
public:
  /// @returns null if the kernel refuses, or is older than 5.6.
  static std::unique_ptr<block_reads> make(unsigned depth) {
    auto out = std::unique_ptr<ring>{new ring};
    out->there_ = ::io_uring_queue_init(depth, &out->ring_, 0) == 0;
    if (!out->there_)
      return nullptr;
    const std::unique_ptr<io_uring_probe, decltype(&::io_uring_free_probe)>
      known{::io_uring_get_probe_ring(&out->ring_), &::io_uring_free_probe};
    if (!known || !::io_uring_opcode_supported(known.get(), IORING_OP_READ))
      return nullptr;
    return out;
  }

  ~ring() override {
    if (!there_)
      return;
    std::vector<outcome> last;
    while (under_way_ != 0)
      collect(true, last);
    ::io_uring_queue_exit(&ring_);
  }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  void begin(const read& wanted) override {
    auto* entry = ::io_uring_get_sqe(&ring_);
    ::io_uring_prep_read(entry, wanted.fd, wanted.to,
                         static_cast<unsigned>(wanted.size), wanted.offset);
    entry->user_data = wanted.tag;
    ++under_way_;
    ++unsent_;
  }

  void collect(bool wait, std::vector<outcome>& out) override {
    const auto before = out.size();
    take(out);
    const auto needed = wait && out.size() == before ? 1u : 0u;
    // All reads that were begun since the last call are submitted by one system
    // call. After EINTR, or where the kernel is short of memory, what it has
    // not taken stays in the ring and is submitted next time; the caller sees
    // that nothing has come, and calls again.
    if (unsent_ != 0 || needed != 0)
      if (const auto sent = ::io_uring_submit_and_wait(&ring_, needed);
          sent > 0)
        unsent_ -= static_cast<unsigned>(sent);
    if (needed != 0)
      take(out);
  }

private:
  ring() = default;

  void take(std::vector<outcome>& out) {
    io_uring_cqe* done = nullptr;
    while (::io_uring_peek_cqe(&ring_, &done) == 0) {
      out.push_back({static_cast<std::uint32_t>(done->user_data), done->res});
      ::io_uring_cqe_seen(&ring_, done);
      --under_way_;
    }
  }

  io_uring ring_{};
  bool there_ = false;
  unsigned under_way_ = 0;
  unsigned unsent_ = 0; ///< Of those under way, not yet told the kernel.
};

} // namespace

std::unique_ptr<block_reads> ring_reads(unsigned depth) {
  return ring::make(depth);
}

} // namespace graphmill
