#pragma once

#include "actors/transport/sockets/message_faults.hpp"
#include "actors/transport/sockets/link_board.hpp"
#include "actors/transport/sockets/transport_options.hpp"
#include "messages/wire/method.hpp"

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace graphmill {

class engine;
class mailbox;

/// Requests and replies between the daemons and clients of a cluster, over one
/// port per daemon. One thread owns all sockets. Every request ends: with a
/// reply, an error of the peer, or an error of ours (timeout, unavailable,
/// cancelled, version_mismatch, permission).
class transport {
public:
  /// Binds, draws an incarnation and starts the thread. Fails if the address
  /// cannot be bound, or is beyond loopback without keys or `insecure`.
  static result<std::unique_ptr<transport>> start(transport_options options);

  /// Sends queued messages for at most a second, fails open requests as
  /// cancelled, and joins. No callback comes afterwards.
  ~transport();
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  /// Our identity, with the port that the system chose.
  const peer_identity& self() const { return self_; }

  /// Sends a request to the peer at `address`; connects if necessary. From any
  /// thread. `on_reply` is called exactly once, on the transport's thread.
  void request(std::string address, method method_id, payload data,
               call_options options,
               std::function<void(result<payload>)> on_reply);

  /// `request` for callers that may outlive the transport: their requests then
  /// fail as cancelled.
  using request_function =
    std::function<void(std::string address, method, payload, call_options,
                       std::function<void(result<payload>)> on_reply)>;
  request_function requests() const;

  /// Stays connected to a peer and watches it: `on_peer` reports when it is
  /// lost or back. From any thread.
  void keep(std::string address);
  void forget(std::string address);

  /// From now on, only the keys of this table are admitted. Peers with another
  /// key lose their connections, and their requests fail with permission. The
  /// same holds for the peers that we ask, by their addresses. Only with roles.
  /// From any thread.
  void admit(key_table table);

  /// Causes a fault on purpose. From any thread.
  void disturb(link_fault fault);

  /// Traffic so far. From any thread.
  traffic statistics() const;

  /// The state of the connections to peers. From any thread.
  std::vector<link_standing> links() const;

private:
  transport() = default;

  peer_identity self_;
  std::shared_ptr<mailbox> mailbox_;
  std::shared_ptr<traffic> counters_;
  std::shared_ptr<link_board> links_;
  std::unique_ptr<engine> engine_;
  std::thread thread_;
};

} // namespace graphmill
