#pragma once

#include "actors/http/server/http_server.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>

namespace graphmill {

/// A document on one line. Bytes that are no UTF-8 are replaced.
std::string api_text(const nlohmann::json& value);

/// The same with the end of the line, for answers to share.
std::shared_ptr<const std::string> api_body(const nlohmann::json& value);

/// An answer that is a document.
http_answer api_answer(std::shared_ptr<const std::string> body);
http_answer api_answer(const nlohmann::json& value);

} // namespace graphmill
