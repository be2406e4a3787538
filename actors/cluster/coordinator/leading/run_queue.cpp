#include "actors/cluster/coordinator/leading/run_queue.hpp"

#include "actors/cluster/coordinator/runs/submitted_run.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

void run_queue::add(run_ptr run) {
  next_place_ = std::max(next_place_, run->place + 1);
  runs_.push_back(std::move(run));
}

void run_queue::put_back(run_ptr run) {
  const auto fresh = std::ranges::find_if(
    runs_, [](const auto& other) { return !other->awaits_attempt(); });
  if (fresh != runs_.end())
    run->place = std::min(run->place, (*fresh)->place - 1);
  const auto behind =
    std::find_if(runs_.begin(), fresh, [&run](const auto& other) {
      return other->place > run->place;
    });
  runs_.insert(behind, std::move(run));
}

run_ptr run_queue::take(const std::string& id) {
  const auto it = std::ranges::find_if(
    runs_, [&id](const auto& run) { return run->id == id; });
  if (it == runs_.end())
    return nullptr;
  auto out = *it;
  runs_.erase(it);
  return out;
}

std::size_t run_queue::count_of(const std::string& home) const {
  return static_cast<std::size_t>(std::ranges::count_if(
    runs_, [&home](const auto& run) { return run->home == home; }));
}

bool run_queue::has_waiting_beside(const submitted_run& run) const {
  return std::ranges::any_of(runs_, [&run](const auto& other) {
    return other.get() != &run && other->awaits_attempt();
  });
}

void run_queue::daemon_returned(const std::string& daemon) {
  for (const auto& run : runs_)
    run->wait.returning.erase(daemon);
}

void run_queue::put_off(clock::duration missed) {
  for (const auto& run : runs_) {
    run->recovery.put_off(missed);
    for (auto* until : {&run->wait.return_until, &run->wait.shrink_at})
      if (*until != clock::time_point{})
        *until += missed;
  }
}

} // namespace graphmill
