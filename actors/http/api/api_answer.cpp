#include "actors/http/api/api_answer.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace graphmill {

std::string api_text(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::shared_ptr<const std::string> api_body(const nlohmann::json& value) {
  return std::make_shared<const std::string>(api_text(value) + "\n");
}

http_answer api_answer(std::shared_ptr<const std::string> body) {
  http_answer out;
  out.type = "application/json";
  out.body = std::move(body);
  return out;
}

http_answer api_answer(const nlohmann::json& value) {
  return api_answer(api_body(value));
}

} // namespace graphmill
