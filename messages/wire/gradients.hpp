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

/// The fewest bytes of a piece that does not end its transfer, so that there
/// are not too many pieces to be kept apart.
inline constexpr std::size_t least_piece = 4096;

/// Makes the message; cannot fail.
/// @param bytes The content of a piece, which becomes a bulk frame as it is;
/// not used for other purposes.
payload encode(const gradient_message& from, frame bytes);

/// Reads what came from outside; fails with `invalid_data`. The purpose is a
/// known one, and a piece has one frame of a size that is allowed, which lies
/// within its transfer. Ranks, group and transfer have not been checked.
result<gradient_message> decode_gradient_message(const payload& from);

/// Checks size and place of a piece as `decode_gradient_message` does, for one
/// that comes from a rank of this process and was never encoded.
result<void> check_piece(const gradient_message& head, std::size_t bytes);

} // namespace graphmill
