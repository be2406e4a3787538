#pragma once

#include "actors/process/signals.hpp"
#include "messages/base/error.hpp"

#include <mutex>
#include <optional>
#include <utility>

namespace graphmill {

/// Why the daemon is to end; set by actors, waited for by the main thread.
class end_note {
public:
  explicit end_note(signal_watch& signals) : signals_(signals) {}

  void write(std::optional<error> reason) {
    {
      std::lock_guard lock{mutex_};
      if (std::exchange(written_, true))
        return;
      reason_ = std::move(reason);
    }
    signals_.wake();
  }

  bool written() {
    std::lock_guard lock{mutex_};
    return written_;
  }

  std::optional<error> reason() {
    std::lock_guard lock{mutex_};
    return reason_;
  }

private:
  signal_watch& signals_;
  std::mutex mutex_;
  bool written_ = false;
  std::optional<error> reason_;
};

} // namespace graphmill
