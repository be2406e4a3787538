#pragma once

#include "pipelines/gradients/devices/bulk_carrier.hpp"

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace graphmill::test {

/// Where the carriers of a group's ranks leave bytes for each other.
struct carrier_board {
  std::mutex mutex;
  /// By exchange, sender and receiver.
  std::map<std::tuple<std::size_t, rank_id, rank_id>, std::vector<std::byte>>
    bytes;
  std::size_t exchanges = 0; ///< That ranks have started.
};

/// Carries bytes between ranks of this process.
class memory_carrier final : public bulk_carrier {
public:
  memory_carrier(std::shared_ptr<carrier_board> board, rank_id rank)
    : board_(std::move(board)), rank_(rank) {}

  result<void> start(std::span<const transfer> out,
                     std::span<const transfer> in) override {
    std::lock_guard lock{board_->mutex};
    ++board_->exchanges;
    for (const auto& piece : out)
      board_->bytes[{started_, rank_, piece.peer}] = {piece.bytes.begin(),
                                                      piece.bytes.end()};
    ++started_;
    expected_.emplace_back(in.begin(), in.end());
    return ok();
  }

  result<bool> landed() override {
    std::lock_guard lock{board_->mutex};
    const auto now = started_ - expected_.size();
    for (const auto& piece : expected_.front())
      if (board_->bytes.count({now, piece.peer, rank_}) == 0)
        return false;
    for (const auto& piece : expected_.front()) {
      const auto found = board_->bytes.find({now, piece.peer, rank_});
      if (found->second.size() != piece.bytes.size())
        return fail(ec::internal, "{} bytes where {} were expected",
                    found->second.size(), piece.bytes.size());
      if (!piece.bytes.empty())
        std::memcpy(piece.bytes.data(), found->second.data(),
                    piece.bytes.size());
      board_->bytes.erase(found);
    }
    expected_.pop_front();
    return true;
  }

private:
  const std::shared_ptr<carrier_board> board_;
  const rank_id rank_;
  std::size_t started_ = 0;
  std::deque<std::vector<transfer>> expected_;
};

} // namespace graphmill::test
