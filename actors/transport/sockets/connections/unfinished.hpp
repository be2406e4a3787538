#pragma once

#include "actors/transport/sessions/message.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace graphmill {

/// Bytes that connections to our port have brought of messages that are not
/// whole. libzmq keeps the frames of a message until its last one has come, and
/// no limit of its own counts them, so that a sender who never sends the last
/// one could fill the memory. What the system has received over a connection
/// since a message last came out of it tells how much that is, and whoever goes
/// beyond the limits is to be ended. Has no clock, and neither asks the system
/// nor ends anything itself.
class unfinished_messages {
public:
  struct limits {
    std::uint64_t connection = 0; ///< Bytes of one that is known.
    std::uint64_t stranger = 0;   ///< Of one that has not said who it is.
    std::uint64_t total = 0;      ///< Of all together.
  };

  /// Bytes that have been received over a connection since it was opened.
  using received_bytes = std::function<std::uint64_t(int descriptor)>;
  using stranger_test = std::function<bool(int descriptor)>;

  explicit unfinished_messages(limits with) : with_(with) {}

  void opened(int descriptor);
  void closed(int descriptor);
  /// A whole message has come over it.
  void finished(int descriptor);

  /// Looks at all connections, if it is time.
  /// @returns those that are to be ended, once each: all beyond their own
  /// limit, then those with the most bytes, until the rest is within the limit
  /// of all.
  std::vector<int> excess(session_time now, const received_bytes& received,
                          const stranger_test& is_stranger);

  /// When `excess` should be asked again.
  session_time next_tick() const;

private:
  struct connection {
    std::uint64_t before =
      0;                ///< Received before the message that is not whole.
    bool moved = false; ///< Messages have come since the last look.
  };

  limits with_;
  std::map<int, connection> connections_;
  session_time looked_{};
};

} // namespace graphmill
