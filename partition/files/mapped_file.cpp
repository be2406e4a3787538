#include "partition/files/mapped_file.hpp"

#include "partition/files/file_io.hpp"
#include "partition/files/mapping_place.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// One mapping, as the handler sees it. `begin` is written last when a mapping
/// is entered and cleared first when it goes, so a handler that reads `begin`,
/// the rest, and the same `begin` again has seen one mapping.
struct mapping {
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<const char*> path = nullptr;
  std::atomic<bool> taken = false;
  std::atomic<bool> broken = false; ///< Was read past its file's end.
};

// A signal handler reaches nothing but statics. Everything below is lock-free.
std::array<mapping, mapped_file::most> mappings;
std::atomic<std::size_t> high_water = 0;

std::atomic<int> broken_mappings = 0;

/// Keeps a name from being freed while an error is made of it. The handler
/// takes no lock and needs none: whoever made the fault is reading from the
/// mapping, so the mapping stays.
std::mutex paths_guard;

struct sigaction previous_action;
std::once_flag installed;

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);
static_assert(std::atomic<int>::is_always_lock_free);

/// Puts zeros from the faulting page to the end of its mapping: if the file
/// has shrunk, none of that is there any more, and one mapping per page would
/// run into the kernel's limit.
bool fill_with_zeros(std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto used = high_water.load();
  for (std::size_t i = 0; i < used; ++i) {
    auto& entry = mappings[i];
    const auto begin = entry.begin.load();
    const auto end = entry.end.load();
    if (begin == 0 || address < begin || address >= end
        || entry.begin.load() != begin)
      continue;
    if (!entry.broken.exchange(true))
      ++broken_mappings;
    const auto from = address / page * page;
    return ::mmap(reinterpret_cast<void*>(from), end - from, PROT_READ,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
                  0)
           != MAP_FAILED;
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* about, void*) {
  const auto saved = errno;
  // Not ours: whoever was there before gets it when the access is repeated.
  if (!fill_with_zeros(reinterpret_cast<std::uintptr_t>(about->si_addr)))
    ::sigaction(signal, &previous_action, nullptr);
  errno = saved;
}

void install_handler() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &previous_action);
}

std::uintptr_t round_up_to_page(std::uintptr_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

/// @returns the slot, or -1 if the table is full.
int enter(const void* data, std::size_t size, const fs::path& path) {
  for (std::size_t i = 0; i < mapped_file::most; ++i) {
    auto& entry = mappings[i];
    bool expected = false;
    if (entry.taken.load()
        || !entry.taken.compare_exchange_strong(expected, true))
      continue;
    auto used = high_water.load();
    while (used <= i && !high_water.compare_exchange_weak(used, i + 1)) {
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    entry.path.store(::strdup(path.c_str()));
    entry.end.store(begin + round_up_to_page(size));
    entry.begin.store(begin);
    return static_cast<int>(i);
  }
  return -1;
}

void leave(int slot) {
  auto& entry = mappings[static_cast<std::size_t>(slot)];
  std::lock_guard lock{paths_guard};
  entry.begin.store(0);
  if (entry.broken.exchange(false))
    --broken_mappings;
  std::free(const_cast<char*>(entry.path.exchange(nullptr)));
  entry.taken.store(false);
}

} // namespace

std::optional<mapping_place> place_of(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto used = high_water.load();
  for (std::size_t i = 0; i < used; ++i) {
    const auto& entry = mappings[i];
    const auto begin = entry.begin.load();
    if (begin != 0 && begin <= at && at < entry.end.load())
      return mapping_place{entry.path.load(), at - begin};
  }
  return std::nullopt;
}

result<mapped_file> mapped_file::open(const fs::path& path) {
  GRAPHMILL_TRY(const auto file, open_file(path, O_RDONLY));
  return of(file.get(), path);
}

result<mapped_file> mapped_file::of(int fd, const fs::path& path) {
  mapped_file mapped;
  GRAPHMILL_TRY(mapped.size_, file_size(fd, path));
  if (mapped.size_ == 0)
    return mapped;
  std::call_once(installed, install_handler);
  auto* data = ::mmap(nullptr, mapped.size_, PROT_READ, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED)
    return fail_errno(errno, "cannot map {}", path.string());
  mapped.data_ = static_cast<const std::byte*>(data);
  mapped.slot_ = enter(data, mapped.size_, path);
  if (mapped.slot_ < 0)
    return fail(ec::out_of_memory,
                "cannot map {}: {} files are mapped already; use fewer "
                "partitions or edge types in one process",
                path.string(), most);
  return mapped;
}

mapped_file::~mapped_file() {
  if (data_ == nullptr)
    return;
  // Out of the table first: its addresses may be given to another mapping as
  // soon as they are free.
  if (slot_ >= 0)
    leave(slot_);
  ::munmap(const_cast<std::byte*>(data_), size_);
}

mapped_file::mapped_file(mapped_file&& other) noexcept
  : data_(std::exchange(other.data_, nullptr)),
    size_(std::exchange(other.size_, 0)),
    slot_(std::exchange(other.slot_, -1)) {}

mapped_file& mapped_file::operator=(mapped_file&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(slot_, other.slot_);
  return *this;
}

void mapped_file::advise_sequential() const {
  if (data_ != nullptr)
    ::madvise(const_cast<std::byte*>(data_), size_, MADV_SEQUENTIAL);
}

std::optional<error> mapped_file::first_fault() {
  if (broken_mappings.load() == 0)
    return std::nullopt;
  std::lock_guard lock{paths_guard};
  const auto used = high_water.load();
  for (std::size_t i = 0; i < used; ++i)
    if (mappings[i].broken.load())
      return fail(ec::io,
                  "{} was shortened or became unreadable while it was in use; "
                  "leave the files of a dataset alone while something runs on "
                  "it, put it back as it was, and run again",
                  mappings[i].path.load());
  return std::nullopt;
}

} // namespace graphmill
