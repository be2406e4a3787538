#pragma once

#include <cstddef>
#include <cstdint>

namespace graphmill {

/// What a peer costs a daemon: two connections each way, and the three sockets
/// that each of our own two takes in libzmq.
inline constexpr std::size_t descriptors_per_peer = 10;

/// Raises the soft limit of this process's descriptors to the hard one, for
/// the process and whatever it starts. Called once, by `main`.
void raise_descriptor_limit();

/// The soft limit of this process.
std::uint64_t descriptor_limit();

/// How a daemon shares out its descriptors.
struct descriptor_quota {
  /// Left to files, maps and whatever else runs.
  std::size_t reserve = 0;
  /// Connections to our port that have not said who they are.
  std::size_t strangers = 0;
  /// Peers in either direction.
  std::size_t peers = 0;
};

/// @param limit Descriptors of the process.
descriptor_quota split_descriptors(std::uint64_t limit);

} // namespace graphmill
