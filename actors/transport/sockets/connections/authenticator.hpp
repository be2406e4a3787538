#pragma once

#include "actors/transport/sockets/connections/keys.hpp"

#include <zmq.hpp>

#include <array>
#include <functional>
#include <string>

namespace graphmill {

/// Lets in whoever holds the cluster's key. libzmq asks it about every
/// connection that shook hands with CURVE, by ZAP (rfc.zeromq.org/spec/27).
class authenticator {
public:
  /// @param refused Called with the address of whoever is not let in.
  authenticator(zmq::context_t& context, const curve_keys& keys,
                std::function<void(const std::string&)> refused);

  /// Answers the questions that wait.
  void answer();

  zmq::socket_t& socket() { return socket_; }

private:
  zmq::socket_t socket_;
  std::array<std::uint8_t, 32> key_{};
  std::function<void(const std::string&)> refused_;
};

} // namespace graphmill
