#include "actors/transport/sessions/arrivals.hpp"

namespace graphmill {

void arrivals::opened(session_time now, int descriptor) {
  settled(descriptor);
  strangers_.push_back({descriptor, now});
  index_.emplace(descriptor, std::prev(strangers_.end()));
}

void arrivals::settled(int descriptor) {
  const auto known = index_.find(descriptor);
  if (known == index_.end())
    return;
  strangers_.erase(known->second);
  index_.erase(known);
}

std::vector<int> arrivals::excess(session_time now) {
  std::vector<int> out;
  while (!strangers_.empty()
         && (strangers_.size() > most_
             || now - strangers_.front().since >= patience_))
    take_oldest(out);
  return out;
}

std::vector<int> arrivals::older_half() {
  std::vector<int> out;
  const auto rest = strangers_.size() / 2;
  while (strangers_.size() > rest)
    take_oldest(out);
  return out;
}

void arrivals::take_oldest(std::vector<int>& out) {
  out.push_back(strangers_.front().descriptor);
  index_.erase(strangers_.front().descriptor);
  strangers_.pop_front();
}

session_time arrivals::next_tick() const {
  return strangers_.empty() ? session_time::max()
                            : strangers_.front().since + patience_;
}

} // namespace graphmill
