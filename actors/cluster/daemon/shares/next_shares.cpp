#include "actors/cluster/daemon/shares/next_shares.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

void next_shares::put(entry next) {
  auto run = next.assignment.run;
  waiting_.insert_or_assign(std::move(run), std::move(next));
}

bool next_shares::is_about(const member_request& wanted) const {
  const auto next = waiting_.find(wanted.run);
  return next != waiting_.end()
         && (wanted.attempt == 0
             || wanted.attempt == next->second.assignment.attempt());
}

std::optional<next_shares::entry> next_shares::take(const std::string& run) {
  auto next = waiting_.extract(run);
  if (!next)
    return std::nullopt;
  return std::move(next.mapped());
}

void next_shares::drop(const std::string& run, const error& reason) {
  if (const auto next = waiting_.extract(run))
    next.mapped().reply.reply(reason);
}

void next_shares::drop_all(const error& reason,
                           const std::vector<std::string>& but) {
  std::erase_if(waiting_, [&reason, &but](const auto& next) {
    if (std::ranges::find(but, next.first) != but.end())
      return false;
    next.second.reply.reply(reason);
    return true;
  });
}

} // namespace graphmill
