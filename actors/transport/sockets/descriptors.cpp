#include "actors/transport/sockets/descriptors.hpp"

#include "actors/transport/sessions/server_session.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace graphmill {

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit); // If not, the plan is a smaller one.
}

std::uint64_t descriptor_limit() {
  rlimit limit{};
  // What POSIX promises at the least.
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 20;
}

descriptor_quota split_descriptors(std::uint64_t limit) {
  const auto part = limit / 8;
  const auto reserve = std::clamp<std::uint64_t>(part, 64, 1024);
  const auto strangers = std::clamp<std::uint64_t>(part, 16, 256);
  const auto taken = std::min(limit, reserve + strangers);
  const auto peers = std::clamp<std::uint64_t>(
    (limit - taken) / descriptors_per_peer, 1, server_session::most_peers);
  return {static_cast<std::size_t>(reserve),
          static_cast<std::size_t>(strangers), static_cast<std::size_t>(peers)};
}

} // namespace graphmill
