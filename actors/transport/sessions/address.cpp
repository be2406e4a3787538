#include "actors/transport/sessions/address.hpp"

#include "messages/words/number_text.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>

namespace graphmill {

namespace {

/// The text of a numeric address; empty if it is of another family.
std::string numeric(const sockaddr* address) {
  if (address == nullptr
      || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
    return {};
  const auto size =
    address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  char host[NI_MAXHOST];
  if (getnameinfo(address, static_cast<socklen_t>(size), host, sizeof(host),
                  nullptr, 0, NI_NUMERICHOST)
      != 0)
    return {};
  return host;
}

using infos = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

result<infos> look_up(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const auto code =
    getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0)
    return fail(ec::not_found, "cannot find the host '{}': {}", host,
                gai_strerror(code));
  return infos{found, &freeaddrinfo};
}

/// The first IPv4 address of an interface that `wanted` takes, or else the
/// first IPv6 one; empty if there is none.
std::string find_interface(const std::function<bool(const ifaddrs&)>& wanted) {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0)
    return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> interfaces{
    first, &freeifaddrs};
  std::string found;
  for (const auto* at = first; at != nullptr; at = at->ifa_next) {
    const auto address = numeric(at->ifa_addr);
    if (address.empty() || !wanted(*at))
      continue;
    if (at->ifa_addr->sa_family == AF_INET)
      return address;
    if (found.empty())
      found = address;
  }
  return found;
}

} // namespace

result<endpoint> parse_endpoint(std::string_view text) {
  const auto broken = [whole = text] {
    return fail(ec::invalid_argument,
                "'{}' is no address; write it as tcp://10.0.0.1:7800", whole);
  };
  constexpr std::string_view scheme = "tcp://";
  if (text.starts_with(scheme))
    text.remove_prefix(scheme.size());
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    return broken();
  endpoint out;
  const auto port = number_from<std::uint16_t>(text.substr(colon + 1));
  if (!port)
    return broken();
  out.port = *port;
  auto host = text.substr(0, colon);
  if (host.front() == '[' && host.back() == ']' && host.size() > 2)
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return broken();
  if (host.find_first_of("/;[] ") != std::string_view::npos)
    return broken();
  out.host = host;
  return out;
}

result<std::vector<std::string>> parse_endpoints(std::string_view text) {
  std::vector<std::string> out;
  for (;;) {
    const auto comma = text.find(',');
    GRAPHMILL_TRY(const auto where, parse_endpoint(text.substr(0, comma)));
    if (auto name = to_string(where);
        std::find(out.begin(), out.end(), name) == out.end())
      out.push_back(std::move(name));
    if (out.size() > most_endpoints)
      return fail(ec::invalid_argument,
                  "more than {} addresses of one coordinator", most_endpoints);
    if (comma == std::string_view::npos)
      return out;
    text.remove_prefix(comma + 1);
  }
}

std::string to_string(const endpoint& where) {
  const auto is_v6 = where.host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("tcp://[{}]:{}", where.host, where.port)
               : fmt::format("tcp://{}:{}", where.host, where.port);
}

bool is_wildcard(const endpoint& where) {
  return where.host == "*" || where.host == "0.0.0.0" || where.host == "::";
}

bool is_loopback(const endpoint& where) {
  return where.host.starts_with("127.") || where.host == "::1"
         || where.host == "localhost";
}

std::string host_group(const std::string& host) {
  in6_addr wide{};
  const auto plain = host.substr(0, host.find('%')); // Without its interface.
  if (is_loopback({plain, 0}))
    return "loopback";
  if (::inet_pton(AF_INET6, plain.c_str(), &wide) != 1)
    return plain;
  if (IN6_IS_ADDR_V4MAPPED(&wide)) {
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &wide.s6_addr[12], text.data(), text.size());
    return host_group(text.data());
  }
  std::fill(wide.s6_addr + 8, wide.s6_addr + 16, std::uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, &wide, text.data(), text.size());
  return text.data();
}

result<std::string> resolve_host(const std::string& host) {
  GRAPHMILL_TRY(const auto found, look_up(host, 0));
  std::string other;
  for (const auto* at = found.get(); at != nullptr; at = at->ai_next) {
    if (at->ai_family == AF_INET)
      return numeric(at->ai_addr);
    other = numeric(at->ai_addr);
  }
  if (other.empty())
    return fail(ec::not_found, "the host '{}' has no address", host);
  return other;
}

result<std::string> address_of_interface(const std::string& name) {
  auto found =
    find_interface([&name](const ifaddrs& at) { return name == at.ifa_name; });
  if (found.empty())
    return fail(ec::not_found,
                "there is no network interface '{}' with an address; `ip "
                "address` lists them",
                name);
  return found;
}

result<std::string> address_towards(const endpoint& peer) {
  GRAPHMILL_TRY(const auto found,
                look_up(peer.host, peer.port == 0 ? 1 : peer.port));
  const auto* to = found.get();
  const auto socket = ::socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0)
    return fail_errno(errno, "cannot open a socket towards {}",
                      to_string(peer));
  // Connecting a datagram socket sends nothing: it asks for the route.
  sockaddr_storage own{};
  auto* const own_address = reinterpret_cast<sockaddr*>(&own);
  socklen_t size = sizeof(own);
  const bool routed = ::connect(socket, to->ai_addr, to->ai_addrlen) == 0
                      && ::getsockname(socket, own_address, &size) == 0;
  const auto code = errno;
  ::close(socket);
  if (!routed)
    return fail_errno(code, "there is no route to {}", to_string(peer));
  return numeric(own_address);
}

std::string any_address() {
  auto found = find_interface([](const ifaddrs& at) {
    return (at.ifa_flags & IFF_UP) != 0 && (at.ifa_flags & IFF_LOOPBACK) == 0;
  });
  return found.empty() ? "127.0.0.1" : found;
}

} // namespace graphmill
