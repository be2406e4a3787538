#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace graphmill {

/// What is under way, each under a ticket: a number that the question carries
/// and the answer brings back. Numbers begin with 1 and are never given twice,
/// so an answer that comes late or again finds nothing. Not thread-safe.
template <class T>
class ticket_table {
public:
  /// @returns the ticket of `value`.
  std::uint64_t add(T value) {
    open_.emplace(++last_, std::move(value));
    return last_;
  }

  /// Null if the ticket was never given, or has been taken back.
  T* find(std::uint64_t ticket) {
    const auto it = open_.find(ticket);
    return it == open_.end() ? nullptr : &it->second;
  }

  /// Removes it from the table; nothing where `find` gives null.
  std::optional<T> take(std::uint64_t ticket) {
    auto taken = open_.extract(ticket);
    if (taken.empty())
      return std::nullopt;
    return std::move(taken.mapped());
  }

  /// Empties the table. The oldest comes first.
  std::vector<T> take_all() {
    std::vector<T> taken;
    for (auto& [ticket, value] : std::exchange(open_, {}))
      taken.push_back(std::move(value));
    return taken;
  }

  std::size_t size() const { return open_.size(); }

  /// Pairs of ticket and value, the oldest first.
  auto begin() { return open_.begin(); }
  auto end() { return open_.end(); }

private:
  std::map<std::uint64_t, T> open_;
  std::uint64_t last_ = 0;
};

} // namespace graphmill
