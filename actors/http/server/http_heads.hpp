#pragma once

#include "actors/http/server/http_server.hpp"

#include <boost/beast/http/verb.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace graphmill {

// The heads of answers, as they go to the other end.

/// The lines that every head has. They keep browsers from using an answer as
/// anything but what it is, and from doing more with a page than it needs.
std::string_view http_guards();

/// What a head says beside the answer itself.
struct http_manner {
  boost::beast::http::verb method = boost::beast::http::verb::unknown;
  bool keeps = true; ///< The connection, for the next request.
  bool gzip = false; ///< So the body is packed.
};

/// All of a head, with the empty line behind it. @param size Of the body, also
/// if it is not told.
std::string http_head_of(const http_answer& what, const http_manner& how,
                         std::size_t size);

} // namespace graphmill
