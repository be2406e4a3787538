#include "actors/cluster/coordinator/members/daemon_registry.hpp"

#include "messages/base/printable.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// Of what a daemon says of itself, and of the reason for a loss, this much is
/// kept: a sentence that names a long path.
constexpr std::size_t longest_note = 900;

bool is_lost(
  const std::pair<const std::string, daemon_registry::entry>& registered) {
  return registered.second.status.state == daemon_state::lost;
}

} // namespace

result<void> daemon_registry::check(const peer_identity& identity,
                                    const join_request& request) const {
  const auto& name = identity.name;
  if (std::ranges::find(left_, identity.incarnation) != left_.end())
    return fail(ec::unavailable, "daemon \"{}\" has left the cluster", name);
  if (is_consumer(name))
    GRAPHMILL_TRYV(check_consumer(identity, request));
  if (request.host.size() > longest_host)
    return fail(ec::invalid_argument,
                "daemon \"{}\" names a host of {} letters; {} are allowed",
                name, request.host.size(), longest_host);
  if (daemons_.size() >= most_daemons && !daemons_.contains(name)
      && std::none_of(daemons_.begin(), daemons_.end(), is_lost))
    return fail(ec::invalid_argument,
                "the cluster has {} daemons already, as many as it takes: stop "
                "another before \"{}\" joins",
                daemons_.size(), name);
  if (request.dataset != like_.dataset)
    return fail(ec::invalid_data,
                "daemon \"{}\" serves dataset \"{}\", but this cluster is on "
                "\"{}\"",
                name, request.dataset, like_.dataset);
  if (request.dataset_digest != like_.dataset_digest
      || request.part_digests.size() != like_.part_digests.size())
    return fail(ec::invalid_data,
                "daemon \"{}\" has another version or partitioning of dataset "
                "\"{}\" than the coordinator: {} parts, digest {}; copy one "
                "partitioned dataset to all machines",
                name, request.dataset, request.part_digests.size(),
                shortened(request.dataset_digest, digest_shown));
  for (std::size_t p = 0; p < like_.part_digests.size(); ++p)
    if (request.part_digests[p] != like_.part_digests[p])
      return fail(ec::invalid_data,
                  "part {} of dataset \"{}\" at daemon \"{}\" has digest {}, "
                  "and another one at the coordinator: copy one partitioned "
                  "dataset to all machines",
                  p, request.dataset, name,
                  shortened(request.part_digests[p], digest_shown));
  return ok();
}

result<void>
daemon_registry::check_consumer(const peer_identity& identity,
                                const join_request& request) const {
  if (!request.parts.empty() || request.slots != 0)
    return fail(ec::invalid_argument,
                "daemon \"{}\" has a slash in its name, as consumers of feeds "
                "have, which have neither parts nor slots: give it another "
                "--name",
                identity.name);
  const auto& holder = identity.holder;
  if (holder.role == key_role::all)
    return ok();
  const auto others = std::ranges::count_if(daemons_, [&](const auto& one) {
    return one.first != identity.name && is_consumer(one.first)
           && one.second.key == holder.key;
  });
  if (std::cmp_less(others, consumers_of_key))
    return ok();
  return fail(ec::unavailable,
              "the key of {} has {} consumers of feeds already, as many as it "
              "may: close another before \"{}\" joins",
              label_of(holder), others, identity.name);
}

std::optional<daemon_registry::entry>
daemon_registry::rival_of(const peer_identity& identity) const {
  const auto it = daemons_.find(identity.name);
  if (it == daemons_.end() || it->second.incarnation == identity.incarnation
      || it->second.status.state == daemon_state::lost)
    return std::nullopt;
  return it->second;
}

std::optional<daemon_registry::entry>
daemon_registry::tenant_of(const peer_identity& identity) const {
  for (const auto& [name, daemon] : daemons_)
    if (name != identity.name && daemon.status.address == identity.address
        && daemon.status.state != daemon_state::lost)
      return daemon;
  return std::nullopt;
}

