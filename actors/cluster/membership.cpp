#include "actors/cluster/membership.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace graphmill {

result<void> membership::check(const std::string& name,
                               const join_request& what) const {
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

void membership::join(const peer_identity& who, const join_request& what) {
  // Whoever was at this address under another name is gone.
  std::erase_if(daemons_, [&who](const auto& other) {
    return other.first != who.name
           && other.second.status.address == who.address;
  });
  auto& place = daemons_[who.name];
  place.incarnation = who.incarnation;
  place.status = {who.name,   who.address,      daemon_state::ready,
                  what.parts, what.slots,       what.host,
                  {},         what.cuda_devices};
  place.status.state = state_of(place);
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
daemon_state membership::state_of(const entry& one) {
  return one.drained ? daemon_state::draining : daemon_state::ready;
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
  one->status.note = std::move(why);
  return *one;
}

std::optional<membership::entry>
membership::back(const std::string& address, const std::string& incarnation) {
  auto* one = at(address);
  if (one == nullptr || one->status.state != daemon_state::lost
      || one->incarnation != incarnation)
    return std::nullopt;
  one->status.state = state_of(*one);
  one->status.note.clear();
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
    one.status.state = state_of(one);
  return ok();
}

std::vector<daemon_offer> membership::offers() const {
  std::vector<daemon_offer> out;
  for (const auto& [name, one] : daemons_)
    if (one.status.state == daemon_state::ready)
      out.push_back({name, one.status.address, one.status.parts,
                     one.status.slots, one.status.cuda_devices});
  return out;
}

std::vector<daemon_status> membership::statuses() const {
  std::vector<daemon_status> out;
  for (const auto& [name, one] : daemons_)
    out.push_back(one.status);
  return out;
}

} // namespace graphmill
