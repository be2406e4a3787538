#pragma once

#include "actors/transport/sessions/token_bucket.hpp"
#include "messages/base/error.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace graphmill {

/// How often daemons may tell of their health. Part of what the COORDINATOR
/// keeps, used in its handlers alone.
class report_paces {
public:
  using clock = std::chrono::steady_clock;

  /// Whether a report is worth decoding, which takes long enough to keep others
  /// waiting. Daemons tell once a second; what is told more often than that is
  /// dropped, and so is what is larger than a report can be.
  result<void> admit(const std::string& daemon, std::size_t bytes,
                     clock::time_point now);

  /// Forgets whom it would admit as it does somebody new.
  void forget_silent(clock::time_point now) {
    std::erase_if(paces_,
                  [now](const auto& one) { return one.second.is_full(now); });
  }

private:
  std::map<std::string, token_bucket> paces_; ///< By daemon.
};

} // namespace graphmill
