#include "actors/remote/transport_calls.hpp"

#include "messages/base/caught.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace graphmill {

remote_call call_over(const std::shared_ptr<transport>& by, std::string address,
                      call_options options) {
  // Weak: replies keep their proxy alive, and would keep the transport alive on
  // its own thread.
  return [by = std::weak_ptr{by}, address = std::move(address),
          options](method method_id, payload data,
                   std::function<void(result<payload>)> on_reply) {
    if (const auto there = by.lock())
      there->request(address, method_id, std::move(data), options,
                     std::move(on_reply));
    else
      on_reply(fail(ec::cancelled, "the connections to other daemons are "
                                   "closed"));
  };
}

namespace {

/// @param Reply Takes the answer, and perhaps who it is from.
template <class Reply>
std::function<void(method, payload, Reply)>
counted(std::function<void(method, payload, Reply)> by,
        std::shared_ptr<actor_gauge> gauge) {
  gauge->enter(actor_state::starved);
  return [by = std::move(by), gauge = std::move(gauge)](
           method method_id, payload data, Reply on_reply) {
    gauge->asked(data.byte_size());
    by(method_id, std::move(data),
       [gauge, since = actor_gauge::clock::now(),
        on_reply = std::move(on_reply)](result<payload> answer,
                                        const auto&... from) {
         gauge->answered(actor_gauge::clock::now() - since,
                         answer ? answer.value().byte_size() : 0);
         on_reply(std::move(answer), from...);
       });
  };
}

} // namespace

remote_call gauged(remote_call by, std::shared_ptr<actor_gauge> gauge) {
  return counted(std::move(by), std::move(gauge));
}

part_call gauged(part_call by, std::shared_ptr<actor_gauge> gauge) {
  return counted(std::move(by), std::move(gauge));
}

bool serve_data(const data_server_actor& server,
                const incoming_request& request) {
  if (traits_of(request.method).server != method_server::data)
    return false;
  // What the server leaves behind when it ends may be asked of another owner.
  const std::shared_ptr<const void> left_behind{
    nullptr, [reply = request.reply](std::nullptr_t) {
      quietly([&reply] {
        reply.reply(fail(ec::unavailable, "it ended before it answered"));
      });
    }};
  post(server, data_request{
                 request.method, request.data, request.deadline,
                 request.from.incarnation,
                 [reply = request.reply, left_behind](result<payload> answer) {
                   reply.reply(std::move(answer));
                 }});
  return true;
}

} // namespace graphmill
