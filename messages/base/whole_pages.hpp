#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace graphmill {

/// Allocates pages for a container that is large and is made again and again,
/// by whatever thread: they go back to the system with it. glibc's malloc does
/// so the first time; from then on it takes that size from the heap of the
/// thread that asks, and keeps what is free at the end of such a heap, up to
/// twice that size, even when malloc_trim wants it (`munmap_chunk`, `heap_trim`
/// and `mtrim` in glibc 2.36).
template <class T>
struct whole_pages {
  using value_type = T;

  whole_pages() = default;
  template <class Other>
  whole_pages(const whole_pages<Other>&) {}

  T* allocate(std::size_t count) {
    auto* const pages =
      ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
      throw std::bad_alloc{};
    return static_cast<T*>(pages);
  }

  void deallocate(T* pages, std::size_t count) {
    ::munmap(pages, count * sizeof(T));
  }

  friend bool operator==(const whole_pages&, const whole_pages&) {
    return true;
  }
};

} // namespace graphmill
