#include "tests/pipelines/gradients/memory_ranks.hpp"

#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

namespace graphmill::test {

namespace {

/// Carries bytes between the ranks of all groups of a test.
class switchboard {
public:
  struct line {
    std::string group;
    rank_id from = 0;
    rank_id to = 0;
    auto operator<=>(const line&) const = default;
  };

  void send(const line& on, const transfer& piece,
            const std::shared_ptr<operation>& of) {
    std::lock_guard lock{mutex_};
    auto& at = lines_[on];
    if (at.gone) {
      of->fail_with({on.to, lost()});
      return;
    }
    at.sent.emplace_back(piece.bytes.begin(), piece.bytes.end());
    deliver(at, on.from);
    of->transfer_done(on.to, false);
  }

  void receive(const line& on, const transfer& piece,
               const std::shared_ptr<operation>& of) {
    std::lock_guard lock{mutex_};
    auto& at = lines_[on];
    at.expected.push_back({piece.bytes, of});
    deliver(at, on.from);
    if (at.gone)
      drop(at, on.from);
  }

  /// What others expect of a rank that leaves will not come.
  void leave(const std::string& group, rank_id rank, rank_id ranks) {
    std::lock_guard lock{mutex_};
    for (rank_id other = 0; other < ranks; ++other) {
      auto& from = lines_[{group, rank, other}];
      from.gone = true;
      drop(from, rank);
      auto& to = lines_[{group, other, rank}];
      to.gone = true;
      to.expected.clear();
    }
  }

private:
  struct receiver {
    std::span<std::byte> into;
    std::shared_ptr<operation> of;
  };
  struct traffic {
    std::deque<std::vector<std::byte>> sent;
    std::deque<receiver> expected;
    bool gone = false;
  };

  static error lost() { return fail(ec::unavailable, "connection closed"); }

  static void deliver(traffic& at, rank_id from) {
    while (!at.sent.empty() && !at.expected.empty()) {
      auto& to = at.expected.front();
      if (to.into.size() != at.sent.front().size())
        std::abort();
      std::memcpy(to.into.data(), at.sent.front().data(), to.into.size());
      to.of->transfer_done(from, true);
      at.sent.pop_front();
      at.expected.pop_front();
    }
  }

  static void drop(traffic& at, rank_id from) {
    for (auto& waiting : at.expected)
      waiting.of->fail_with({from, lost()});
    at.expected.clear();
  }

  std::mutex mutex_;
  std::map<line, traffic> lines_;
};

class memory_collective final : public collective {
public:
  memory_collective(std::shared_ptr<switchboard> board,
                    std::shared_ptr<roll_call> roll, std::string fingerprint)
    : board_(std::move(board)), roll_(std::move(roll)),
      bell_(std::make_shared<progress_bell>()),
      joined_(std::make_shared<operation>(bell_, ranks())) {
    joined_->expect(rank(), true);
    joiner_ = std::thread{[this, fingerprint] {
      if (auto done = roll_->join(fingerprint, stop_); done)
        joined_->transfer_done(rank(), true);
      else
        joined_->fail_with({std::nullopt, done.error()});
    }};
  }

  ~memory_collective() override {
    abandon();
    joiner_.join();
    board_->leave(roll_->key(""), rank(), ranks());
  }

  rank_id rank() const override { return roll_->options().rank; }
  rank_id ranks() const override { return roll_->options().ranks; }
  std::shared_ptr<operation> joined() const override { return joined_; }
  const std::shared_ptr<progress_bell>& bell() const override { return bell_; }

  std::shared_ptr<operation> exchange(std::span<const transfer> out,
                                      std::span<const transfer> in) override {
    auto of = std::make_shared<operation>(bell_, ranks());
    for (const auto& piece : out)
      if (!piece.bytes.empty())
        of->expect(piece.peer, false);
    for (const auto& piece : in)
      if (!piece.bytes.empty())
        of->expect(piece.peer, true);
    {
      std::lock_guard lock{mutex_};
      started_.push_back(of);
    }
    if (stop_)
      abandon();
    for (const auto& piece : in)
      if (!piece.bytes.empty())
        board_->receive({roll_->key(""), piece.peer, rank()}, piece, of);
    for (const auto& piece : out)
      if (!piece.bytes.empty())
        board_->send({roll_->key(""), rank(), piece.peer}, piece, of);
    return of;
  }

  void abandon() override {
    stop_ = true;
    std::lock_guard lock{mutex_};
    for (auto& of : started_)
      of->fail_with({std::nullopt, fail(ec::cancelled, "abandoned")});
  }

private:
  std::shared_ptr<switchboard> board_;
  std::shared_ptr<roll_call> roll_;
  std::shared_ptr<progress_bell> bell_;
  std::shared_ptr<operation> joined_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<std::shared_ptr<operation>> started_;
  std::thread joiner_;
};

} // namespace

group_rank::connector
memory_connector(std::shared_ptr<rendezvous_store> store) {
  // Ranks of a store meet on one board.
  static std::mutex mutex;
  static std::map<std::shared_ptr<rendezvous_store>,
                  std::shared_ptr<switchboard>>
    boards;
  std::lock_guard lock{mutex};
  auto& board = boards[std::move(store)];
  if (!board)
    board = std::make_shared<switchboard>();
  return [board](auto roll, const std::string& fingerprint) {
    return std::make_unique<memory_collective>(board, std::move(roll),
                                               fingerprint);
  };
}

} // namespace graphmill::test
