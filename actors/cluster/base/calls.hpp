#pragma once

#include "actors/base/ticket_table.hpp"
#include "actors/cluster/base/call_limits.hpp"
#include "actors/cluster/base/coordinator_interface.hpp"
#include "actors/transport/transport.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace graphmill {

/// Calls of an actor to other daemons: answers come back as `call_ended`
/// messages, so that `then` runs in the actor. One per state object.
template <class Interface>
class remote_calls {
public:
  using callback = std::function<void(result<payload>)>;

  remote_calls(typename Interface::pointer self, std::shared_ptr<transport> net)
    : self_(self), net_(std::move(net)) {}

  void call(const std::string& address, method method_id, payload data,
            const call_options& options, callback then) {
    net_->request(address, method_id, std::move(data), options,
                  expect(std::move(then)));
  }

  /// What somebody calls, from any thread and once, who answers something else
  /// than a request to a daemon. Then `then` runs in the actor.
  callback expect(callback then) {
    return [me = handle_of<Interface>(self_),
            ticket = open_.add(std::move(then))](result<payload> answer) {
      post(me, call_ended{
                 ticket, std::make_shared<result<payload>>(std::move(answer))});
    };
  }

  void ended(const call_ended& call) {
    if (auto then = open_.take(call.ticket))
      (*then)(std::move(*call.answer));
  }

  transport& net() const { return *net_; }

private:
  typename Interface::pointer self_;
  std::shared_ptr<transport> net_;
  ticket_table<callback> open_;
};

} // namespace graphmill
