#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/frame.hpp"
#include "messages/wire/method.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace graphmill {

/// The protocol that this version speaks, and the oldest it understands.
inline constexpr std::uint16_t protocol_version = 5;
inline constexpr std::uint16_t oldest_protocol_version = 5;

/// What a message is. The values are those of wire.capnp, as are those of the
/// enumerations below.
enum class message_kind : std::uint16_t {
  unset,
  request,
  reply,
  beat,
  stranger,
  farewell
};

/// The first frame of every message; see wire.capnp.
struct envelope {
  std::uint16_t version = protocol_version;
  message_kind kind = message_kind::unset;
  std::uint64_t id = 0;
  graphmill::method method = graphmill::method::unset;
  std::uint16_t attempt = 0;
  std::chrono::milliseconds time_left{0};
  bool failed = false;
  error failure; ///< If `failed`.
  /// Of a failed reply: to be asked again after that long, by the transport.
  std::chrono::milliseconds retry_after{0};
};

/// What the two ends of a connection tell each other first.
struct hello_message {
  std::string name;
  std::string incarnation;
  std::string address; ///< Empty for clients.
  std::string software;
  std::uint16_t oldest_version = oldest_protocol_version;
  graphmill::channel channel = graphmill::channel::control;
  std::chrono::milliseconds beat_every{0}; ///< Said, but nobody acts on it.
  std::chrono::milliseconds lost_after{0};
  std::string local_token{}; ///< Leave to come by the local socket, or none.
  std::string cluster{};     ///< Of a coordinator, as is the next.
  std::uint64_t generation = 0;
};

/// The longest name, address, version or token in a handshake, in bytes.
inline constexpr std::size_t max_hello_text = 256;

/// The longest sentence of a failure that is sent, in bytes.
inline constexpr std::size_t max_failure_text = 8192;

frame encode_envelope(const envelope& from);

/// Decodes what came from outside. Checks everything but the version, so that
/// whoever sent another one can be answered. Of a newer version only `version`,
/// `kind`, `id` and `method` are filled in, and the kind may be unknown. The
/// method may be unknown in any version.
result<envelope> decode_envelope(const frame& from);

/// Fails with version_mismatch and a sentence if a message of `peer` is of a
/// version that we do not understand.
result<void> check_version(const envelope& from, std::string_view peer);

frame encode_hello(const hello_message& from);
result<hello_message> decode_hello(const frame& from);

} // namespace graphmill
