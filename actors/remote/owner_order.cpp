#include "actors/remote/owner_order.hpp"

#include "actors/transport/sessions/address.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace graphmill {

namespace {

/// Empty if the address is none.
std::string host_of(const daemon_address& daemon) {
  const auto where = parse_endpoint(daemon.address);
  if (!where)
    return {};
  return is_loopback(where.value()) ? "loopback" : where.value().host;
}

} // namespace

std::vector<std::uint16_t> owner_order(const deployment& assignment,
                                       part_id part) {
  auto out = assignment.owners_of(part);
  std::ranges::sort(out); // The first owners take turns already.
  const auto begin =
    (static_cast<std::size_t>(assignment.you) + static_cast<std::size_t>(part))
    % out.size();
  std::rotate(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(begin),
              out.end());
  const auto home = host_of(assignment.daemons[assignment.you]);
  const auto distance = [&](std::uint16_t owner) {
    if (owner == assignment.you)
      return 0;
    const auto host = host_of(assignment.daemons[owner]);
    return !host.empty() && host == home ? 1 : 2;
  };
  std::ranges::stable_sort(out, {}, distance);
  return out;
}

} // namespace graphmill
