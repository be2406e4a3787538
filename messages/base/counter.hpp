#pragma once

#include <atomic>
#include <cstdint>

namespace graphmill {

/// A number that several threads may add to. A copy has the value of the moment
/// it was made, so a struct of counters is its own report; its members are read
/// one after the other.
class counter {
public:
  counter(std::uint64_t value = 0) : value_(value) {}
  counter(const counter& other) : counter(std::uint64_t{other}) {}
  counter& operator=(const counter& other) {
    value_.store(other, std::memory_order_relaxed);
    return *this;
  }

  operator std::uint64_t() const {
    return value_.load(std::memory_order_relaxed);
  }

  counter& operator+=(std::uint64_t more) {
    value_.fetch_add(more, std::memory_order_relaxed);
    return *this;
  }

  /// @returns the value before.
  std::uint64_t operator++(int) {
    return value_.fetch_add(1, std::memory_order_relaxed);
  }
  counter& operator++() { return *this += 1; }

private:
  std::atomic<std::uint64_t> value_;
};

} // namespace graphmill
