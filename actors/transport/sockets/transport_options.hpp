#pragma once

#include "actors/transport/sessions/client_limits.hpp"
#include "actors/transport/sessions/peer.hpp"
#include "actors/transport/sessions/responder.hpp"
#include "actors/transport/sessions/traffic.hpp"
#include "actors/transport/sockets/connections/key_table.hpp"
#include "actors/transport/sockets/connections/keys.hpp"
#include "messages/wire/frame.hpp"
#include "messages/work/work_gauge.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace graphmill {

/// Callbacks come on the transport's thread: they must be quick and should not
/// throw; what they throw is logged. They may use the transport, but not
/// destroy it.
struct transport_options {
  std::string name; ///< Unique in the cluster; of a client: its command.
  /// Of a coordinator, told in greetings: see `Hello` in wire.capnp.
  std::string cluster{};
  std::uint64_t generation = 0;
  /// As in tcp://127.0.0.1:0 (a port the system chooses), tcp://0.0.0.0:7800,
  /// tcp://[::1]:7800. Empty for clients, who serve nobody.
  std::string listen;
  /// The host that others are told to connect to, or host:port where a port is
  /// forwarded to the one that we listen at. If empty and `listen` is a
  /// wildcard: the address of `interface_name`, or else the address from which
  /// packets to `route_to` leave, or else that of the first interface in use.
  std::string advertise;
  std::string interface_name; ///< As in eth0.
  std::string route_to;       ///< Address of a peer, as in tcp://10.0.0.1:7800.
  std::optional<curve_keys> keys; ///< None: whoever can connect is let in.
  /// Whose keys let in at first, if keys have roles; none: as
  /// `key_table::of(keys)` says.
  std::optional<key_table> admitted{};
  bool insecure = false; ///< Listen beyond loopback without keys.
  /// Where, with keys, daemons of this user on this machine have the sockets by
  /// which data travel between them; only who names the same one uses them.
  /// Empty: where `local_folder` says.
  std::filesystem::path local_folder{};
  liveness_options liveness;
  std::uint64_t seed = 0; ///< Of the jitter; 0: drawn.
  /// The most bytes of requests that wait for one peer. Above it, they fail.
  std::uint64_t queue_bytes = std::uint64_t{256} << 20;
  /// The most bytes of replies that wait for all peers together, a quarter of
  /// it for one. Above it, whoever asked us is told to ask again.
  std::uint64_t reply_bytes = std::uint64_t{512} << 20;
  /// The most bytes of requests of others that are under way, of all peers
  /// together; a quarter of it for one. Above it they are told to ask again.
  std::uint64_t request_bytes = std::uint64_t{256} << 20;
  /// A peer that takes nothing of what waits for it for that long loses its
  /// connection, and what waits.
  std::chrono::milliseconds stall_limit = std::chrono::seconds{30};
  /// Descriptors that the process may have, shared out as `split_descriptors`
  /// says; 0: as many as the system allows.
  std::uint64_t descriptors = 0;
  /// Kept replies of methods that must not run twice.
  std::uint64_t reply_cache_bytes = std::uint64_t{64} << 20;
  /// So that no client starves the others. Daemons have them.
  std::optional<client_limits> fair{};
  std::function<void(incoming_request)> on_request;
  std::function<void(const peer_event&)> on_peer;
  std::function<void(const access_refusal&)> on_refusal{};
  std::function<void(const std::string&)> on_log; ///< Drops and refusals.
  /// Where the transport's thread says what it is at; null: nowhere. In a
  /// request of a peer it is at its method.
  std::shared_ptr<work_gauge> gauge{};
  /// The transport has come to an unexpected end: everything asked of it fails
  /// as cancelled, and nobody reaches this process any more.
  std::function<void(const error&)> on_failure;
};

} // namespace graphmill
