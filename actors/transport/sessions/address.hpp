#pragma once

#include "messages/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// A TCP address to listen at.
struct endpoint {
  std::string host; ///< A name, an address without brackets, or *.
  std::uint16_t port = 0;

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

/// Reads tcp://host:port. The scheme is optional, and an IPv6 address is in
/// brackets.
result<endpoint> parse_endpoint(std::string_view text);

/// The largest number of addresses of a coordinator.
inline constexpr std::size_t most_endpoints = 16;

/// Reads addresses with commas between them, in the form of `to_string`. Fails
/// if there is none, or more than `most_endpoints`.
result<std::vector<std::string>> parse_endpoints(std::string_view text);

/// The form that `parse_endpoint` reads.
std::string to_string(const endpoint& where);

/// Whether an address means all interfaces.
bool is_wildcard(const endpoint& where);

/// Whether other machines cannot reach an address. False for all names but
/// localhost.
bool is_loopback(const endpoint& where);

/// The group of addresses that counts as one host: all loopback addresses, and
/// an IPv6 network of 64 bits, of which one machine may have any address.
/// @param host Numeric.
std::string host_group(const std::string& host);

/// The numeric address of a name.
result<std::string> resolve_host(const std::string& host);

/// The first address of a network interface.
result<std::string> address_of_interface(const std::string& name);

/// The address of this machine from which packets to a peer leave. Sends no
/// packet.
result<std::string> address_towards(const endpoint& peer);

/// The address of the first interface in use, loopback if there is no other.
std::string any_address();

} // namespace graphmill
