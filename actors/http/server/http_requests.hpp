#pragma once

#include "actors/http/server/http_gate.hpp"
#include "actors/http/server/http_server.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace graphmill {

// What the head of a request says, as the rest of the server takes it.

/// Reads a head, and stops before a body.
using http_head_parser =
  boost::beast::http::request_parser<boost::beast::http::empty_body>;

/// Has a new parser, and what it reads from, take no more than that of a head.
/// A body may have any length: it is for the gate to refuse it, unread.
void limit_head(http_head_parser& parser, boost::beast::flat_buffer& input,
                std::uint32_t head_bytes);

/// For the gate. @param has_body As its parser knows.
http_head http_head_in(const boost::beast::http::request_header<>& request,
                       bool has_body);

/// For pages. @param from The numeric address of who asks.
http_request
http_request_in(const boost::beast::http::request_header<>& request,
                std::string from);

/// What there is at a path, or else at the folder that it lies in; null:
/// nothing.
template <class T>
const T* found_in(const std::map<std::string, T>& all,
                  const std::string& path) {
  auto found = all.find(path);
  if (const auto folder = path.rfind('/');
      found == all.end() && folder != 0 && folder != std::string::npos)
    found = all.find(path.substr(0, folder + 1));
  return found == all.end() ? nullptr : &found->second;
}

/// Whether who asks has the page of this etag. Empty: no page of it.
bool has_etag(const boost::beast::http::request_header<>& request,
              const std::string& etag);

/// Whether who asks takes a body packed by gzip.
bool takes_gzip(const boost::beast::http::request_header<>& request);

} // namespace graphmill
