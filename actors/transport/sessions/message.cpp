#include "actors/transport/sessions/message.hpp"

#include "actors/transport/sessions/peer.hpp"

namespace graphmill {

result<void> check_size(const payload& data) {
  if (data.bulk.size() > max_bulk_frames)
    return fail(ec::invalid_argument,
                "a message of {} bulk frames; at most {} are allowed",
                data.bulk.size(), max_bulk_frames);
  const auto too_long = [](const frame& part) {
    return part.size() > max_frame_bytes;
  };
  if (too_long(data.body))
    return fail(ec::invalid_argument,
                "a message's body has {} bytes; at most {} are allowed",
                data.body.size(), max_frame_bytes);
  for (const auto& part : data.bulk)
    if (too_long(part))
      return fail(ec::invalid_argument,
                  "a bulk frame has {} bytes; at most {} are allowed",
                  part.size(), max_frame_bytes);
  return ok();
}

std::uint64_t cost_of(const message& of) {
  constexpr std::uint64_t around = 512; // Roughly.
  return around + of.data.byte_size() + of.head.failure.message.size();
}

} // namespace graphmill
