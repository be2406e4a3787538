#include "actors/remote/task_lanes.hpp"

namespace graphmill {

task_lanes::task_lanes(const std::vector<std::uint32_t>& windows) {
  for (const auto window : windows)
    lanes_.push_back({window, 0, {}});
}

void task_lanes::push(const task& what) {
  of(what).waiting.push_back(what);
  ++open_;
}

std::optional<inclusion::task> task_lanes::next() {
  for (auto& one : lanes_) {
    if (one.waiting.empty() || one.under_way >= one.window)
      continue;
    auto out = one.waiting.front();
    one.waiting.pop_front();
    ++one.under_way;
    return out;
  }
  return std::nullopt;
}

void task_lanes::settle(const task& what, bool done) {
  auto& lane = of(what);
  --lane.under_way;
  if (done)
    --open_;
  else
    lane.waiting.push_front(what);
}

} // namespace graphmill
