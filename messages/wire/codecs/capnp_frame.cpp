#include "messages/wire/codecs/capnp_frame.hpp"

#include <cstdint>

namespace graphmill {

frame encode_frame(capnp::MessageBuilder& message) {
  auto words = std::make_shared<kj::Array<capnp::word>>(
    capnp::messageToFlatArray(message));
  const auto bytes = words->asBytes();
  return frame::own(
    std::move(words),
    {reinterpret_cast<const std::byte*>(bytes.begin()), bytes.size()});
}

result<frame> aligned_words(const frame& from, std::string_view name) {
  if (from.size() % sizeof(capnp::word) != 0)
    return fail(ec::invalid_data,
                "cannot decode {}: {} bytes are not a number of whole words",
                name, from.size());
  if (reinterpret_cast<std::uintptr_t>(from.data()) % sizeof(capnp::word) == 0)
    return from;
  return frame::copy(from.bytes());
}

} // namespace graphmill
