#include "actors/cluster/health/silence_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace graphmill {

namespace {

constexpr std::size_t most_named = 3;

silence_watch::news about(std::vector<std::string> daemons,
                          const std::string& before,
                          const std::string& behind) {
  silence_watch::news out;
  out.text = before;
  for (std::size_t i = 0; i < std::min(daemons.size(), most_named); ++i)
    out.text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", daemons[i]);
  if (daemons.size() > most_named)
    out.text += fmt::format(" and {} more", daemons.size() - most_named);
  out.text += behind;
  if (daemons.size() == 1)
    out.who = std::move(daemons.front());
  return out;
}

} // namespace

std::optional<silence_watch::news>
silence_watch::change(const std::vector<std::string>& silent,
                      clock::time_point at) {
  if (silent == told_ || (told_at_ && at - *told_at_ < repeat))
    return std::nullopt;
  told_at_ = at;
  auto before = std::exchange(told_, silent);
  return silent.empty() ? about(std::move(before), "", " is heard again")
                        : about(silent, "nothing is heard of ", " any more");
}

} // namespace graphmill
