#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <string>

namespace graphmill {

/// Keeps a daemon from obeying a coordinator that another one has followed: one
/// that was frozen or cut off, and wakes up without knowing. Coordinators of
/// one cluster are counted in its state folder (`Hello` in wire.capnp); this
/// remembers the highest count that was met. Pure: the AGENT calls it.
class generation_fence {
public:
  /// Somebody answers at an address of the coordinator. Of another cluster,
  /// which begins with a new state folder, anything goes: the daemon was told
  /// to go there. Fails with `superseded` if it is an old one.
  result<void> meet(const std::string& cluster, std::uint64_t generation);

  /// Somebody gives orders. Fails with `superseded` if it is an old one, and
  /// with `permission` if it leads another cluster.
  result<void> check(const std::string& cluster, std::uint64_t generation);

private:
  std::string cluster_; ///< Empty: none was met.
  std::uint64_t highest_ = 0;
};

} // namespace graphmill
