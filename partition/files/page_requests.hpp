#pragma once

#include "messages/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace graphmill {

/// Tells the kernel which pages of mapped files will be wanted next, so that
/// all of them are read side by side. Faults would bring them one by one, each
/// after the one before.
class page_requests {
public:
  /// Bytes asked for at a time: more might push out of memory what has come
  /// and has not been used. What is beyond comes by faults.
  static constexpr std::size_t most_bytes = std::size_t{32} << 20;

  void add(const void* from, std::size_t bytes);

  /// `each` elements from `ids[i] - begin` on, of those that an array has.
  template <class T>
  void add(std::span<const T> values, node_id begin,
           std::span<const node_id> ids, std::size_t each = 1) {
    for (auto id : ids)
      if (const auto at = static_cast<std::size_t>(id - begin);
          at < values.size() && each <= values.size() - at)
        add(&values[at], each * sizeof(T));
  }

  /// Asks for what has been added, in the order of addresses. Does not wait.
  void send();

private:
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges_;
};

} // namespace graphmill
