// What a disk gives: reads random rows of a file, one by one, many under way at
// a time, past the page cache. A small program of its own to compare with.
//
//     random_reads FILE ROW_BYTES ROWS SECONDS [DEPTH]
//
// Prints one line of JSON. Exits with 77 where io_uring is not allowed.

#include <liburing.h>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

constexpr std::uint64_t sector = 512;
constexpr int not_allowed = 77;

int give_up(const char* name) {
  std::fprintf(stderr, "random_reads: %s\n", name);
  return EXIT_FAILURE;
}

/// Begins the read of a random row, from its first sector to its last.
void begin(io_uring& ring, int file, char* memory, unsigned slot,
           std::uint64_t offset, std::uint64_t row_bytes,
           std::uint64_t slot_bytes) {
  const auto from = offset / sector * sector;
  const auto to = (offset + row_bytes + sector - 1) / sector * sector;
  auto* entry = io_uring_get_sqe(&ring);
  io_uring_prep_read(entry, file, memory + slot * slot_bytes,
                     static_cast<unsigned>(to - from), from);
  entry->user_data = slot;
}

} // namespace

int main(int count, char** arguments) {
  if (count < 5)
    return give_up("FILE ROW_BYTES ROWS SECONDS [DEPTH]");
  const auto row_bytes = std::strtoull(arguments[2], nullptr, 10);
  const auto rows = std::strtoull(arguments[3], nullptr, 10);
  const std::chrono::duration<double> limit{std::atof(arguments[4])};
  const auto depth =
    count > 5 ? static_cast<unsigned>(std::atoi(arguments[5])) : 64u;
  const auto file = open(arguments[1], O_RDONLY | O_DIRECT);
  if (file < 0)
    return give_up("the file cannot be read directly");
  io_uring ring;
  if (io_uring_queue_init(depth, &ring, 0) != 0)
    return not_allowed;
  const auto slot_bytes = (row_bytes / sector + 2) * sector;
  auto* memory = static_cast<char*>(
    std::aligned_alloc(4096, (depth * slot_bytes + 4095) / 4096 * 4096));
  std::mt19937_64 random{1};
  const auto more = [&](unsigned slot) {
    begin(ring, file, memory, slot, random() % rows * row_bytes, row_bytes,
          slot_bytes);
  };
  for (unsigned slot = 0; slot < depth; ++slot)
    more(slot);
  using clock = std::chrono::steady_clock;
  const auto began = clock::now();
  std::uint64_t done = 0;
  while (clock::now() - began < limit) {
    io_uring_submit_and_wait(&ring, 1);
    io_uring_cqe* come = nullptr;
    while (io_uring_peek_cqe(&ring, &come) == 0) {
      if (come->res <= 0)
        return give_up("a read failed");
      const auto slot = static_cast<unsigned>(come->user_data);
      io_uring_cqe_seen(&ring, come);
      ++done;
      more(slot);
    }
  }
  const std::chrono::duration<double> took = clock::now() - began;
  std::printf("{\"reads\": %llu, \"reads_per_second\": %.1f}\n",
              static_cast<unsigned long long>(done),
              static_cast<double>(done) / took.count());
}