std::string daemon_registry::key_of(const std::string& name) const {
  const auto it = daemons_.find(name);
  return it == daemons_.end() ? std::string{} : it->second.key;
}

std::vector<std::string> daemon_registry::join(const peer_identity& identity,
                                               const join_request& request) {
  std::vector<std::string> deserted;
  // Whoever was at this address under another name is gone.
  std::erase_if(daemons_, [&identity](const auto& other) {
    return other.first != identity.name
           && other.second.status.address == identity.address;
  });
  if (daemons_.size() >= most_daemons && !daemons_.contains(identity.name))
    deserted.push_back(forget_one());
  auto& place = daemons_[identity.name];
  if (!place.status.address.empty() && place.status.address != identity.address)
    deserted.push_back(place.status.address);
  if (place.incarnation != identity.incarnation) {
    place.distrust.clear();
    place.disobeys = false;
  }
  place.incarnation = identity.incarnation;
  place.leaving = false;
  place.status = {identity.name,
                  identity.address,
                  daemon_state::ready,
                  request.parts,
                  request.slots,
                  request.host,
                  {},
                  request.cuda_devices,
                  request.chaos,
                  {},
                  shortened(request.data, longest_note)};
  place.key =
    identity.holder.role == key_role::all ? std::string{} : identity.holder.key;
  place.fault = shortened(request.fault, longest_note);
  place.arithmetic = shortened(request.arithmetic, longest_note);
  place.arithmetic_digest = shortened(request.arithmetic_digest, longest_note);
  set_state(place);
  return deserted;
}

/// Makes room: of those that are lost, the first goes. @returns its address.
std::string daemon_registry::forget_one() {
  auto first = daemons_.end();
  for (auto it = daemons_.begin(); it != daemons_.end(); ++it)
    if (is_lost(*it)
        && (first == daemons_.end()
            || it->second.losses < first->second.losses))
      first = it;
  if (first == daemons_.end())
    return {};
  auto address = std::move(first->second.status.address);
  daemons_.erase(first);
  return address;
}

bool daemon_registry::leave(const std::string& name,
                            const std::string& incarnation) {
  // One that asked to join may be reached later.
  if (std::ranges::find(left_, incarnation) == left_.end())
    left_.push_back(incarnation);
  if (left_.size() > most_daemons)
    left_.pop_front();
  const auto it = daemons_.find(name);
  if (it == daemons_.end() || it->second.incarnation != incarnation)
    return false;
  daemons_.erase(it);
  return true;
}

std::string daemon_registry::forget(const std::string& name) {
  const auto it = daemons_.find(name);
  if (it == daemons_.end() || !is_lost(*it))
    return {};
  auto address = std::move(it->second.status.address);
  daemons_.erase(it);
  return address;
}

/// Of a daemon that is not lost.
void daemon_registry::set_state(entry& daemon) {
  const auto draining = daemon.drained || daemon.leaving;
  const auto& wrong = daemon.fault.empty() ? daemon.distrust : daemon.fault;
  daemon.status.note = wrong;
  daemon.status.state = !wrong.empty() ? daemon_state::damaged
                        : draining     ? daemon_state::draining
                                       : daemon_state::ready;
}

daemon_registry::entry* daemon_registry::at(const std::string& address) {
  for (auto& [name, daemon] : daemons_)
    if (daemon.status.address == address)
      return &daemon;
  return nullptr;
}

bool daemon_registry::has(const std::string& address) const {
  return std::ranges::any_of(daemons_, [&address](const auto& registered) {
    return registered.second.status.address == address;
  });
}

std::optional<daemon_registry::entry>
daemon_registry::lost(const std::string& address, std::string reason) {
  auto* daemon = at(address);
  if (daemon == nullptr || daemon->status.state == daemon_state::lost)
    return std::nullopt;
  daemon->status.state = daemon_state::lost;
  daemon->status.note = shortened(reason, longest_note);
  daemon->losses = ++losses_;
  return *daemon;
}

