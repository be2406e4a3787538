#pragma once

#include "actors/http/http_gate.hpp"
#include "actors/http/http_server.hpp"

#include <boost/beast/http/message.hpp>

#include <string>

namespace graphmill {

// What the head of a request says, as the rest of the server takes it.

/// For the gate. @param has_body As its parser knows.
http_head http_head_in(const boost::beast::http::request_header<>& request,
                       bool has_body);

/// For pages. @param from The numeric address of who asks.
http_request
http_request_in(const boost::beast::http::request_header<>& request,
                std::string from);

/// Whether who asks has the page of this etag. Empty: no page of it.
bool has_etag(const boost::beast::http::request_header<>& request,
              const std::string& etag);

} // namespace graphmill
