#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace graphmill {

/// What an actor or a thread is at, for the WORK WATCH. Written by whoever
/// works, one piece of work at a time; read from any thread. Costs some stores
/// for each piece, and neither a clock nor a lock.
class work_gauge {
public:
  /// @param who As the log names it.
  explicit work_gauge(std::string who) : who_(std::move(who)) {}

  /// @param what Of a literal, or of a `std::type_info`: stays for ever.
  void begin(const char* what) noexcept {
    what_.store(what, std::memory_order_relaxed);
    next();
  }
  /// What the piece of work at hand has come to.
  void tell(const char* what) noexcept {
    what_.store(what, std::memory_order_relaxed);
  }
  void end() noexcept { next(); }

  struct reading {
    std::uint64_t turns = 0; ///< Odd: at work.
    const char* what = nullptr;
  };
  reading read() const noexcept {
    const auto turns = turns_.load(std::memory_order_acquire);
    return {turns, what_.load(std::memory_order_relaxed)};
  }

  const std::string& who() const { return who_; }

private:
  void next() noexcept {
    turns_.store(turns_.load(std::memory_order_relaxed) + 1,
                 std::memory_order_release);
  }

  const std::string who_;
  std::atomic<std::uint64_t> turns_{0}; ///< Beginnings and ends so far.
  std::atomic<const char*> what_{nullptr};
};

/// Counts a scope as one piece of work. Keeps the gauge, which what happens in
/// the scope may give up.
class work_scope {
public:
  /// @param gauge May be null: nobody watches.
  work_scope(std::shared_ptr<work_gauge> gauge, const char* what)
    : gauge_(std::move(gauge)) {
    if (gauge_)
      gauge_->begin(what);
  }
  ~work_scope() {
    if (gauge_)
      gauge_->end();
  }
  work_scope(const work_scope&) = delete;
  work_scope& operator=(const work_scope&) = delete;

private:
  const std::shared_ptr<work_gauge> gauge_;
};

} // namespace graphmill
