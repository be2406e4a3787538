#include "messages/wire/cluster.capnp.h"
#include "messages/wire/cluster.hpp"
#include "messages/wire/codecs/codec_support.hpp"
#include "messages/wire/health.hpp"

#include <cmath>
#include <iterator>

namespace graphmill {

using namespace wire;

// The values are the schema's.
template <>
inline constexpr int wire_offset<daemon_state> = 0;
static_assert(static_cast<int>(schema::DaemonState::DAMAGED)
              == static_cast<int>(daemon_state::damaged));

template <>
inline constexpr int wire_offset<key_role> = 0;
static_assert(static_cast<int>(schema::KeyRole::READER)
              == static_cast<int>(key_role::reader));

namespace {

result<void> check_members(const std::vector<key_holder>& members) {
  if (members.size() > most_members)
    return fail(ec::invalid_data, "{} members of a cluster, at most {}",
                members.size(), most_members);
  for (const auto& member : members)
    if (member.role != key_role::daemon || member.name.empty()
        || member.name.size() > longest_member_name || member.key.empty())
      return fail(ec::invalid_data,
                  "a list of the daemons of a cluster names somebody else, or "
                  "nobody");
  return ok();
}

} // namespace

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

result<void> daemon_load::check() const {
  for (const auto amount :
       {cores, disk_read_per_second, disk_written_per_second, sent_per_second,
        received_per_second})
    if (!(amount >= 0) || !std::isfinite(amount))
      return fail(ec::invalid_data,
                  "what a daemon takes in a second cannot be {}", amount);
  if (further.size() > most_further)
    return fail(ec::invalid_data, "a daemon reports {} further figures",
                further.size());
  for (const auto& [name, value] : further)
    if (name.size() > health_limits::text || !(value >= 0)
        || !std::isfinite(value))
      return fail(ec::invalid_data, "a further figure of a daemon cannot be {}",
                  value);
  return ok();
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

GRAPHMILL_LISTED_CODEC(join_request, JoinRequest, "a daemon's registration")

result<void> join_reply::check() const {
  return check_members(members);
}

GRAPHMILL_LISTED_CODEC(join_reply, JoinReply, "the answer to a daemon")

result<void> members_update::check() const {
  return check_members(members);
}

GRAPHMILL_LISTED_CODEC(members_update, MembersUpdate,
                       "the daemons of the cluster")

std::vector<std::string> status_reply::all_running() const {
  std::vector<std::string> out;
  if (!running.empty())
    out.push_back(running);
  out.insert(out.end(), also_running.begin(), also_running.end());
  return out;
}

GRAPHMILL_LISTED_CODEC(status_reply, StatusReply, "the state of the cluster")
GRAPHMILL_LISTED_CODEC(daemon_request, DaemonRequest,
                       "a request about a daemon")

} // namespace graphmill
