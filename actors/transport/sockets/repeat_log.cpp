#include "actors/transport/sockets/repeat_log.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace graphmill {

void repeat_log::add(const std::string& sentence, time_point now) {
  tick(now);
  if (const auto known = lines_.find(sentence); known != lines_.end()) {
    ++known->second.more;
  } else if (lines_.size() < most_sentences) {
    lines_.emplace(sentence, line{now, 0});
    log_(sentence);
  } else if (others_.more++ == 0) {
    others_.since = now;
  }
}

void repeat_log::tick(time_point now) {
  if (now < next_tick())
    return;
  for (auto at = lines_.begin(); at != lines_.end();) {
    auto& [sentence, told] = *at;
    if (now - told.since < period) {
      ++at;
    } else if (told.more == 0) {
      at = lines_.erase(at);
    } else {
      log_(fmt::format("{} ({} times more within {} s)", sentence, told.more,
                       period.count()));
      told = {now, 0};
      ++at;
    }
  }
  if (others_.more != 0 && now - others_.since >= period) {
    log_(fmt::format("left out {} lines like the last one", others_.more));
    others_ = {};
  }
}

repeat_log::time_point repeat_log::next_tick() const {
  auto since = time_point::max();
  for (const auto& [sentence, told] : lines_)
    since = std::min(since, told.since);
  if (others_.more != 0)
    since = std::min(since, others_.since);
  return since == time_point::max() ? since : since + period;
}

} // namespace graphmill
