#include "pipelines/gradients/parking.hpp"

#include <utility>

namespace graphmill {

parking::~parking() {
  for (auto& place : places_)
    place.parked.join();
}

void parking::keep(std::thread parked, std::function<bool()> finished) {
  std::lock_guard lock{mutex_};
  clear_finished();
  places_.push_back({std::move(parked), std::move(finished)});
}

std::size_t parking::size() {
  std::lock_guard lock{mutex_};
  clear_finished();
  return places_.size();
}

void parking::clear_finished() {
  std::erase_if(places_, [](place& at) {
    if (!at.finished())
      return false;
    at.parked.join();
    return true;
  });
}

} // namespace graphmill
