#include "tests/fuzz/harness.hpp"
#include "tests/support/sanitizers.hpp"

#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#ifdef GRAPHMILL_ADDRESS_SANITIZER
// Of the sanitizers of gcc and clang alike; gcc has no header for them.
extern "C" {
std::size_t __sanitizer_get_allocated_size(const volatile void* block);
int __sanitizer_install_malloc_and_free_hooks(
  void (*on_malloc)(const volatile void* block, std::size_t bytes),
  void (*on_free)(const volatile void* block));
}
#endif

namespace graphmill::fuzz {

namespace {

#ifdef GRAPHMILL_ADDRESS_SANITIZER

// Bytes that are allocated now, and the most that ever were since the last
// input began. Hooks may be called on any thread, and must not allocate.
std::atomic<std::int64_t> allocated{0};
std::atomic<std::int64_t> peak{0};

void on_malloc(const volatile void*, std::size_t size) {
  const auto now = allocated += static_cast<std::int64_t>(size);
  auto before = peak.load(std::memory_order_relaxed);
  while (before < now && !peak.compare_exchange_weak(before, now)) {
  }
}

void on_free(const volatile void* block) {
  if (block != nullptr)
    allocated -=
      static_cast<std::int64_t>(__sanitizer_get_allocated_size(block));
}

/// Counts what is allocated from its construction on.
class memory_count {
public:
  memory_count() {
    static const int installed =
      __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
    require(installed != 0, "the sanitizer takes no hooks of the allocator");
    before_ = allocated;
    peak = before_;
  }
  std::int64_t most() const { return peak - before_; }

private:
  std::int64_t before_ = 0;
};

#else

class memory_count {
public:
  std::int64_t most() const { return 0; }
};

#endif

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec)
         + static_cast<double>(now.tv_nsec) * 1e-9;
}

} // namespace

void broken(std::string_view sentence) {
  std::fprintf(stderr, "==fuzz== broken: %.*s\n",
               static_cast<int>(sentence.size()), sentence.data());
  std::abort();
}

void run_within_limits(const harness& which, std::string_view input) {
  const auto begin = processor_seconds();
  const memory_count memory;
  which.run(input);
  const auto bytes = memory.most();
  const auto seconds = processor_seconds() - begin;
  if (bytes > static_cast<std::int64_t>(most_bytes + input.size()))
    broken(std::string{which.name} + " allocated " + std::to_string(bytes)
           + " bytes at a time for an input of "
           + std::to_string(input.size()));
  if (seconds > most_seconds)
    broken(std::string{which.name} + " took " + std::to_string(seconds)
           + " s of processor time for an input of "
           + std::to_string(input.size()) + " bytes");
}

} // namespace graphmill::fuzz
