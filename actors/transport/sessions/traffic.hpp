#pragma once

#include "messages/wire/method.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace graphmill {

/// Messages and their bytes (envelopes, bodies and bulk; not what TCP adds).
struct flow_count {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

/// What a transport sent and received. Beats count as the method `beat`.
struct traffic {
  struct line {
    flow_count requests_sent, requests_received;
    flow_count replies_sent, replies_received;
  };
  std::array<line, method_count> methods; ///< By method.
  std::uint64_t retries = 0;              ///< Attempts after the first.
  std::uint64_t duplicates = 0;           ///< Requests that were not run again.
  std::uint64_t late_replies = 0;         ///< Nobody waited for them any more.
  /// Requests that found too much under way, here or at the other end, and
  /// came again.
  std::uint64_t put_off = 0;
  std::uint64_t malformed = 0;     ///< Messages that cost a connection.
  std::uint64_t refused = 0;       ///< Connections without the cluster's key.
  std::uint64_t strangers = 0;     ///< Connections ended for saying nothing.
  std::uint64_t stalled = 0;       ///< Connections ended for taking nothing.
  std::uint64_t copied_frames = 0; ///< Large ones received misaligned.

  const line& of(method which) const {
    return methods[static_cast<std::size_t>(which) % method_count];
  }
};

/// The same, counted by one thread and read by others.
class traffic_counters {
public:
  enum class event : std::uint8_t {
    retry,
    duplicate,
    late_reply,
    malformed,
    refused,
    put_off,
    stranger,
    stalled,
    copied_frame,
  };
  /// Which of the flows of a line.
  enum class flow : std::uint8_t {
    request_sent,
    request_received,
    reply_sent,
    reply_received,
  };

  void count(method which, flow direction, std::uint64_t bytes);
  void count(event what, std::uint64_t times = 1);
  traffic read() const;

private:
  struct cell {
    std::atomic<std::uint64_t> messages{0};
    std::atomic<std::uint64_t> bytes{0};
  };
  std::array<std::array<cell, 4>, method_count> flows_;
  std::array<std::atomic<std::uint64_t>, 9> events_{};
};

} // namespace graphmill
