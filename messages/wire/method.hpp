#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace graphmill {

/// What a request asks for. The values are those of wire.capnp, where they are
/// described; those of obsolete methods are left out. To add one: append it
/// there, here, and to the table in method.cpp.
enum class method : std::uint16_t {
  unset,
  hello, ///< The transport's own.
  beat,  ///< The transport's own.
  join,
  leave,
  deploy,
  run_event = 7,
  order,
  sample,
  gather,
  rendezvous,
  submit,
  status,
  runs,
  cancel = 16,
  drain,
  stop,
  fetch_file,
  watch,
  plan,
  weights,
  sample_batch,
  spread,
};

/// One more than the greatest value of a method.
inline constexpr std::size_t method_count =
  static_cast<std::size_t>(method::spread) + 1;

/// Which connection of a peer a message takes. What waits on one lane does not
/// hold up the other.
enum class lane : std::uint8_t { control, data };

/// What the transport must know about a method.
struct method_traits {
  graphmill::method method;
  std::string_view name; ///< In snake_case, for logs and reports.
  graphmill::lane lane;
  bool idempotent; ///< May be run again by a retry; its reply is not kept.
};

/// Of a method that is known; of `unset` for any other value, those of obsolete
/// methods among them.
const method_traits& traits_of(method which);

/// The name of a method, or "unknown".
std::string_view to_string(method which);

/// Whether a value from the wire is a method that this version knows.
bool is_known(method which);

} // namespace graphmill
