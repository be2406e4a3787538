#include "actors/http/server/http_requests.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

namespace http = boost::beast::http;

std::string http_text_of(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

/// The value of a header; nothing if there is none. One that comes twice may
/// mean two things: it counts as empty. @tparam Name A field that Beast knows,
/// or its name.
template <class Name>
std::optional<std::string> http_field(const http::fields& in, Name name) {
  const auto found = in.equal_range(name);
  if (found.first == found.second)
    return std::nullopt;
  if (std::next(found.first) != found.second)
    return std::string{};
  return http_text_of(found.first->value());
}

/// What a request is for.
struct http_target {
  std::optional<std::string> authority; ///< If it is named here.
  std::string rest;                     ///< Path and query.
};

/// As a proxy is asked, by the whole address (RFC 9112, 3.2.2): everybody has
/// to understand that.
http_target target_of(const http::request_header<>& request) {
  static constexpr boost::beast::string_view scheme{"http://"};
  http_target out{.authority = {}, .rest = http_text_of(request.target())};
  if (!boost::beast::iequals(out.rest.substr(0, scheme.size()), scheme))
    return out;
  out.rest.erase(0, scheme.size());
  const auto end = std::min(out.rest.find_first_of("/?"), out.rest.size());
  out.authority = out.rest.substr(0, end);
  out.rest.erase(0, end);
  if (!out.rest.starts_with('/'))
    out.rest.insert(0, 1, '/');
  return out;
}

} // namespace

void limit_head(http_head_parser& parser, boost::beast::flat_buffer& input,
                std::uint32_t head_bytes) {
  parser.header_limit(head_bytes);
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  input.max_size(head_bytes + std::size_t{1024});
}

http_head http_head_in(const http::request_header<>& request, bool has_body) {
  http_head out;
  out.method = http_text_of(request.method_string());
  out.host = http_field(request, http::field::host);
  // What the target says is right, and the header nothing but needed.
  if (auto named = target_of(request).authority;
      named && out.host && !out.host->empty())
    out.host = std::move(named);
  out.authorization = http_field(request, http::field::authorization);
  out.action_token = http_field(request, "Graphmill-Token");
  out.origin = http_field(request, http::field::origin);
  out.fetch_site = http_field(request, "Sec-Fetch-Site");
  out.fetch_mode = http_field(request, "Sec-Fetch-Mode");
  out.has_body = has_body;
  return out;
}

http_request http_request_in(const http::request_header<>& request,
                             std::string from) {
  http_request out;
  out.from = std::move(from);
  out.path = target_of(request).rest;
  if (const auto mark = out.path.find('?'); mark != std::string::npos) {
    out.query = out.path.substr(mark + 1);
    out.path.erase(mark);
  }
  if (const auto last = request.find("Last-Event-ID"); last != request.end())
    out.last_event_id = http_text_of(last->value());
  return out;
}

/// The header is a list. Etags are digests: none is part of another.
bool has_etag(const http::request_header<>& request, const std::string& etag) {
  const auto known = http_field(request, http::field::if_none_match);
  return known && !etag.empty()
         && (*known == "*" || known->find(etag) != std::string::npos);
}

/// A list of codings, each with how much it is liked (RFC 9110, 12.5.3); not at
/// all, if that is 0. A list that is none ends where it is wrong.
bool takes_gzip(const http::request_header<>& request) {
  const auto found = request.find(http::field::accept_encoding);
  if (found == request.end())
    return false;
  for (const auto& [coding, with] : http::ext_list{found->value()})
    if (boost::beast::iequals(coding, "gzip"))
      return std::ranges::none_of(with, [](const auto& one) {
        const auto& [name, value] = one;
        return boost::beast::iequals(name, "q")
               && value.find_first_of("123456789") == value.npos;
      });
  return false;
}

} // namespace graphmill
