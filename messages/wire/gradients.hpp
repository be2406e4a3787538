#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/wire/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace graphmill {

/// What a message between ranks is for. The values are those of data.capnp.
enum class gradient_purpose : std::uint16_t { unset, piece, farewell };

/// From a rank of a gradient group to another one; data.capnp says what it
/// means.
struct gradient_message {
  std::string run;
  std::uint64_t generation = 0;
  rank_id from = 0;
  rank_id to = 0;
  gradient_purpose purpose = gradient_purpose::unset;
  std::uint64_t transfer = 0;
  std::uint64_t offset = 0;
  std::uint64_t total = 0;
};

/// The least bytes of a piece that does not end its transfer: so there are not
/// too many of them to be kept apart.
inline constexpr std::size_t least_piece = 4096;

/// @param bytes Of a piece; none in other messages.
payload encode(const gradient_message& from, frame bytes);

/// Reads what came from outside. A known purpose; a piece has one frame of a
/// size that is allowed, within its transfer. Ranks, group and transfer are not
/// checked.
result<gradient_message> decode_gradient_message(const payload& from);

/// The same checks of a message that comes from a rank of this process.
result<void> check_piece(const gradient_message& head, std::size_t bytes);

} // namespace graphmill
