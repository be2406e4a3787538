#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <string>

namespace graphmill {

/// Keeps a daemon from obeying a coordinator that another one has followed: one
/// that was frozen or cut off, and wakes up without knowing. Coordinators of
/// one cluster are counted in its state folder (`Hello` in wire.capnp); this
/// remembers the highest count that was met: at an address of a coordinator, by
/// a connection that the daemon has made itself. What somebody says who comes
/// is compared with that, but raises nothing, or whoever may connect could have
/// the true coordinator refused. Pure: the AGENT calls it.
class generation_fence {
public:
  /// Somebody answers at an address of the coordinator. Of another cluster,
  /// which begins with a new state folder, anything goes: the daemon was told
  /// to go there. Fails with `superseded` if it is an old one.
  result<void> meet(const std::string& cluster, std::uint64_t generation);

  /// Somebody gives orders. Fails with `superseded` if it is an old one, and
  /// with `permission` if it leads another cluster. Changes nothing.
  result<void> check(const std::string& cluster,
                     std::uint64_t generation) const;

private:
  std::string cluster_; ///< Empty: none was met.
  std::uint64_t highest_ = 0;
};

} // namespace graphmill
