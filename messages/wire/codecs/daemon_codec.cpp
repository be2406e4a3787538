#include "messages/wire/cluster.capnp.h"
#include "messages/wire/cluster.hpp"
#include "messages/wire/codecs/codec_support.hpp"

#include <iterator>

namespace graphmill {

using namespace wire;

// The values are the schema's.
template <>
inline constexpr int wire_offset<daemon_state> = 0;
static_assert(static_cast<int>(schema::DaemonState::DAMAGED)
              == static_cast<int>(daemon_state::damaged));

std::string_view to_string(daemon_state state) {
  switch (state) {
  case daemon_state::ready:
    return "ready";
  case daemon_state::draining:
    return "draining";
  case daemon_state::lost:
    return "lost";
  case daemon_state::damaged:
    return "damaged";
  }
  return "unknown";
}

result<void> join_request::check() const {
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] < 0 || parts[i] >= std::ssize(part_digests)
        || (i > 0 && parts[i] <= parts[i - 1]))
      return fail(ec::invalid_data,
                  "a daemon says that it serves part {} of {}", parts[i],
                  part_digests.size());
  return ok();
}

payload encode(const join_request& request) {
  return body_of<schema::JoinRequest>(request);
}

result<join_request> decode_join_request(const payload& from) {
  return read_body<schema::JoinRequest, join_request>(
    from, "a daemon's registration");
}

payload encode(const join_reply& reply) {
  return body_of<schema::JoinReply>(reply);
}

payload encode(const status_reply& reply) {
  return body_of<schema::StatusReply>(reply);
}

result<status_reply> decode_status_reply(const payload& from) {
  return read_body<schema::StatusReply, status_reply>(
    from, "the state of the cluster");
}

payload encode(const daemon_request& request) {
  return body_of<schema::DaemonRequest>(request);
}

result<daemon_request> decode_daemon_request(const payload& from) {
  return read_body<schema::DaemonRequest, daemon_request>(
    from, "a request about a daemon");
}

} // namespace graphmill
