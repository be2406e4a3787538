#pragma once

#include "actors/transport/sockets/held_messages.hpp"
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
  /// cannot be bound, or lies beyond loopback without keys or `insecure`.
  static result<std::unique_ptr<transport>> start(transport_options options);

  /// Sends what is queued for at most a second, fails what is outstanding as
  /// cancelled, and joins. No callback comes after that.
  ~transport();
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  /// Who we are, with the port that the system chose.
  const peer_identity& self() const { return self_; }

  /// Asks the peer at `address`; connects if necessary. From any thread.
  /// `on_reply` is called exactly once, on the transport's thread.
  void request(std::string address, method method_id, payload data,
               call_options options,
               std::function<void(result<payload>)> on_reply);

  /// `request` for those who may outlive the transport: then all they ask fails
  /// as cancelled.
  using request_function =
    std::function<void(std::string address, method, payload, call_options,
                       std::function<void(result<payload>)> on_reply)>;
  request_function requests() const;

  /// Stays connected to a peer and watches it: `on_peer` tells when it is lost
  /// or back. From any thread.
  void keep(std::string address);
  void forget(std::string address);

  /// From now on, the keys of this table let in and no others: whoever has
  /// another one loses its connections, and fails with permission. The same for
  /// those whom we ask, by their addresses. Only where keys have roles. From
  /// any thread.
  void admit(key_table table);

  /// Does something wrong on purpose. From any thread.
  void disturb(link_fault fault);

  /// What was sent and received so far. From any thread.
  traffic statistics() const;

  /// How the connections to peers are. From any thread.
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
