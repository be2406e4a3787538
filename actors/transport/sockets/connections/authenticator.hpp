#pragma once

#include "actors/transport/sockets/connections/key_table.hpp"

#include <zmq.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace graphmill {

/// What libzmq's questions name as the domain of a connection: that of our
/// port, and of our local socket.
inline constexpr const char* network_domain = "graphmill";
inline constexpr const char* local_domain = "graphmill-local";

/// Lets in whoever holds a key of a table, and whoever comes by the local
/// socket: only our own user can, and still has to show a token in our own
/// handshake. libzmq asks it about every connection, by ZAP
/// (rfc.zeromq.org/spec/27). Messages of those with a key are marked with it
/// (`arrival::key`), so that a key can be revoked while its holder is there.
class authenticator {
public:
  /// @param refused Called with the address of whoever is not let in.
  authenticator(zmq::context_t& context, std::shared_ptr<const key_table> table,
                std::function<void(const std::string&)> refused);

  /// Asks another table from now on.
  void use(std::shared_ptr<const key_table> table) {
    table_ = std::move(table);
  }

  /// Answers the questions that wait.
  void answer();

  zmq::socket_t& socket() { return socket_; }

private:
  zmq::socket_t socket_;
  std::shared_ptr<const key_table> table_;
  std::function<void(const std::string&)> refused_;
};

} // namespace graphmill