std::optional<daemon_registry::entry>
daemon_registry::back(const std::string& address,
                      const std::string& incarnation) {
  auto* daemon = at(address);
  if (daemon == nullptr || daemon->status.state != daemon_state::lost
      || daemon->incarnation != incarnation)
    return std::nullopt;
  set_state(*daemon);
  return *daemon;
}

std::optional<daemon_registry::entry>
daemon_registry::outdated(const std::string& address,
                          const std::string& incarnation) {
  const auto* daemon = at(address);
  if (daemon == nullptr || daemon->incarnation == incarnation)
    return std::nullopt;
  return *daemon;
}

result<daemon_registry::entry>
daemon_registry::find(const std::string& name) const {
  const auto it = daemons_.find(name);
  if (it != daemons_.end())
    return it->second;
  std::vector<std::string> names;
  for (const auto& [known, daemon] : daemons_)
    names.push_back(known);
  return fail(ec::not_found,
              "there is no daemon \"{}\" in the cluster; it has "
              "{}",
              name, fmt::join(names, ", "));
}

result<void> daemon_registry::drain(const std::string& name, bool drained) {
  GRAPHMILL_TRYV(find(name));
  auto& daemon = daemons_[name];
  daemon.drained = drained;
  if (daemon.status.state != daemon_state::lost)
    set_state(daemon);
  return ok();
}

void daemon_registry::begin_to_leave(const std::string& name) {
  const auto it = daemons_.find(name);
  if (it == daemons_.end() || is_lost(*it))
    return;
  it->second.leaving = true;
  set_state(it->second);
}

void daemon_registry::distrust(const std::string& name, std::string reason) {
  const auto it = daemons_.find(name);
  if (it == daemons_.end())
    return;
  it->second.distrust = shortened(reason, longest_note);
  if (!is_lost(*it))
    set_state(it->second);
}

bool daemon_registry::is_distrusted(const std::string& name) const {
  const auto it = daemons_.find(name);
  return it != daemons_.end() && !it->second.distrust.empty();
}

void daemon_registry::disobeys(const std::string& name, std::string reason) {
  if (const auto it = daemons_.find(name);
      it != daemons_.end() && !is_consumer(name))
    it->second.disobeys = true;
  distrust(name, std::move(reason));
}

bool daemon_registry::is_disobeyed() const {
  return std::ranges::any_of(
    daemons_, [](const auto& one) { return one.second.disobeys; });
}

bool daemon_registry::nobody_obeys(const std::string& self) const {
  const auto counts = [&self](const auto& one) {
    return one.first != self && !is_consumer(one.first) && !is_lost(one);
  };
  return std::ranges::count_if(daemons_, counts) > 1
         && std::ranges::all_of(daemons_, [&counts](const auto& one) {
              return !counts(one) || one.second.disobeys;
            });
}

std::vector<daemon_offer> daemon_registry::offers(daemon_state up_to) const {
  std::vector<daemon_offer> out;
  for (const auto& [name, daemon] : daemons_)
    if (daemon.status.state <= up_to)
      out.push_back({name, daemon.status.address, daemon.status.parts,
                     daemon.status.slots, daemon.status.cuda_devices,
                     daemon.arithmetic, daemon.arithmetic_digest});
  return out;
}

std::vector<std::string> daemon_registry::names_of(daemon_state state) const {
  std::vector<std::string> out;
  for (const auto& [name, daemon] : daemons_)
    if (daemon.status.state == state)
      out.push_back(name);
  return out;
}

std::vector<daemon_status> daemon_registry::statuses() const {
  std::vector<daemon_status> out;
  for (const auto& [name, daemon] : daemons_)
    out.push_back(daemon.status);
  return out;
}

} // namespace graphmill
