#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace graphmill {

/// Takes items of a sequence in any order and gives them back in order. Copies
/// of an item that it holds or has given already are dropped, so that retries
/// are harmless. It has no bound of its own: whoever admits items bounds it.
/// Owns what it holds. Not thread-safe.
template <class T>
class reorder_window {
public:
  /// @param first The first number of the sequence.
  explicit reorder_window(std::uint64_t first = 0) : next_(first) {}

  /// @returns false when the item was a duplicate, and dropped.
  bool put(std::uint64_t sequence, T item) {
    if (sequence < next_)
      return false;
    return items_.try_emplace(sequence, std::move(item)).second;
  }

  /// The next item of the sequence, if it has come.
  std::optional<T> take() {
    const auto found = items_.begin();
    if (found == items_.end() || found->first != next_)
      return std::nullopt;
    std::optional<T> item{std::move(found->second)};
    items_.erase(found);
    ++next_;
    return item;
  }

  /// The number that `take` waits for.
  std::uint64_t next() const { return next_; }

  /// Items held back, waiting for an earlier one.
  std::size_t size() const { return items_.size(); }

  /// Forgets everything and waits for `first`.
  void restart(std::uint64_t first) {
    items_.clear();
    next_ = first;
  }

private:
  std::uint64_t next_;
  std::map<std::uint64_t, T> items_;
};

} // namespace graphmill
