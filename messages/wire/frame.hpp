#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace graphmill {

/// Immutable bytes with a shared owner: one part of a message. Copies share the
/// bytes, which live until the last copy is gone, on any thread. Data from
/// `copy` and from the transport is 8-byte aligned.
class frame {
public:
  /// No bytes.
  frame() = default;

  /// Bytes of its own.
  static frame copy(std::span<const std::byte> bytes);

  /// Bytes that live as long as `owner`, without a copy. They must not change:
  /// those of a request until the reply is there, because it may be sent again;
  /// those of a reply never, because it may be kept. The owner may be dropped
  /// on any thread.
  static frame own(std::shared_ptr<const void> owner,
                   std::span<const std::byte> bytes) {
    frame made;
    made.owner_ = std::move(owner);
    made.bytes_ = bytes;
    return made;
  }

  const std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  std::span<const std::byte> bytes() const { return bytes_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

/// The largest size of a frame on the wire, in bytes.
inline constexpr std::size_t max_frame_bytes = std::size_t{1} << 20;

/// The largest number of bulk frames of a message.
inline constexpr std::size_t max_bulk_frames = 64;

/// The content of a message besides its envelope.
struct payload {
  frame body;              ///< One Cap'n Proto struct, by method; or empty.
  std::vector<frame> bulk; ///< Arrays, described in the body.

  /// Of all frames together.
  std::uint64_t byte_size() const {
    std::uint64_t sum = body.size();
    for (const auto& part : bulk)
      sum += part.size();
    return sum;
  }
};

} // namespace graphmill
