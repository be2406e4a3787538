#include "actors/commands/options/typed_file.hpp"

#include <system_error>

namespace graphmill {

typed_file split_typed_file(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    return {"", text};
  const auto behind = text.substr(equals + 1);
  std::error_code failed;
  const auto is_file = std::filesystem::exists(text, failed);
  const auto is_typed = std::filesystem::exists(behind, failed);
  if (is_file && (!is_typed || text.find('/') < equals))
    return {"", text};
  if (!is_file && !is_typed && text.find('/') < equals)
    return {"", text};
  return {text.substr(0, equals), behind};
}

} // namespace graphmill
