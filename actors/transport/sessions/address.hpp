#pragma once

#include "messages/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// Where somebody listens, over TCP.
struct endpoint {
  std::string host; ///< A name, an address without brackets, or *.
  std::uint16_t port = 0;

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

/// Reads tcp://host:port; the scheme may be left out, and an IPv6 address
/// stands in brackets.
result<endpoint> parse_endpoint(std::string_view text);

/// The most addresses at which a coordinator is looked for.
inline constexpr std::size_t most_endpoints = 16;

/// Reads addresses that commas separate, in the form of `to_string`. Fails if
/// there is none, or there are more than `most_endpoints`.
result<std::vector<std::string>> parse_endpoints(std::string_view text);

/// The form that `parse_endpoint` reads.
std::string to_string(const endpoint& where);

/// Whether an address stands for all interfaces.
bool is_wildcard(const endpoint& where);

/// Whether an address cannot be reached from other machines. False for all
/// names but localhost.
bool is_loopback(const endpoint& where);

/// What counts as one host with others: all loopback addresses do, and all of
/// an IPv6 network of 64 bits, of which one machine may have any.
/// @param host Numeric.
std::string host_group(const std::string& host);

/// The numeric address that a name stands for.
result<std::string> resolve_host(const std::string& host);

/// The first address of a network interface.
result<std::string> address_of_interface(const std::string& name);

/// The address of this machine from which packets to a peer leave. Sends no
/// packet.
result<std::string> address_towards(const endpoint& peer);

/// The address of the first interface in use, loopback if there is no other.
std::string any_address();

} // namespace graphmill
