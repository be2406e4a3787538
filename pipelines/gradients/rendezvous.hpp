#pragma once

#include "messages/base/error.hpp"

#include <chrono>
#include <string>

namespace graphmill {

/// Where ranks leave short messages for each other before they exchange
/// gradients, and beside that: who is there, who waits, who has left. Values
/// are bytes of any kind. Thread-safe.
class rendezvous_store {
public:
  using clock = std::chrono::steady_clock;

  virtual ~rendezvous_store() = default;

  /// Sets or replaces a value. Fails if the store cannot be reached or does not
  /// take it.
  virtual result<void> set(const std::string& key,
                           const std::string& value) = 0;

  /// Waits for the value of a key. A deadline in the past asks for what is
  /// there. Fails with `ec::timeout` when there is none by then.
  virtual result<std::string> get(const std::string& key,
                                  clock::time_point deadline) = 0;
};

} // namespace graphmill
