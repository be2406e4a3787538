#pragma once

#include "actors/transport/sessions/address.hpp"

#include <optional>

namespace graphmill {

/// Finds out whether a machine says that nobody listens at a port of its, which
/// libzmq does not tell from silence: the first means that a process has ended,
/// the second may be a cable that was pulled. Never blocks.
class port_probe {
public:
  /// Begins to connect. Does nothing for hosts that are names: looking them up
  /// may block.
  explicit port_probe(const endpoint& where);
  ~port_probe();
  port_probe(const port_probe&) = delete;
  port_probe& operator=(const port_probe&) = delete;

  /// Nothing as long as it is not known. False for whatever else came of it.
  std::optional<bool> refused();

private:
  int socket_ = -1; ///< While it is not known.
  bool refused_ = false;
};

} // namespace graphmill
