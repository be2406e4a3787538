#pragma once

#include "actors/transport/sockets/connections/keys.hpp"

#include <zmq.hpp>

#include <array>
#include <functional>
#include <string>

namespace graphmill {

/// What libzmq's questions name as the domain of a connection: that of our
/// port, and of our local socket.
inline constexpr const char* network_domain = "graphmill";
inline constexpr const char* local_domain = "graphmill-local";

/// Lets in whoever holds the cluster's key, and whoever comes by the local
/// socket: only our own user can, and still has to show a token in our own
/// handshake. libzmq asks it about every connection, by ZAP
/// (rfc.zeromq.org/spec/27). Messages of those with the key are marked as such
/// (`key_holder`).
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
