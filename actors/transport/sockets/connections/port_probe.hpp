#pragma once

#include "actors/transport/sessions/address.hpp"

#include <optional>

namespace graphmill {

/// Finds out whether a machine says that nobody listens at a port. libzmq does
/// not distinguish that from silence. But the first means that a process has
/// ended, and the second may be a cable that was pulled. Never blocks.
class port_probe {
public:
  /// Begins to connect. Does nothing for hosts that are names: looking them up
  /// may block.
  explicit port_probe(const endpoint& where);
  ~port_probe();
  port_probe(const port_probe&) = delete;
  port_probe& operator=(const port_probe&) = delete;

  /// Whether the machine refused the connection. Nothing while that is not
  /// known; false for every other outcome.
  std::optional<bool> refused();

private:
  int socket_ = -1; ///< Open while the outcome is not known.
  bool refused_ = false;
};

} // namespace graphmill
