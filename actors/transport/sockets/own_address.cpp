#include "actors/transport/sockets/own_address.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// The host that others are told to connect to, if nobody has said which.
result<std::string> reachable_host(const transport_options& options,
                                   const endpoint& listens) {
  if (!is_wildcard(listens))
    return listens.host;
  if (!options.interface_name.empty())
    return address_of_interface(options.interface_name);
  if (!options.route_to.empty()) {
    GRAPHMILL_TRY(const auto peer, parse_endpoint(options.route_to));
    return address_towards(peer);
  }
  return any_address();
}

} // namespace

result<endpoint> listen_endpoint(const transport_options& options) {
  GRAPHMILL_TRY(auto where, parse_endpoint(options.listen));
  if (!is_wildcard(where)) {
    GRAPHMILL_TRY(where.host, resolve_host(where.host));
  }
  if (!is_loopback(where) && !options.keys && !options.insecure)
    return fail(ec::permission,
                "listening at {} would let anyone on the network use this "
                "daemon: give it the cluster's key file (`graphmill keygen` "
                "makes one), or --insecure where you trust the network",
                to_string(where));
  return where;
}

result<endpoint> advertised(const transport_options& options,
                            const endpoint& listens, std::uint16_t port) {
  const auto& given = options.advertise;
  // An IPv6 address without brackets has more than one colon, and no port.
  const auto has_port =
    given.starts_with('[') || std::count(given.begin(), given.end(), ':') == 1;
  if (has_port)
    return parse_endpoint(given);
  if (!given.empty())
    return endpoint{given, port};
  GRAPHMILL_TRY(auto host, reachable_host(options, listens));
  return endpoint{std::move(host), port};
}

} // namespace graphmill
