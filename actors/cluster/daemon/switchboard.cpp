#include "actors/cluster/daemon/switchboard.hpp"

#include "actors/remote/link.hpp"

#include <utility>

namespace graphmill {

void switchboard::connect(node_actor node, coordinator_actor coordinator,
                          data_server_actor data) {
  std::lock_guard lock{mutex_};
  node_ = std::move(node);
  coordinator_ = std::move(coordinator);
  data_ = std::move(data);
}

void switchboard::serve(const incoming_request& request) {
  std::lock_guard lock{mutex_};
  if (!node_)
    request.reply.reply(
      fail(ec::unavailable, "the daemon is starting or ending"));
  else if (!serve_data(data_, request))
    serve_control(request);
}

void switchboard::tell(const peer_event& event) {
  std::lock_guard lock{mutex_};
  if (!node_)
    return;
  post(node_, peer_news{event});
  if (coordinator_)
    post(coordinator_, peer_news{event});
}

void switchboard::serve_control(const incoming_request& request) {
  const auto of_node = traits_of(request.method).server == method_server::node;
  if (coordinator_ && !of_node)
    post(coordinator_, incoming{request});
  else
    post(node_, incoming{request});
}

} // namespace graphmill
