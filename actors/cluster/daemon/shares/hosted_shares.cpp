#include "actors/cluster/daemon/shares/hosted_shares.hpp"

#include "actors/cluster/daemon/shares/hosted_share.hpp"

#include <utility>

namespace graphmill {

result<share_ptr> hosted_shares::find(const std::string& run) const {
  const auto it = runs_.find(run);
  if (it == runs_.end())
    return fail(ec::unavailable, "run {} is not here", run);
  return it->second;
}

share_ptr hosted_shares::find(const std::string& run,
                              std::uint32_t attempt) const {
  const auto it = runs_.find(run);
  return it != runs_.end() && it->second->assignment.attempt() == attempt
           ? it->second
           : nullptr;
}

bool hosted_shares::contains(const share_ptr& share) const {
  const auto it = runs_.find(share->assignment.run);
  return it != runs_.end() && it->second == share;
}

std::vector<share_ptr> hosted_shares::all() const {
  std::vector<share_ptr> out;
  for (const auto& [id, share] : runs_)
    out.push_back(share);
  return out;
}

std::vector<share_ptr> hosted_shares::prepared() const {
  std::vector<share_ptr> out;
  for (const auto& [id, share] : runs_)
    if (share->health)
      out.push_back(share);
  return out;
}

void hosted_shares::add(share_ptr share) {
  auto run = share->assignment.run;
  runs_.insert_or_assign(std::move(run), std::move(share));
}

} // namespace graphmill
