#pragma once

#include "actors/cluster/base/interfaces.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace graphmill {

/// How long daemons may take to open what they need for a run.
inline constexpr std::chrono::milliseconds deployment_patience =
  std::chrono::minutes{5};

/// Calls of an actor to other daemons: answers come back as `call_ended`
/// messages, so that `then` runs in the actor. One per state object.
template <class Interface>
class remote_calls {
public:
  using callback = std::function<void(result<payload>)>;

  remote_calls(typename Interface::pointer self, std::shared_ptr<transport> net)
    : self_(self), net_(std::move(net)) {}

  void call(const std::string& address, method what, payload data,
            const call_options& options, callback then) {
    const auto ticket = ++last_ticket_;
    open_.emplace(ticket, std::move(then));
    net_->request(
      address, what, std::move(data), options,
      [me = handle_of<Interface>(self_), ticket](result<payload> answer) {
        post(me, call_ended{ticket, std::make_shared<result<payload>>(
                                      std::move(answer))});
      });
  }

  void ended(const call_ended& what) {
    auto it = open_.find(what.ticket);
    if (it == open_.end())
      return;
    auto then = std::move(it->second);
    open_.erase(it);
    then(std::move(*what.answer));
  }

  transport& net() const { return *net_; }

private:
  typename Interface::pointer self_;
  std::shared_ptr<transport> net_;
  std::map<std::uint64_t, callback> open_;
  std::uint64_t last_ticket_ = 0;
};

} // namespace graphmill
