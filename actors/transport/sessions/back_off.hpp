#pragma once

#include "messages/base/random.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace graphmill {

/// Waiting times that double from `first` to `last`, each drawn from [1/2, 1]
/// of its bound, so that those who lost the same peer do not return at once.
class back_off {
public:
  using milliseconds = std::chrono::milliseconds;

  back_off(milliseconds first, milliseconds last, std::uint64_t seed)
    : first_(std::max(first, milliseconds{1})), last_(std::max(last, first_)),
      bound_(first_), draws_(mix64(seed), 0) {}

  /// The next waiting time.
  milliseconds next() {
    const auto half = bound_.count() / 2;
    const auto spread = static_cast<std::uint32_t>(bound_.count() - half + 1);
    bound_ = std::min(2 * bound_, last_);
    return milliseconds{half + draws_.below(spread)};
  }

  /// Starts over: the peer is there.
  void reset() { bound_ = first_; }

  /// Goes to the longest times: trying soon again is of no use.
  void slow() { bound_ = last_; }

private:
  milliseconds first_;
  milliseconds last_;
  milliseconds bound_;
  random_stream draws_;
};

} // namespace graphmill
