#include "partition/dataset/verification/verification.hpp"

#include "partition/files/content_hash.hpp"
#include "partition/files/file_io.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

using clock = std::chrono::steady_clock;

/// Read at a time: large for the disk, small beside a cache.
constexpr std::uint64_t verified_block_bytes = std::uint64_t{1} << 20;
/// The longest rest after a read. A read that a disk has held up for seconds is
/// no reason to rest for as long.
constexpr std::chrono::milliseconds longest_rest{200};

error damaged(const digest_record& record, const std::string& found) {
  return fail(ec::invalid_data,
              "{} is damaged: its content has the digest {}, but {} is on "
              "record: copy it again from where it is sound, or prepare the "
              "dataset again (changed on purpose? --no-verify takes it as it "
              "is)",
              record.path.string(), found, record.digest);
}

/// The error of a record whose arrays are sound one by one, but whose digest as
/// a whole is not the one on record: the texts between the arrays differ.
error misdescribed(const digest_record& record, const std::string& found) {
  return fail(ec::invalid_data,
              "{} is damaged: the arrays are sound, but with what it says of "
              "them they have the digest {}, and {} is on record: copy it "
              "again from where it is sound, or prepare the dataset again "
              "(changed on purpose? --no-verify takes it as it is)",
              record.path.string(), found, record.digest);
}

error unrecorded(const digest_record& record) {
  return fail(ec::invalid_data,
              "{} has no digest on record, although others of its folder have "
              "one: copy the .json files of the dataset again from where they "
              "are sound, or prepare it again (left out on purpose? "
              "--no-verify takes it as it is)",
              record.path.string());
}

error changed(const fs::path& file) {
  return fail(ec::invalid_data,
              "{} was changed after it was opened: leave the files of a "
              "dataset alone while something runs on it, and run again",
              file.string());
}

/// Reads pieces of files block by block, without harm to those who work on the
/// same machine. What the page cache has is taken from there. What it lacks is
/// read from disk and dropped from the cache again, and a rest follows (see
/// `verification::hurry`).
class gentle_reader {
public:
  explicit gentle_reader(const verification& how)
    : how_(how), buffer_(verified_block_bytes) {}

  /// @param take Gets one block after the other.
  template <class Take>
  result<void> read(const digest_record::piece& piece, Take take) {
    GRAPHMILL_TRY(const auto file, open_file(piece.file, O_RDONLY));
    GRAPHMILL_TRYV(expect_state(file.get(), piece));
    // The kernel would read ahead otherwise, into pages that are not dropped
    // again.
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_RANDOM);
    const auto end = piece.offset + piece.bytes;
    for (auto at = piece.offset; at < end;) {
      if (how_.stop != nullptr && *how_.stop)
        return fail(ec::cancelled, "verification was ended");
      // Blocks begin at multiples of their size, as pages do.
      const auto until =
        std::min(end, (at / verified_block_bytes + 1) * verified_block_bytes);
      const auto block =
        std::span{buffer_}.first(static_cast<std::size_t>(until - at));
      GRAPHMILL_TRYV(read_block(file.get(), at, block, piece.file));
      take(block);
      at = until;
      done_ += block.size();
      if (how_.on_progress)
        how_.on_progress({.phase = "verify", .done = done_});
    }
    // Looks again, in case the file was written to while it was read.
    return expect_state(file.get(), piece);
  }

private:
  static result<void> expect_state(int file,
                                   const digest_record::piece& piece) {
    struct stat about {};
    if (::fstat(file, &about) != 0)
      return fail_errno(errno, "cannot read {}", piece.file.string());
    if (!stamp_of(about).same_content(piece.stamp))
      return changed(piece.file);
    return ok();
  }

  result<void> read_block(int file, std::uint64_t at, std::span<std::byte> to,
                          const fs::path& path) {
    iovec whole{to.data(), to.size()};
    const auto cached =
      ::preadv2(file, &whole, 1, static_cast<off_t>(at), RWF_NOWAIT);
    const auto have = static_cast<std::size_t>(std::max<ssize_t>(cached, 0));
    if (have == to.size())
      return ok();
    const auto began = clock::now();
    if (auto rest = read_at(file, to.subspan(have), at + have, path); !rest)
      // A shorter one has changed since it was mapped.
      return rest.error().code == ec::invalid_data ? changed(path)
                                                   : std::move(rest).error();
    const auto took = clock::now() - began;
    ::posix_fadvise(file, static_cast<off_t>(at), static_cast<off_t>(to.size()),
                    POSIX_FADV_DONTNEED);
    if (how_.hurry != nullptr && !*how_.hurry)
      std::this_thread::sleep_for(
        std::min<clock::duration>(took, longest_rest));
    return ok();
  }

  const verification& how_;
  std::vector<std::byte> buffer_;
  std::uint64_t done_ = 0;
};

result<void> verify(const digest_record& record, const verification& how,
                    gentle_reader& reader) {
  if (how.memory != nullptr && how.memory->knows(record))
    return ok();
  if (record.digest.empty())
    return unrecorded(record);
  content_hash hash;
  auto files = 0;
  auto sound = 0; // Of them, by digests of their own.
  for (const auto& piece : record.pieces) {
    hash.update(piece.text);
    if (piece.file.empty())
      continue;
    ++files;
    content_hash own;
    GRAPHMILL_TRYV(reader.read(piece, [&](std::span<const std::byte> block) {
      hash.update(block);
      if (!piece.digest.empty())
        own.update(block);
    }));
    if (piece.digest.empty())
      continue;
    if (const auto found = own.digest(); found != piece.digest)
      return damaged({piece.file, piece.digest, {}}, found);
    ++sound;
  }
  if (const auto found = hash.digest(); found != record.digest)
    return files != 0 && sound == files ? misdescribed(record, found)
                                        : damaged(record, found);
  if (how.memory != nullptr)
    how.memory->add(record);
  return ok();
}

} // namespace

result<void> verify(const digest_record& record, const verification& how) {
  gentle_reader reader{how};
  return verify(record, how, reader);
}

result<void> verify_all(std::span<const digest_record> records,
                        const verification& how) {
  gentle_reader reader{how};
  for (const auto& record : records)
    GRAPHMILL_TRYV(verify(record, how, reader));
  return ok();
}

result<void> still_unchanged(std::span<const digest_record> records,
                             replaced_files replaced) {
  for (const auto& record : records)
    for (const auto& piece : record.pieces) {
      if (piece.file.empty())
        continue;
      const auto now = stamp_file(piece.file);
      if (now && now.value().same_content(piece.stamp))
        continue;
      if (replaced == replaced_files::count
          || (now && now.value().same_file(piece.stamp)))
        return changed(piece.file);
    }
  return ok();
}

void give_way_to_others() {
  const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
  ::setpriority(PRIO_PROCESS, thread, 19);
#ifdef SYS_ioprio_set
  constexpr int of_process = 1;
  constexpr int idle_class = 3 << 13;
  ::syscall(SYS_ioprio_set, of_process, 0, idle_class);
#endif
}

} // namespace graphmill
