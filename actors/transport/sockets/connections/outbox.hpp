#pragma once

#include "actors/transport/sockets/connections/wire_io.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace graphmill {

/// The answers of our port that wait for those who asked, in a queue for each
/// connection. All of them together have a limit in bytes, with what libzmq
/// holds, and each has a quarter of that at the most. `stalled` names whoever
/// takes nothing for too long, so that no answer waits for ever. Does no I/O
/// itself; used on the transport's thread alone.
class outbox {
public:
  struct settings {
    /// Of what waits here and of what libzmq holds.
    std::uint64_t limit_bytes = std::uint64_t{512} << 20;
    /// The most messages that wait for one connection. If there are more, the
    /// other end has not taken anything for long, and the connection is ended.
    std::size_t most_messages = 8192;
    std::chrono::milliseconds patience = std::chrono::seconds{30};
  };
  using sender =
    std::function<sent(const std::string& connection_id, const message&,
                       const std::shared_ptr<outflow>&)>;

  outbox(settings with, sender send) : with_(with), send_(std::move(send)) {}

  /// Sends at once what can be sent.
  /// @returns false if too much waits already: in place of the answer, the
  /// other end is told to ask again.
  bool send(session_time now, const std::string& connection_id,
            message outgoing);

  /// Sends what waits and can be sent.
  void flush(session_time now);

  /// Drops what waits for a connection.
  void forget(const std::string& connection_id);

  /// Connections over which nothing has moved for longer than the patience,
  /// although something waits, and those for which too many messages do.
  std::vector<std::string> stalled(session_time now);

  bool waits() const { return !blocked_.empty(); }
  /// Bytes that wait, here or in libzmq.
  std::uint64_t bytes() const { return bytes_ + *held_; }
  /// When `stalled` should be asked again.
  session_time next_tick() const;

private:
  struct connection_out {
    send_queue queue;
    std::shared_ptr<outflow> flow = std::make_shared<outflow>();
    std::uint64_t freed = 0; ///< Of `flow`, as last seen.
    session_time moved;      ///< Last known to have sent something.
    bool overrun = false;    ///< Too many messages wait.
  };
  using connections = std::map<std::string, connection_out>;

  void drop(connections::iterator at);

  settings with_;
  sender send_;
  connections
    connections_; ///< By connection; those that something was sent to.
  std::set<std::string> blocked_; ///< Whose queues are not empty.
  std::uint64_t bytes_ = 0;       ///< Of our queues.
  /// What libzmq holds; shared with the frames, which may outlive us.
  std::shared_ptr<std::atomic<std::uint64_t>> held_ =
    std::make_shared<std::atomic<std::uint64_t>>(0);
  session_time looked_{};
};

} // namespace graphmill
