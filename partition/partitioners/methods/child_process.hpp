#pragma once

#include "messages/base/error.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace graphmill {

/// Zeroed memory that a child process shares with its parent. Move-only.
class shared_memory {
public:
  static result<shared_memory> make(std::size_t bytes);
  shared_memory(shared_memory&& other) noexcept;
  ~shared_memory();

  template <class T>
  std::span<T> as() const {
    return {static_cast<T*>(data_), size_ / sizeof(T)};
  }

private:
  shared_memory(void* data, std::size_t size) : data_(data), size_(size) {}

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

struct child_options {
  std::string_view name; ///< What the child is called in errors.
  /// Bytes that the child may allocate beyond what it inherits; 0 = no limit.
  std::uint64_t memory_bytes = 0;
  /// Called in the parent with the child's id and the seconds since it started:
  /// once before the child begins its work, then several times a second. When
  /// it returns false, the child is killed. May be empty.
  std::function<bool(pid_t, double)> on_wait;
};

struct child_report {
  int exit_code = 0;
  double seconds = 0;
  std::uint64_t peak_memory_bytes = 0; ///< Resident, shared pages included.
};

/// Runs `work` in a forked child process and waits for it. For libraries that
/// may crash, hang, exhaust memory or replace signal handlers. The child
/// inherits a copy of all memory, has default signal handlers and no output, is
/// the first that the system kills when memory runs out, dies with this thread,
/// and ends without running destructors of static objects.
/// @param work Runs in the child; its value is the exit code, 0 to 127.
/// Results go through `shared_memory`. Must not wait for other threads: they do
/// not exist in the child.
/// @returns An error when the child was killed (by a signal that it names, by
/// `on_wait`: code `cancelled`) or could not be started.
result<child_report> run_in_child(const std::function<int()>& work,
                                  const child_options& options);

} // namespace graphmill
