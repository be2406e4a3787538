#include "actors/http/server/http_place.hpp"

#include "actors/transport/sessions/address.hpp"

#include <boost/system/error_code.hpp>
#include <fmt/format.h>

namespace graphmill {

result<http_place> http_place_of(const std::string& listen, bool has_token) {
  auto parsed = parse_endpoint(listen);
  if (!parsed)
    return fail(ec::invalid_argument,
                "'{}' is no address for HTTP; write it as 127.0.0.1:7880",
                listen);
  const auto& named = parsed.value();
  std::string numeric = "0.0.0.0";
  if (!is_wildcard(named)) {
    GRAPHMILL_TRY(numeric, resolve_host(named.host));
  } else if (named.host == "::") {
    numeric = named.host;
  }
  boost::system::error_code failed;
  const auto address = boost::asio::ip::make_address(numeric, failed);
  if (failed)
    return fail(ec::invalid_argument, "'{}' is no address for HTTP: {}", listen,
                failed.message());
  if (!address.is_loopback() && !has_token)
    return fail(ec::permission,
                "others can reach {}: name a file with a token for HTTP "
                "(--http-token-file), or listen at 127.0.0.1",
                listen);
  return http_place{named.host, {address, named.port}};
}

std::string http_address_text(const boost::asio::ip::tcp::endpoint& at) {
  const auto host = at.address().to_string();
  return at.address().is_v6() ? fmt::format("[{}]:{}", host, at.port())
                              : fmt::format("{}:{}", host, at.port());
}

} // namespace graphmill
