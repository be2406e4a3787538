#pragma once

#include "messages/base/error.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>

namespace graphmill {

/// A descriptor of a file of keys, closed at the end of its scope.
class file_handle {
public:
  explicit file_handle(int number) : number_(number) {}
  ~file_handle() {
    if (number_ >= 0)
      ::close(number_);
  }
  file_handle(const file_handle&) = delete;
  file_handle& operator=(const file_handle&) = delete;
  int number() const { return number_; }

private:
  int number_;
};

/// Writes a text, and has it reach the disk.
/// @param name What errors call the file.
inline result<void> write_all(const file_handle& to, std::string_view text,
                              const std::string& name) {
  while (!text.empty()) {
    const auto done = ::write(to.number(), text.data(), text.size());
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return fail_errno(errno, "cannot write {}", name);
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  if (::fsync(to.number()) != 0)
    return fail_errno(errno, "cannot write {}", name);
  return ok();
}

} // namespace graphmill
