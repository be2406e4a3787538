#pragma once

#include "messages/base/error.hpp"
#include "messages/base/moments.hpp"
#include "messages/wire/frame.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

// The plain form of what cluster.capnp says of `chaos`; encoding and decoding
// as in cluster.hpp.

/// What can be done to a daemon on purpose; cluster.capnp describes each.
enum class chaos_kind : std::uint8_t { kill, stop, delay, cut, corrupt, disk };
inline constexpr std::size_t chaos_kind_count =
  static_cast<std::size_t>(chaos_kind::disk) + 1;
std::string_view to_string(chaos_kind kind);
std::optional<chaos_kind> chaos_kind_named(std::string_view name);

/// Has a daemon harm itself (`chaos`).
struct chaos_request {
  std::string daemon;
  chaos_kind kind = chaos_kind::kill;
  moment at = moment::at_once;
  std::chrono::milliseconds wait{0};  ///< For the moment.
  std::chrono::milliseconds lasts{0}; ///< Of stop, delay and disk.
  std::chrono::milliseconds each{0};  ///< Of delay: for one message.
  std::uint32_t messages = 0;         ///< Of corrupt.
  std::string peer{}; ///< Of delay and cut; empty: all connections.

  static constexpr std::chrono::milliseconds longest_wait{600'000};
  static constexpr std::chrono::milliseconds longest{120'000};
  static constexpr std::chrono::milliseconds longest_each{2'000};
  static constexpr std::uint32_t most_messages = 1000;

  friend bool operator==(const chaos_request&, const chaos_request&) = default;

  /// Fails unless each kind has the numbers that it needs, within the limits.
  result<void> check() const;

  static void fields(auto& of, auto visit) {
    visit("daemon", of.daemon);
    visit("kind", of.kind);
    visit("at", of.at);
    visit("wait", of.wait);
    visit("lasts", of.lasts);
    visit("each", of.each);
    visit("messages", of.messages);
    visit("peer", of.peer);
  }
};
payload encode(const chaos_request& request);
result<chaos_request> decode_chaos_request(const payload& from);

/// In words, as in `kill b at its next checkpoint`.
std::string sentence_of(const chaos_request& request);

} // namespace graphmill
