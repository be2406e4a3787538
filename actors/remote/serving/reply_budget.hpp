#pragma once

#include "actors/remote/serving/reply_gauge.hpp"
#include "messages/wire/frame.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace graphmill {

/// How much memory a daemon's answers to others may take, from when a request
/// is begun until the transport has let go of the answer. Thread-safe.
///
/// An asker that holds some bytes gets more only while it holds no more than
/// what is free. So those who do not take their answers leave room for those
/// who do. These are the dynamic thresholds of Choudhury and Hahne, "Dynamic
/// queue length thresholds for shared-memory packet switches", 1998.
class reply_budget : public std::enable_shared_from_this<reply_budget> {
public:
  /// Some bytes of the budget, which come back when it is dropped, on whichever
  /// thread.
  class grant {
  public:
    /// Of nothing yet, as `take` makes it.
    grant(std::shared_ptr<reply_budget> of, std::string asker)
      : of_(std::move(of)), asker_(std::move(asker)) {}
    ~grant() { shrink(0); }
    grant(const grant&) = delete;
    grant& operator=(const grant&) = delete;

    /// Gives back all but `bytes`. Called by the one thread that holds the
    /// share.
    void shrink(std::uint64_t bytes);

  private:
    friend class reply_budget;

    std::shared_ptr<reply_budget> of_;
    std::string asker_;
    std::uint64_t bytes_ = 0;
  };

  /// @param wake Called when bytes have come back after `take` had too few;
  /// from any thread, and quick. @param gauge Counts along; null: nobody does.
  static std::shared_ptr<reply_budget>
  make(std::uint64_t limit_bytes, std::function<void()> wake,
       std::shared_ptr<reply_gauge> gauge = nullptr);

  /// From now on `wake` is not called.
  void close();

  /// Takes bytes for an asker. More than the whole budget is given when nobody
  /// else holds any. What is thrown, for want of memory, takes none.
  /// @returns null if there are too few; `wake` tells when to try again.
  std::shared_ptr<grant> take(const std::string& asker, std::uint64_t bytes);

  /// Whether an asker holds bytes. Then it may have to wait where others need
  /// not.
  bool has_some(const std::string& asker) const;

  std::uint64_t used() const;

private:
  reply_budget(std::uint64_t limit, std::function<void()> wake,
               std::shared_ptr<reply_gauge> gauge);
  void give_back(const std::string& asker, std::uint64_t bytes);

  const std::uint64_t limit_;
  const std::shared_ptr<reply_gauge> gauge_; ///< Never null.
  mutable std::mutex mutex_;
  std::function<void()> wake_;
  bool wanted_ = false; ///< `take` had too few.
  std::uint64_t used_ = 0;
  std::map<std::string, std::uint64_t> used_by_; ///< Without zeros.
};

/// The same answer, whose frames keep the share until the last of them is gone.
payload keep_grant(payload answer,
                   const std::shared_ptr<reply_budget::grant>& grant);

} // namespace graphmill
