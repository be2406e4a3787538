#include "actors/remote/calls/task_queues.hpp"

namespace graphmill {

task_queues::task_queues(const std::vector<std::uint32_t>& windows) {
  for (const auto window : windows)
    queues_.push_back({window, 0, {}});
}

void task_queues::push(const task& next) {
  of(next).waiting.push_back(next);
  ++open_;
}

std::optional<inclusion::task> task_queues::next() {
  for (auto& queue : queues_) {
    if (queue.waiting.empty() || queue.under_way >= queue.window)
      continue;
    auto out = queue.waiting.front();
    queue.waiting.pop_front();
    ++queue.under_way;
    return out;
  }
  return std::nullopt;
}

void task_queues::settle(const task& next, bool done) {
  auto& queue = of(next);
  --queue.under_way;
  if (done)
    --open_;
  else
    queue.waiting.push_front(next);
}

} // namespace graphmill
