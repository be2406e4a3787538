#include "pipelines/gradients/devices/orphan_threads.hpp"

#include <utility>

namespace graphmill {

orphan_threads::~orphan_threads() {
  for (auto& place : places_)
    place.orphan.join();
}

void orphan_threads::keep(std::thread orphan, std::function<bool()> finished) {
  std::lock_guard lock{mutex_};
  clear_finished();
  places_.push_back({std::move(orphan), std::move(finished)});
}

std::size_t orphan_threads::size() {
  std::lock_guard lock{mutex_};
  clear_finished();
  return places_.size();
}

// Called with the mutex held, which is short: only threads that have nothing
// left to do are joined.
void orphan_threads::clear_finished() {
  std::erase_if(places_, [](place& at) {
    if (!at.finished())
      return false;
    at.orphan.join();
    return true;
  });
}

} // namespace graphmill
