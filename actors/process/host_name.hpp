#pragma once

#include <unistd.h>

#include <array>
#include <string>

namespace graphmill {

/// The name of this machine; "localhost" if it has none.
inline std::string host_name() {
  std::array<char, 256> name{}; // The last byte stays 0.
  if (::gethostname(name.data(), name.size() - 1) != 0)
    return "localhost";
  return name.data();
}

} // namespace graphmill
