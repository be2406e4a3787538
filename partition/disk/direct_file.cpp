#include "partition/disk/direct_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <memory>

namespace graphmill {

namespace {

constexpr std::size_t page_bytes = 4096; ///< Of every memory and file system.
constexpr std::size_t sector = 512;      ///< Of every disk, at the least.

/// What the file system says; 0: nothing.
std::size_t stated_alignment([[maybe_unused]] int fd) {
#ifdef STATX_DIOALIGN
  struct statx about {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &about) == 0
      && (about.stx_mask & STATX_DIOALIGN) != 0)
    return std::max(about.stx_dio_mem_align, about.stx_dio_offset_align);
#endif
  return 0;
}

/// Whether a read of that alignment is accepted. Memory and offset are no
/// multiples of anything greater, so that a file that asks for more refuses.
/// What the read gives does not matter.
bool accepts(int fd, std::size_t alignment) {
  const std::unique_ptr<void, decltype(&std::free)> memory{
    std::aligned_alloc(page_bytes, 2 * page_bytes), &std::free};
  if (!memory)
    return false;
  auto* at = static_cast<std::byte*>(memory.get()) + alignment;
  return ::pread(fd, at, alignment, static_cast<off_t>(alignment)) >= 0
         || errno != EINVAL;
}

/// What direct reads must be aligned to; 0 if the file cannot be read directly.
std::size_t alignment_of(int fd) {
  if (const auto stated = stated_alignment(fd); std::has_single_bit(stated))
    return std::max(stated, sector);
  for (const auto alignment : {sector, page_bytes})
    if (accepts(fd, alignment))
      return alignment;
  return 0;
}

} // namespace

result<direct_file> direct_file::open(const std::filesystem::path& path) {
  direct_file out;
  out.path_ = path;
  if (auto opened = open_file(path, O_RDONLY | O_DIRECT)) {
    out.file_ = std::move(opened).value();
    if (const auto alignment = alignment_of(out.fd()); alignment != 0) {
      out.alignment_ = alignment;
      return out;
    }
  }
  GRAPHMILL_TRY(out.file_, open_file(path, O_RDONLY));
  ::posix_fadvise(out.fd(), 0, 0, POSIX_FADV_RANDOM);
  return out;
}

result<std::uint64_t> direct_file::size() const {
  struct stat about {};
  if (::fstat(fd(), &about) != 0)
    return fail_errno(errno, "cannot look at {}", path_.string());
  return static_cast<std::uint64_t>(about.st_size);
}

} // namespace graphmill
