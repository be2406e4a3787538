#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/frame.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// What a bulk array consists of. The values are those of data.capnp.
enum class element : std::uint16_t {
  unset,
  uint8,
  uint16,
  int32,
  int64,
  float16,
  float32,
};

/// Bytes of an element; 0 if its type is not known.
std::size_t element_size(element type);

/// Whether a known element is a whole number.
constexpr bool is_integer(element type) {
  return type >= element::uint8 && type <= element::int64;
}

/// Where an array lies in the bulk frames of a message; see data.capnp. An
/// array longer than a frame begins at the front of one and goes on in those
/// behind it, all of which but the last are full. Value type.
struct bulk_array {
  element type = element::unset;
  std::uint64_t count = 0;
  std::int64_t base = 0; ///< Added to each whole number.
  std::uint32_t frame = 0;
  std::uint32_t offset = 0;

  std::uint64_t byte_size() const { return count * element_size(type); }
};

/// The most bytes of all arrays of a message together.
inline constexpr std::uint64_t max_bulk_bytes = std::uint64_t{24} << 20;

/// Collects the arrays of a message into frames. Small arrays are copied and
/// share frames. Large ones are cut into frames that refer to the caller's
/// memory, which their owner keeps alive and unchanged until the last frame is
/// gone, on whatever thread that happens; without an owner, they are copied,
/// too. However many arrays there are, as long as they are within
/// `max_bulk_bytes` they need no more than `max_bulk_frames`. Not thread-safe.
class bulk_writer {
public:
  /// Adds values as they are.
  bulk_array add(element type, std::span<const std::byte> values,
                 std::shared_ptr<const void> owner = nullptr);

  /// Adds whole numbers, in 4 bytes each if their range allows; then they are
  /// copied, and the owner is let go.
  bulk_array add_integers(std::span<const std::int64_t> values,
                          std::shared_ptr<const void> owner = nullptr);

  /// Adds numbers from 0 on, in as few bytes as the greatest one needs.
  bulk_array add_counts(std::span<const std::int32_t> counts,
                        std::shared_ptr<const void> owner = nullptr);

  /// All bytes added so far; a message is not sent with more than
  /// `max_bulk_bytes`.
  std::uint64_t byte_size() const { return bytes_; }

  /// The frames; the writer is empty afterwards.
  std::vector<frame> take();

private:
  /// A frame that small arrays share.
  struct slab {
    std::size_t number = 0;
    std::shared_ptr<std::vector<std::uint64_t>> words;
  };

  template <class Narrow, class Wide>
  bulk_array add_narrow(element type, std::span<const Wide> values,
                        std::int64_t base);
  void add_frames(bulk_array& place, std::span<const std::byte> values,
                  const std::shared_ptr<const void>& owner);
  void add_to_slab(bulk_array& place, std::span<const std::byte> values);

  std::vector<frame> frames_;
  std::vector<slab> slabs_; ///< The last one may grow.
  std::uint64_t bytes_ = 0;
};

/// Checks arrays that came from outside against the frames of their message:
/// known elements, places, sizes. Together they may not claim more bytes than
/// the frames have, so that what a message makes a receiver allocate is bounded
/// by what it brought, even if arrays refer to the same bytes again and again.
/// One object serves one message.
class bulk_check {
public:
  /// @param frames Borrowed; must outlive it.
  explicit bulk_check(std::span<const frame> frames);
  /// Fails with `invalid_data` and a sentence about the array.
  result<void> array(const bulk_array& array);

private:
  std::span<const frame> frames_;
  std::uint64_t left_ = 0;
};

/// Calls `visit` with the bytes of a checked array, frame by frame. No element
/// is cut in two: all frames but the last are full, and the size of a full
/// frame is a multiple of that of every element.
template <class Visit>
void for_each_piece(const bulk_array& array, std::span<const frame> frames,
                    Visit visit) {
  auto left = array.byte_size();
  auto offset = std::size_t{array.offset};
  for (auto number = std::size_t{array.frame}; left != 0; ++number) {
    const auto rest = frames[number].bytes().subspan(offset);
    const auto piece = rest.first(
      static_cast<std::size_t>(std::min<std::uint64_t>(left, rest.size())));
    visit(piece);
    left -= piece.size();
    offset = 0;
  }
}

/// Writes a checked array of whole numbers to `out` [count], with its base
/// added to each. Sums wrap around; ranges are for the caller to check.
void read_integers(const bulk_array& array, std::span<const frame> frames,
                   std::int64_t* out);

/// The same in 4 bytes. Fails with `invalid_data` if a number does not lie in
/// `least` to `greatest`; all of `out` has been written then.
result<void>
read_integers(const bulk_array& array, std::span<const frame> frames,
              std::int32_t* out, std::int32_t least = 0,
              std::int32_t greatest = std::numeric_limits<std::int32_t>::max());

/// Writes a checked array of float32 to `out` [count].
void read_floats(const bulk_array& array, std::span<const frame> frames,
                 float* out);

} // namespace graphmill
