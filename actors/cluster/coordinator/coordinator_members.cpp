#include "actors/base/timeouts.hpp"
#include "actors/cluster/audit/member_changes.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// Members of `these` that are not among `those`.
std::vector<key_holder> without(const std::vector<key_holder>& these,
                                const std::vector<key_holder>& those) {
  std::vector<key_holder> out;
  for (const auto& member : these)
    if (std::find(those.begin(), those.end(), member) == those.end())
      out.push_back(member);
  return out;
}

} // namespace

/// Reads the members file if it has changed. A disk may take its time.
void coordinator::look_at_members(clock::time_point now) {
  if (!config_.watch || now < look_at_members_ || looking_at_members_)
    return;
  for (const auto& name : std::exchange(untold_, {}))
    tell_members(name);
  look_at_members_ = now + timeouts::members_look;
  looking_at_members_ = true;
  const auto me = handle_of<interface>(self_);
  members_thread_->post(
    [me, watch = config_.watch] {
      auto read = watch->look();
      post(me, members_read{read ? std::make_shared<members_read::content>(
                              std::move(*read))
                                 : nullptr});
    },
    [me](const error& reason) {
      post(me, members_read{std::make_shared<members_read::content>(reason)});
    });
}

void coordinator::on_members(const members_read& read) {
  looking_at_members_ = false;
  if (!read.said)
    return;
  const auto& file = config_.watch->file();
  auto said = *read.said;
  if (said && coordinator_of(said.value()) != coordinator_of(config_.members))
    said =
      fail(ec::invalid_data, "{} names another coordinator", file.string());
  if (!said) {
    config_.log->error("the members of the cluster stay as they were: {}",
                       said.error().message);
    if (config_.audit)
      config_.audit->add(audit_of_refused_members(said.error(), file));
    return;
  }
  const auto gone = without(config_.members, said.value());
  const auto come = without(said.value(), config_.members);
  if (gone.empty() && come.empty())
    return;
  for (const auto& member : gone)
    config_.log->warn("revoked: the key {} of {}", member.key,
                      label_of(member));
  for (const auto& member : come)
    config_.log->info("added: the key {} of {}", member.key, label_of(member));
  config_.members = said.value();
  note_members();
  admit_members();
  for (const auto& daemon : registry_.statuses())
    tell_members(daemon.name);
}

/// Has the audit log tell what they are, if it has told something else before:
/// also where that was another coordinator's. One that has lost its folder
/// leaves it to the next.
void coordinator::note_members() {
  if (!noted_members_)
    return;
  const auto complain = [log = config_.log](const error& reason) {
    log->error("what has changed among the members may be missing in the audit "
               "log: {}",
               reason.message);
  };
  members_thread_->post(
    [noted = noted_members_, audit = config_.audit, lock = config_.lock,
     members = config_.members, by = config_.watch->file(), complain] {
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

/// Has the transport let in who has a key now, and expect that of each daemon
/// at its address.
void coordinator::admit_members() {
  if (!config_.watch)
    return;
  key_table table;
  table.add(config_.members);
  for (const auto& daemon : registry_.statuses())
    if (auto key = key_of(daemon.name); !key.empty())
      table.servers.insert_or_assign(daemon.address, std::move(key));
  for (const auto& identity : joins_.waiting())
    if (has_member_key(identity))
      table.servers.insert_or_assign(identity.address, identity.holder.key);
  calls_.net().admit(std::move(table));
}

/// False if its key was revoked after its request had come.
bool coordinator::has_member_key(const peer_identity& identity) const {
  return std::find(config_.members.begin(), config_.members.end(),
                   identity.holder)
         != config_.members.end();
}

/// With which a daemon has joined. Empty if it was revoked since.
std::string coordinator::key_of(const std::string& daemon) const {
  auto key = registry_.key_of(daemon);
  const auto is_there =
    std::any_of(config_.members.begin(), config_.members.end(),
                [&key](const auto& member) { return member.key == key; });
  return is_there ? key : std::string{};
}

std::vector<key_holder> coordinator::daemon_keys() const {
  std::vector<key_holder> out;
  for (const auto& member : config_.members)
    if (member.role == key_role::daemon)
      out.push_back(member);
  return out;
}

/// Daemons ask each other for data, so each must know the keys of all.
void coordinator::tell_members(const std::string& name) {
  const auto daemon = registry_.find(name);
  if (!config_.watch || !daemon || name == calls_.net().self().name
      || daemon.value().status.state == daemon_state::lost)
    return; // It hears them when it is back.
  calls_.call(daemon.value().status.address, method::members,
              encode(members_update{daemon_keys()}),
              within(timeouts::question, timeouts::question),
              [this, name](const result<payload>& answer) {
                if (answer)
                  return;
                config_.log->warn("daemon {} has not heard of the keys of the "
                                  "others: {}",
                                  name, answer.error().message);
                untold_.insert(name);
              });
}

} // namespace graphmill
