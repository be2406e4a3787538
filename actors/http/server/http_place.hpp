#pragma once

#include "messages/base/error.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <string>

namespace graphmill {

/// Where to listen, and under which name.
struct http_place {
  std::string host; ///< As its user named it.
  boost::asio::ip::tcp::endpoint at;
};

/// Fails as `check_http_address` does.
result<http_place> http_place_of(const std::string& listen, bool has_token);

/// host:port.
std::string http_address_text(const boost::asio::ip::tcp::endpoint& at);

} // namespace graphmill
