#pragma once

#include "messages/base/error.hpp"

#include <chrono>
#include <string>

namespace graphmill {

/// Where ranks leave short messages for each other before, and beside, their
/// own connections. Thread-safe. Values are bytes of any kind.
class rendezvous_store {
public:
  using clock = std::chrono::steady_clock;

  virtual ~rendezvous_store() = default;

  /// Sets or replaces a value.
  virtual result<void> set(const std::string& key,
                           const std::string& value) = 0;

  /// Waits for the value of a key. A deadline in the past asks for what is
  /// there. Fails with `ec::timeout` when there is none by then.
  virtual result<std::string> get(const std::string& key,
                                  clock::time_point deadline) = 0;
};

} // namespace graphmill
