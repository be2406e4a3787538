#pragma once

#include "messages/base/error.hpp"

#include <cstddef>
#include <map>
#include <string>

namespace graphmill {

/// Values that the ranks of a run leave for each other at the coordinator. They
/// are addresses and notes of some hundred bytes, a handful per rank. A value
/// that does not fit is refused.
class rendezvous_table {
public:
  static constexpr std::size_t longest_key = 256;
  static constexpr std::size_t largest_value = std::size_t{64} << 10;
  /// The most bytes of all keys and values, with what keeping them costs.
  static constexpr std::size_t most_bytes = std::size_t{16} << 20;

  /// Sets or replaces a value.
  result<void> set(const std::string& key, std::string value);

  /// @returns null if there is none.
  const std::string* find(const std::string& key) const;

  std::size_t byte_size() const { return bytes_; }

private:
  std::map<std::string, std::string> values_;
  std::size_t bytes_ = 0;
};

} // namespace graphmill
