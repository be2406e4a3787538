#pragma once

#include "actors/transport/sessions/message.hpp"
#include "actors/transport/sessions/traffic.hpp"
#include "actors/transport/sockets/connections/wire_io.hpp"

#include <zmq.hpp>

#include <string>

namespace graphmill::test {

/// Speaks ZeroMQ without a key, over one connection that is not made again, and
/// of our protocol what a test has it say.
class raw_dealer {
public:
  /// @param address As libzmq has it.
  explicit raw_dealer(const std::string& address);
  ~raw_dealer();
  raw_dealer(const raw_dealer&) = delete;
  raw_dealer& operator=(const raw_dealer&) = delete;

  zmq::socket_t& socket() { return socket_; }

  /// Fails the test if it cannot be sent.
  void send(const message& outgoing);
  /// The other end may have closed the connection: that is no failure.
  sent try_send(const message& outgoing);

  /// The next message; fails the test if there is none.
  message receive();

  /// Waits until the other end closes the connection.
  bool closed();

private:
  zmq::context_t context_;
  zmq::socket_t socket_;
  zmq::socket_t monitor_;
  traffic counters_;
};

} // namespace graphmill::test
