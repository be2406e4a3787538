#pragma once

#include "messages/base/printable.hpp"
#include "tests/fuzz/harness.hpp"

#include <string_view>

namespace graphmill::fuzz {

/// What a terminal may get, whoever has chosen it.
inline void require_printable(std::string_view text, line_breaks breaks) {
  while (!text.empty()) {
    const auto length = utf8_length(text);
    require(length != 0, "what is printed is no UTF-8");
    const auto c = static_cast<unsigned char>(text.front());
    require((c >= 0x20 && c != 0x7f)
              || (breaks == line_breaks::keep && (c == '\n' || c == '\t')),
            "what is printed has a control character");
    // U+0080 to U+009F are control characters, too.
    require(!(c == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0),
            "what is printed has a control character of two bytes");
    text.remove_prefix(length);
  }
}

} // namespace graphmill::fuzz
