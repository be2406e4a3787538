#include "actors/http/server/http_heads.hpp"

#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

#include <iterator>

namespace graphmill {

namespace {

namespace http = boost::beast::http;

std::string_view reason_of(unsigned status) {
  const auto text = http::obsolete_reason(http::int_to_status(status));
  return {text.data(), text.size()};
}

/// How a token is shown: each way in a line of its own, for Chromium splits
/// none. Of actions, which are posted, it is no password: a browser would ask
/// its user for one.
std::string_view challenges_to(http::verb method) {
  return method == http::verb::post
           ? "WWW-Authenticate: Bearer\r\n"
           : "WWW-Authenticate: Basic realm=\"graphmill\"\r\n"
             "WWW-Authenticate: Bearer\r\n";
}

} // namespace

std::string_view http_guards() {
  return "Content-Security-Policy: default-src 'self'; "
         "frame-ancestors 'none'\r\n"
         "X-Content-Type-Options: nosniff\r\n"
         "Referrer-Policy: no-referrer\r\n"
         "Cross-Origin-Resource-Policy: same-origin\r\n";
}

std::string http_head_of(const http_answer& what, const http_manner& how,
                         std::size_t size) {
  std::string out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "HTTP/1.1 {} {}\r\nContent-Type: {}\r\n", what.status,
                 reason_of(what.status), what.type);
  if (what.etag.empty())
    out += "Cache-Control: no-store\r\n";
  else
    fmt::format_to(to, "Cache-Control: no-cache\r\nETag: {}\r\n", what.etag);
  out += http_guards();
  if (what.status == 401)
    out += challenges_to(how.method);
  if (what.status == 405) // Of HEAD: that is a stream.
    out += how.method == http::verb::head ? "Allow: GET\r\n"
                                          : "Allow: GET, HEAD\r\n";
  if (how.gzip)
    out += "Content-Encoding: gzip\r\n";
  if (!how.keeps)
    out += "Connection: close\r\n";
  fmt::format_to(to, "Content-Length: {}\r\n\r\n", size);
  return out;
}

} // namespace graphmill
