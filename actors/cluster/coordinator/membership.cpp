#include "actors/cluster/coordinator/membership.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace graphmill {

namespace {

/// Of the reason for a loss, this much is kept.
constexpr std::size_t longest_note = 300;

bool is_lost(const std::pair<const std::string, membership::entry>& one) {
  return one.second.status.state == daemon_state::lost;
}

} // namespace

result<void> membership::check(const std::string& name,
                               const join_request& what) const {
  if (what.host.size() > longest_host)
    return fail(ec::invalid_argument,
                "daemon \"{}\" names a host of {} letters; {} are allowed",
                name, what.host.size(), longest_host);
  if (daemons_.size() >= most_daemons && !daemons_.contains(name)
      && std::none_of(daemons_.begin(), daemons_.end(), is_lost))
    return fail(ec::invalid_argument,
                "the cluster has {} daemons already, as many as it takes: stop "
                "another before \"{}\" joins",
                daemons_.size(), name);
  if (what.dataset != like_.dataset)
    return fail(ec::invalid_data,
                "daemon \"{}\" serves dataset \"{}\", but this cluster is on "
                "\"{}\"",
                name, what.dataset, like_.dataset);
  if (what.dataset_digest != like_.dataset_digest
      || what.part_digests.size() != like_.part_digests.size())
    return fail(ec::invalid_data,
                "daemon \"{}\" has another version or partitioning of dataset "
                "\"{}\" ({} parts, digest {}; the coordinator's: {} parts, "
                "digest {}): copy one partitioned dataset to all machines",
                name, what.dataset, what.part_digests.size(),
                what.dataset_digest, like_.part_digests.size(),
                like_.dataset_digest);
  for (std::size_t p = 0; p < like_.part_digests.size(); ++p)
    if (what.part_digests[p] != like_.part_digests[p])
      return fail(ec::invalid_data,
                  "part {} of dataset \"{}\" at daemon \"{}\" has digest {}, "
                  "at the coordinator {}: copy one partitioned dataset to all "
                  "machines",
                  p, what.dataset, name, what.part_digests[p],
                  like_.part_digests[p]);
  return ok();
}

std::optional<membership::entry>
membership::rival_of(const peer_identity& who) const {
  const auto it = daemons_.find(who.name);
  if (it == daemons_.end() || it->second.incarnation == who.incarnation
      || it->second.status.state == daemon_state::lost)
    return std::nullopt;
  return it->second;
}

std::vector<std::string> membership::join(const peer_identity& who,
                                          const join_request& what) {
  std::vector<std::string> deserted;
  // Whoever was at this address under another name is gone.
  std::erase_if(daemons_, [&who](const auto& other) {
    return other.first != who.name
           && other.second.status.address == who.address;
  });
  if (daemons_.size() >= most_daemons && !daemons_.contains(who.name))
    deserted.push_back(forget_one());
  auto& place = daemons_[who.name];
  if (!place.status.address.empty() && place.status.address != who.address)
    deserted.push_back(place.status.address);
  place.incarnation = who.incarnation;
  place.leaving = false;
  place.status = {who.name,   who.address,      daemon_state::ready,
                  what.parts, what.slots,       what.host,
                  {},         what.cuda_devices};
  place.fault = what.fault.substr(0, longest_note);
  place.arithmetic = what.arithmetic.substr(0, longest_note);
  place.arithmetic_digest = what.arithmetic_digest.substr(0, longest_note);
  set_state(place);
  return deserted;
}

/// Makes room: of those that are lost, the first goes. @returns its address.
std::string membership::forget_one() {
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

bool membership::leave(const std::string& name,
                       const std::string& incarnation) {
  const auto it = daemons_.find(name);
  if (it == daemons_.end() || it->second.incarnation != incarnation)
    return false;
  daemons_.erase(it);
  return true;
}

/// Of a daemon that is not lost.
void membership::set_state(entry& one) {
  const auto draining = one.drained || one.leaving;
  one.status.note = one.fault;
  one.status.state = !one.fault.empty() ? daemon_state::damaged
                     : draining         ? daemon_state::draining
                                        : daemon_state::ready;
}

membership::entry* membership::at(const std::string& address) {
  for (auto& [name, one] : daemons_)
    if (one.status.address == address)
      return &one;
  return nullptr;
}

std::optional<membership::entry> membership::lost(const std::string& address,
                                                  std::string why) {
  auto* one = at(address);
  if (one == nullptr || one->status.state == daemon_state::lost)
    return std::nullopt;
  one->status.state = daemon_state::lost;
  one->status.note = why.substr(0, longest_note);
  one->losses = ++losses_;
  return *one;
}

std::optional<membership::entry>
membership::back(const std::string& address, const std::string& incarnation) {
  auto* one = at(address);
  if (one == nullptr || one->status.state != daemon_state::lost
      || one->incarnation != incarnation)
    return std::nullopt;
  set_state(*one);
  return *one;
}

std::optional<membership::entry>
membership::outdated(const std::string& address,
                     const std::string& incarnation) {
  const auto* one = at(address);
  if (one == nullptr || one->incarnation == incarnation)
    return std::nullopt;
  return *one;
}

result<membership::entry> membership::find(const std::string& name) const {
  const auto it = daemons_.find(name);
  if (it != daemons_.end())
    return it->second;
  std::vector<std::string> names;
  for (const auto& [known, one] : daemons_)
    names.push_back(known);
  return fail(ec::not_found,
              "there is no daemon \"{}\" in the cluster; it has "
              "{}",
              name, fmt::join(names, ", "));
}

result<void> membership::drain(const std::string& name, bool drained) {
  TRYV(find(name));
  auto& one = daemons_[name];
  one.drained = drained;
  if (one.status.state != daemon_state::lost)
    set_state(one);
  return ok();
}

void membership::begin_to_leave(const std::string& name) {
  const auto it = daemons_.find(name);
  if (it == daemons_.end() || is_lost(*it))
    return;
  it->second.leaving = true;
  set_state(it->second);
}

std::vector<daemon_offer> membership::offers(daemon_state up_to) const {
  std::vector<daemon_offer> out;
  for (const auto& [name, one] : daemons_)
    if (one.status.state <= up_to)
      out.push_back({name, one.status.address, one.status.parts,
                     one.status.slots, one.status.cuda_devices,
                     one.arithmetic, one.arithmetic_digest});
  return out;
}

std::vector<std::string> membership::names_of(daemon_state state) const {
  std::vector<std::string> out;
  for (const auto& [name, one] : daemons_)
    if (one.status.state == state)
      out.push_back(name);
  return out;
}

std::vector<daemon_status> membership::statuses() const {
  std::vector<daemon_status> out;
  for (const auto& [name, one] : daemons_)
    out.push_back(one.status);
  return out;
}

} // namespace graphmill
