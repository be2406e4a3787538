#include "partition/files/zstd_source.hpp"

#include "partition/files/file_io.hpp"

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <cstddef>
#include <new>
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

  int fd;
  std::unique_ptr<ZSTD_DStream, free_stream> stream;
  std::vector<char> block;
  ZSTD_inBuffer input{nullptr, 0, 0};
  bool within_frame = false;
};

zstd_source::zstd_source(int fd) : state_(std::make_shared<state>(fd)) {}

std::streamsize zstd_source::read(char* to, std::streamsize most) {
  auto& self = *state_;
  ZSTD_outBuffer output{to, static_cast<std::size_t>(most), 0};
  while (output.pos < output.size) {
    const auto ended = self.input.pos == self.input.size && !self.refill();
    if (ended && !self.within_frame)
      break;
    const auto before = output.pos;
    const auto left =
      ZSTD_decompressStream(self.stream.get(), &output, &self.input);
    if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
      throw std::runtime_error{
        "reading it would take more than 128 MiB of memory, for it was packed "
        "with a large window (zstd --long); pack it again without, "
        "or unpack it first: zstd -d --long=31 FILE"};
    if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
      throw std::runtime_error{"there is too little memory to unpack it: the "
                               "window that it was packed "
                               "with takes up to 128 MiB"};
    if (ZSTD_isError(left))
      refuse(fmt::format("damaged: {}", ZSTD_getErrorName(left)));
    self.within_frame = left > 0;
    // Without more input it can give what it still holds, and no more.
    if (ended && output.pos == before && self.within_frame)
      refuse("cut short");
  }
  return output.pos > 0 ? static_cast<std::streamsize>(output.pos) : -1;
}

} // namespace graphmill
