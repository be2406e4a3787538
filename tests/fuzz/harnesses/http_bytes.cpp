#include "actors/http/server/http_requests.hpp"
#include "tests/fuzz/registry.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The bytes of connections over HTTP, as they come in pieces: request after
// request, read by what the server reads with.

namespace graphmill::fuzz {

namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::uint32_t fuzz_head_bytes = 1024;
constexpr std::size_t fuzz_requests = 50; ///< Of one connection.

/// What a socket is to the reader: gives so many bytes at a time.
class piecewise {
public:
  piecewise(std::string_view bytes, std::size_t piece)
    : left_(bytes), piece_(piece) {}

  template <class Buffers>
  std::size_t read_some(const Buffers& to, beast::error_code& failed) {
    failed = {};
    if (left_.empty())
      failed = boost::asio::error::eof;
    const auto size = boost::asio::buffer_copy(
      to, boost::asio::buffer(left_.data(), std::min(piece_, left_.size())));
    left_.remove_prefix(size);
    return size;
  }

  template <class Buffers>
  std::size_t read_some(const Buffers& to) {
    beast::error_code failed;
    const auto size = read_some(to, failed);
    if (failed)
      throw beast::system_error{failed};
    return size;
  }

private:
  std::string_view left_;
  std::size_t piece_;
};

/// What a connection asked for, in order.
struct heard {
  std::vector<std::string> requests;
  /// Where heads become too long depends on the pieces that they came in.
  bool too_long = false;
};

heard hear(std::string_view bytes, std::size_t piece) {
  heard out;
  piecewise stream{bytes, piece};
  beast::flat_buffer input;
  for (std::size_t i = 0; i < fuzz_requests; ++i) {
    http_head_parser parser;
    limit_head(parser, input, fuzz_head_bytes);
    beast::error_code failed;
    http::read_header(stream, input, parser, failed);
    require(input.size() <= fuzz_head_bytes + 1024, "more is kept than a head");
    out.too_long = failed == http::error::header_limit
                   || failed == http::error::buffer_overflow;
    if (failed)
      return out;
    const auto& request = parser.get();
    const auto head = http_head_in(request, !parser.is_done());
    const auto asked = http_request_in(request, "127.0.0.1");
    require(asked.path.find('?') == std::string::npos, "a query in a path");
    std::size_t size = head.method.size() + asked.path.size()
                       + asked.query.size() + asked.last_event_id.size();
    for (const auto* field :
         {&head.host, &head.authorization, &head.action_token, &head.origin,
          &head.fetch_site, &head.fetch_mode})
      if (*field) {
        size += (*field)->size();
        require((*field)->find_first_of("\r\n") == std::string::npos,
                "a field of two lines");
      }
    require(size <= fuzz_head_bytes + 1024, "more in a head than was kept");
    require(!has_etag(request, ""), "no page is known already");
    out.requests.push_back(
      head.method + ' ' + asked.path + '?' + asked.query + ' '
      + head.host.value_or("-") + ' ' + head.authorization.value_or("-") + ' '
      + head.action_token.value_or("-") + ' ' + head.origin.value_or("-") + ' '
      + head.fetch_site.value_or("-") + ' ' + asked.last_event_id);
    if (!parser.is_done() || !request.keep_alive())
      return out;
  }
  return out;
}

void read_http_bytes(std::string_view input) {
  cursor in{input};
  const auto piece = std::size_t{1} + in.take<std::uint8_t>();
  const auto bytes = in.rest();
  const auto whole = hear(bytes, std::max<std::size_t>(bytes.size(), 1));
  const auto pieces = hear(bytes, piece);
  require(whole.too_long || pieces.too_long
            || whole.requests == pieces.requests,
          "pieces make another request than the whole");
}

std::vector<std::string> http_connections() {
  const std::string host = "Host: localhost:7880\r\n";
  return {
    "\x03GET / HTTP/1.1\r\n" + host + "\r\n",
    "\x20GET /api/history?since=12 HTTP/1.1\r\n" + host
      + "Authorization: Bearer 0123456789abcdef\r\n"
        "If-None-Match: \"a\", \"b\"\r\n\r\nHEAD /page/a.js HTTP/1.1\r\n"
      + host + "Connection: close\r\n\r\n",
    "\x01GET /api/live HTTP/1.1\r\n" + host + "Last-Event-ID: 3-4\r\n\r\n",
    "\x07POST /api/runs HTTP/1.1\r\n" + host
      + "Content-Length: 5\r\n\r\nhelloGET / HTTP/1.0\r\n\r\n",
    "\x05POST /api/cancel/r HTTP/1.1\r\n" + host
      + "Graphmill-Token: 0123456789abcdef\r\nSec-Fetch-Site: same-origin\r\n"
        "Origin: http://localhost:7880\r\n\r\n",
    "\x09POST / HTTP/1.1\r\n" + host
      + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
    "\x10GET / HTTP/1.1\r\n" + host + "A: b\r\n folded\r\nA: c\r\n\r\n",
    "\x40GET /" + std::string(2 * fuzz_head_bytes, 'a') + " HTTP/1.1\r\n\r\n",
  };
}

} // namespace

const harness http_bytes_harness{"http_bytes",
                                 "connections over HTTP, in pieces",
                                 read_http_bytes, http_connections, 10000};

} // namespace graphmill::fuzz
