#pragma once

#include "actors/base/request_watch.hpp"
#include "actors/cluster/base/interfaces.hpp"
#include "actors/cluster/daemon/shares/share_host.hpp"

#include <string>

namespace graphmill {

/// Serves the coordinator's requests about the shares of runs that a daemon
/// hosts. Used in the AGENT's handlers alone.
class share_orders {
public:
  /// @param host, with Outlive this.
  share_orders(agent_actor::pointer self, share_host& host,
               const share_host::parts& with);

  /// Has a share prepared, unless the daemon cannot host it.
  void deploy(const incoming_request& request);

  /// Carries out an order and replies; an order to end is answered with the
  /// report, once the share is over.
  /// @returns whether the order ends a share of a run that is no success.
  bool carry_out(const incoming_request& request);

  /// Replies with a piece of the weights of a run's last snapshot, or of what
  /// is kept of it; or with what its actors did.
  result<payload> read(const incoming_request& request) const;

private:
  const std::string& name() const;
  result<void> check(const deployment& assignment) const;
  void pass_on(const share_ptr& run, const member_request& order,
               const responder& reply);
  void ask_trainers(const share_ptr& run, const member_request& order,
                    const responder& reply);
  void keep(const share_ptr& run, const responder& reply);
  void tell_kept(const std::string& id, const responder& reply);
  result<payload> weights(const payload& data) const;

  agent_actor::pointer self_;
  share_host& host_;
  share_host::parts with_;
  request_watch requests_;
};

} // namespace graphmill
