#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace graphmill {

/// A running fingerprint of bytes: XXH3 with 128 bits (Collet). The division of
/// the bytes into pieces does not matter. It finds damage, not forgery.
class content_hash {
public:
  content_hash();

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);

  /// Of all bytes so far, as 32 hexadecimal digits.
  std::string digest() const;
  /// The last 16 of them as a number, for many that stay in memory.
  std::uint64_t short_digest() const;

private:
  struct free_state {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, free_state> state_;
};

/// The size of a file, and the XXH3 of its bytes.
struct file_digest {
  std::uint64_t bytes = 0;
  std::string digest;

  friend bool operator==(const file_digest&, const file_digest&) = default;
};

} // namespace graphmill
