#pragma once

#include "messages/base/counter.hpp"
#include "messages/wire/method.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace graphmill {

/// Messages and their bytes (envelopes, bodies and bulk; not what TCP adds).
struct flow_count {
  counter messages;
  counter bytes;

  void add(std::uint64_t more) {
    ++messages;
    bytes += more;
  }
};

/// What a transport sent and received. Beats count as the method `beat`.
/// Counted by one thread, and read by others.
struct traffic {
  struct line {
    flow_count requests_sent, requests_received;
    flow_count replies_sent, replies_received;
  };
  std::array<line, method_count> methods; ///< By method.

  // What went wrong: tests see by it what has happened.
  counter retries;       ///< Attempts after the first.
  counter duplicates;    ///< Requests that were not run again.
  counter malformed;     ///< Messages that cost a connection.
  counter refused;       ///< Connections without a key that lets in.
  counter strangers;     ///< Connections ended for saying nothing.
  counter copied_frames; ///< Large ones received misaligned.

  counter local_channels; ///< Opened to others by local sockets.

  /// Of a value that is no method: the line of `unset`.
  line& of(method which) { return methods[row_of(which)]; }
  const line& of(method which) const { return methods[row_of(which)]; }

private:
  static std::size_t row_of(method which) {
    const auto row = static_cast<std::size_t>(which);
    return row < method_count ? row : 0;
  }
};

} // namespace graphmill
