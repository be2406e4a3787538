#pragma once

#include "messages/frame.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace graphmill {

/// How much memory a daemon's answers to others may take, from when a request
/// is begun until the transport has let go of the answer. Thread-safe.
class reply_budget : public std::enable_shared_from_this<reply_budget> {
public:
  /// Some bytes of the budget, which come back when it is dropped, on whichever
  /// thread.
  class share {
  public:
    share(std::shared_ptr<reply_budget> of, std::uint64_t bytes)
      : of_(std::move(of)), bytes_(bytes) {}
    ~share() { of_->give_back(bytes_); }
    share(const share&) = delete;
    share& operator=(const share&) = delete;

    /// Gives back what is more than that. By the one thread that has it.
    void shrink(std::uint64_t bytes);

  private:
    std::shared_ptr<reply_budget> of_;
    std::uint64_t bytes_;
  };

  /// @param wake Called when bytes have come back after `take` had too few;
  /// from any thread, and quick.
  static std::shared_ptr<reply_budget> make(std::uint64_t limit_bytes,
                                            std::function<void()> wake);

  /// Nobody is woken any more.
  void close();

  /// Takes bytes. What is larger than the whole budget is taken alone.
  /// @returns null if there are too few; `wake` tells when to try again.
  std::shared_ptr<share> take(std::uint64_t bytes);

  std::uint64_t used() const;

private:
  reply_budget(std::uint64_t limit, std::function<void()> wake)
    : limit_(limit), wake_(std::move(wake)) {}
  void give_back(std::uint64_t bytes);

  const std::uint64_t limit_;
  mutable std::mutex mutex_;
  std::function<void()> wake_;
  bool wanted_ = false; ///< `take` had too few.
  std::uint64_t used_ = 0;
};

/// The same answer, which keeps its share for as long as somebody has a frame.
payload keep_share(payload answer,
                   const std::shared_ptr<reply_budget::share>& share);

} // namespace graphmill
