#include "messages/base/identity.hpp"

#include <fmt/format.h>

#include <random>

namespace graphmill {

std::string draw_identity() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(),
                     device());
}

} // namespace graphmill
