#include "partition/files/zstd_source.hpp"

#include "partition/files/file_io.hpp"

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace graphmill {

namespace {

struct free_stream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

[[noreturn]] void refuse(std::string_view why) {
  throw std::runtime_error{fmt::format(
    "as a Zstandard file it is {} (`zstd -t` tells); make it again", why)};
}

[[noreturn]] void refuse_damaged(std::size_t code) {
  refuse(fmt::format("damaged: {}", ZSTD_getErrorName(code)));
}

/// Refuses a file that does not end with a frame.
[[noreturn]] void refuse_end(std::span<const char> packed) {
  while (!packed.empty()) {
    const auto frame =
      ZSTD_findFrameCompressedSize(packed.data(), packed.size());
    if (ZSTD_getErrorCode(frame) == ZSTD_error_prefix_unknown)
      refuse_damaged(frame);
    if (ZSTD_isError(frame))
      break;
    packed = packed.subspan(frame);
  }
  refuse("cut short");
}

[[noreturn]] void refuse_window() {
  throw std::runtime_error{
    "reading it would take more than 128 MiB of memory, for it was packed "
    "with a large window (zstd --long); pack it again without, "
    "or unpack it first: zstd -d --long=31 FILE"};
}

/// Unpacks a small file at once, into about as much memory as its content
/// takes. Streams reserve the window that a frame names, which may be far
/// larger.
/// @returns nothing if the content is large.
std::optional<std::vector<char>> unpack_small(std::span<const char> packed) {
  constexpr std::size_t most = std::size_t{1} << 25;
  // RFC 8878, 3.1.1.1: the descriptor of the first window, unless the frame is
  // one segment. As from streams, no window beyond 128 MiB is taken.
  constexpr std::uint8_t one_segment = 0x20, largest_window = 0x88;
  const std::string_view text{packed.data(), packed.size()};
  if (text.size() > 5 && text.starts_with("\x28\xb5\x2f\xfd")
      && (packed[4] & one_segment) == 0
      && static_cast<std::uint8_t>(packed[5]) > largest_window)
    refuse_window();
  std::vector<char> out;
  for (auto size = std::size_t{1} << 17; size <= most; size *= 4) {
    out.resize(size);
    const auto got =
      ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
    if (!ZSTD_isError(got)) {
      out.resize(got);
      return out;
    }
    if (ZSTD_getErrorCode(got) == ZSTD_error_srcSize_wrong)
      refuse_end(packed);
    if (ZSTD_getErrorCode(got) != ZSTD_error_dstSize_tooSmall)
      refuse_damaged(got);
  }
  return std::nullopt;
}

} // namespace

struct zstd_source::state {
  explicit state(int file)
    : fd(file), stream(ZSTD_createDStream()), block(ZSTD_DStreamInSize()) {
    if (!stream)
      throw std::bad_alloc{};
  }

  bool refill() {
    const auto got =
      read_some(fd, std::as_writable_bytes(std::span{block}), "");
    if (!got)
      throw std::runtime_error{got.error().message};
    input = {block.data(), got.value(), 0};
    return got.value() > 0;
  }

  /// Reads the first block, and unpacks it if it is all of the file.
  void begin() {
    begun = true;
    if (refill() && input.size < block.size())
      unpacked = unpack_small({block.data(), input.size});
  }

  int fd;
  std::unique_ptr<ZSTD_DStream, free_stream> stream;
  std::vector<char> block;
  ZSTD_inBuffer input{nullptr, 0, 0};
  bool within_frame = false;
  bool begun = false;
  std::optional<std::vector<char>> unpacked; ///< Of a small file.
  std::size_t given = 0;                     ///< Of `unpacked`.
};

zstd_source::zstd_source(int fd) : state_(std::make_shared<state>(fd)) {}

std::streamsize zstd_source::read(char* to, std::streamsize most) {
  auto& self = *state_;
  if (!self.begun)
    self.begin();
  if (self.unpacked) {
    const auto rest = std::span{*self.unpacked}.subspan(self.given);
    const auto given = std::min(rest.size(), static_cast<std::size_t>(most));
    std::copy_n(rest.begin(), given, to);
    self.given += given;
    return given > 0 ? static_cast<std::streamsize>(given) : -1;
  }
  ZSTD_outBuffer output{to, static_cast<std::size_t>(most), 0};
  while (output.pos < output.size) {
    const auto ended = self.input.pos == self.input.size && !self.refill();
    if (ended && !self.within_frame)
      break;
    const auto before = output.pos;
    const auto left =
      ZSTD_decompressStream(self.stream.get(), &output, &self.input);
    if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
      refuse_window();
    if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
      throw std::runtime_error{"there is too little memory to unpack it: its "
                               "window takes up to 128 MiB"};
    if (ZSTD_isError(left))
      refuse_damaged(left);
    self.within_frame = left > 0;
    // Without more input it can give what it still holds, and no more.
    if (ended && output.pos == before && self.within_frame)
      refuse("cut short");
  }
  return output.pos > 0 ? static_cast<std::streamsize>(output.pos) : -1;
}

} // namespace graphmill
