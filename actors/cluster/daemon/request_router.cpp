#include "actors/cluster/daemon/request_router.hpp"

#include "actors/remote/transport_calls.hpp"

#include <utility>

namespace graphmill {

void request_router::connect(agent_actor agent, coordinator_actor coordinator,
                             data_server_actor data) {
  std::lock_guard lock{mutex_};
  agent_ = std::move(agent);
  coordinator_ = std::move(coordinator);
  data_ = std::move(data);
}

void request_router::serve(const incoming_request& request) {
  if (inboxes_->serve(request))
    return;
  if (request.method == method::log_lines) {
    // Here, so that an agent that is stuck can be looked into.
    request.reply.reply(log_lines(request));
    return;
  }
  std::lock_guard lock{mutex_};
  if (!agent_)
    request.reply.reply(
      fail(ec::unavailable, "the daemon is starting or ending"));
  else if (!serve_data(data_, counted(request)))
    serve_control(request);
}

void request_router::tell(const peer_event& event) {
  std::lock_guard lock{mutex_};
  if (!agent_)
    return;
  post(agent_, peer_news{event});
  if (coordinator_)
    post(coordinator_, peer_news{event});
}

result<payload>
request_router::log_lines(const incoming_request& request) const {
  const auto role = request.from.holder.role;
  if (!lines_ || request.from.address.empty()
      || (role != key_role::all && role != key_role::coordinator))
    return fail(ec::permission, "only the coordinator may read this daemon's "
                                "log lines: ask it, as `graphmill logs` does");
  GRAPHMILL_TRY(const auto asked, decode_log_request(request.data));
  return encode(lines_->since(asked));
}

/// Has a request for data counted, with its answer, if a daemon of the run has
/// sent it.
incoming_request
request_router::counted(const incoming_request& request) const {
  auto out = request;
  const auto is_for_data =
    traits_of(request.method).server == method_server::data;
  const auto flow =
    is_for_data && flows_ ? flows_->to(request.from.name) : nullptr;
  if (!flow)
    return out;
  flow->data_received += request.data.byte_size();
  out.reply = responder{[flow, reply = request.reply](result<payload> answer) {
    ++flow->served;
    if (answer)
      flow->data_sent += answer.value().byte_size();
    reply.reply(std::move(answer));
  }};
  return out;
}

void request_router::serve_control(const incoming_request& request) {
  const auto of_agent =
    traits_of(request.method).server == method_server::agent;
  if (coordinator_ && !of_agent)
    post(coordinator_, incoming{request});
  else
    post(agent_, incoming{request});
}

} // namespace graphmill
