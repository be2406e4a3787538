#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace graphmill {

/// "batchSize" -> "batch_size": a field of a schema as users see it, in YAML
/// and in JSON.
inline std::string user_name(std::string_view schema_name) {
  std::string out;
  for (const char c : schema_name) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0)
      out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

} // namespace graphmill
