#include "actors/cluster/coordinator/members/member_keys.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/audit/audit_log.hpp"
#include "actors/cluster/audit/member_changes.hpp"
#include "actors/cluster/audit/noted_members.hpp"
#include "actors/cluster/base/call_limits.hpp"
#include "actors/cluster/history/state_lock.hpp"
#include "actors/transport/sockets/connections/key_table.hpp"
#include "actors/transport/sockets/connections/members.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

bool is_among(const std::vector<key_holder>& these, const key_holder& one) {
  return std::find(these.begin(), these.end(), one) != these.end();
}

/// Members of `these` that are not among `those`.
std::vector<key_holder> without(const std::vector<key_holder>& these,
                                const std::vector<key_holder>& those) {
  auto out = these;
  std::erase_if(out, [&](const auto& one) { return is_among(those, one); });
  return out;
}

} // namespace

member_keys::member_keys(cluster_port& port, cluster_notices& notices,
                         const daemon_registry& registry,
                         const unreached_joins& joins,
                         const coordinator_config& config)
  : port_(port), notices_(notices), registry_(registry), joins_(joins),
    watch_(config.watch), audit_(config.audit), lock_(config.lock),
    members_(config.members) {
  if (watch_ && audit_)
    noted_ = std::make_shared<noted_members>(config.runs);
}

void member_keys::look(clock::time_point now) {
  if (!watch_ || now < look_at_ || is_looking_)
    return;
  for (const auto& name : std::exchange(missed_, {}))
    send_to(name);
  look_at_ = now + timeouts::members_look;
  is_looking_ = true;
  port_.work<std::optional<members>>(
    cluster_port::lane::members,
    [watch = watch_]() -> result<std::optional<members>> {
      auto read = watch->look();
      if (!read)
        return std::optional<members>{};
      GRAPHMILL_TRY(auto said, std::move(*read));
      return std::optional{std::move(said)};
    },
    [this](auto read) { take(std::move(read)); });
}

/// @param read Nothing: the file is as it was.
void member_keys::take(result<std::optional<members>> read) {
  is_looking_ = false;
  if (read && !read.value())
    return;
  const auto& file = watch_->file();
  if (read && coordinator_of(*read.value()) != coordinator_of(members_))
    read =
      fail(ec::invalid_data, "{} names another coordinator", file.string());
  if (!read) {
    notices_.log().error("the members of the cluster stay as they were: {}",
                         read.error().message);
    if (audit_)
      audit_->add(audit_of_refused_members(read.error(), file));
    return;
  }
  auto said = *std::move(read).value();
  const auto gone = without(members_, said);
  const auto come = without(said, members_);
  if (gone.empty() && come.empty())
    return;
  for (const auto& member : gone)
    notices_.log().warn("revoked: the key {} of {}", member.key,
                        label_of(member));
  for (const auto& member : come)
    notices_.log().info("added: the key {} of {}", member.key,
                        label_of(member));
  members_ = std::move(said);
  note();
  admit();
  for (const auto& daemon : registry_.statuses())
    send_to(daemon.name);
}

void member_keys::note() {
  if (!noted_)
    return;
  const auto complain = [notices = &notices_](const error& reason) {
    notices->log().error("what has changed among the members may be missing in "
                         "the audit log: {}",
                         reason.message);
  };
  port_.post(
    cluster_port::lane::members,
    [noted = noted_, audit = audit_, lock = lock_, members = members_,
     by = watch_->file(), complain] {
      if (!lock->check())
        return;
      if (auto entries = noted->change_to(members, by))
        audit->add(std::move(entries.value()));
      else
        complain(entries.error());
      if (const auto kept = noted->keep(); !kept)
        complain(kept.error());
    },
    complain);
}

void member_keys::admit() {
  if (!watch_)
    return;
  key_table table;
  table.add(members_);
  for (const auto& daemon : registry_.statuses())
    if (auto key = key_of(daemon.name); !key.empty())
      table.servers.insert_or_assign(daemon.address, std::move(key));
  for (const auto& identity : joins_.waiting())
    if (has(identity))
      table.servers.insert_or_assign(identity.address, identity.holder.key);
  port_.admit(std::move(table));
}

bool member_keys::has(const peer_identity& identity) const {
  return !watch_ || is_among(members_, identity.holder);
}

std::string member_keys::key_of(const std::string& daemon) const {
  auto key = registry_.key_of(daemon);
  const auto is_there = std::ranges::any_of(
    members_, [&key](const auto& member) { return member.key == key; });
  return is_there ? key : std::string{};
}

std::vector<key_holder> member_keys::daemon_keys() const {
  auto out = members_;
  std::erase_if(
    out, [](const auto& member) { return member.role != key_role::daemon; });
  return out;
}

void member_keys::send_to(const std::string& name) {
  const auto daemon = registry_.find(name);
  if (!watch_ || !daemon || name == port_.self().name
      || daemon.value().status.state == daemon_state::lost)
    return; // It is sent them when it is back.
  port_.call(daemon.value().status.address, method::members,
             encode(members_update{daemon_keys()}),
             within(timeouts::question, timeouts::question),
             [this, name](const result<payload>& answer) {
               if (answer)
                 return;
               notices_.log().warn("daemon {} has not heard of the keys of the "
                                   "others: {}",
                                   name, answer.error().message);
               missed_.insert(name);
             });
}

} // namespace graphmill
