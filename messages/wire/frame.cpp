#include "messages/wire/frame.hpp"

#include <cstring>

namespace graphmill {

frame frame::copy(std::span<const std::byte> bytes) {
  if (bytes.empty())
    return {};
  // Words, for the alignment that Cap'n Proto needs.
  auto words = std::make_shared<std::uint64_t[]>(
    (bytes.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  std::memcpy(words.get(), bytes.data(), bytes.size());
  const auto* data = reinterpret_cast<const std::byte*>(words.get());
  return own(std::move(words), {data, bytes.size()});
}

} // namespace graphmill
