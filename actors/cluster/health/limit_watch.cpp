#include "actors/cluster/health/limit_watch.hpp"

namespace graphmill {

std::optional<std::string> limit_watch::change(const verdict& now,
                                               clock::time_point at) {
  if (now.limit != seen_) {
    seen_ = now.limit;
    seen_since_ = at;
  }
  if (seen_.empty() || seen_ == told_ || at - seen_since_ < settled
      || (told_at_ && at - *told_at_ < repeat))
    return std::nullopt;
  told_ = seen_;
  told_at_ = at;
  return now.sentence;
}

} // namespace graphmill
