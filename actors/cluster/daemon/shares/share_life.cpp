#include "actors/cluster/daemon/shares/share_life.hpp"

#include <utility>

namespace graphmill {

share_life::task share_life::enter(state next, task todo) {
  now_ = next;
  return todo;
}

share_life::task share_life::prepared(bool well) {
  if (now_ == state::preparing && well)
    return enter(state::hosted, task::verify);
  if (now_ == state::preparing || now_ == state::abandoned)
    return enter(state::over, task::forget);
  return task::none;
}

share_life::task share_life::member_gone() {
  if (now_ == state::hosted) // The coordinator ends the share.
    return enter(state::broken, task::report);
  return now_ == state::ending ? verify_or_forget() : task::none;
}

/// A run is no success before its data are known to be sound.
share_life::task share_life::verify_or_forget() {
  return finishing_ && !sound_ ? enter(state::verifying, task::hurry)
                               : enter(state::over, task::forget);
}

share_life::task share_life::verified(result<void> sound) {
  if (now_ == state::over)
    return task::none;
  sound_ = std::move(sound);
  if (now_ == state::verifying)
    return enter(state::over, task::forget);
  const auto is_on = now_ == state::hosted || now_ == state::broken;
  return is_on && !*sound_ ? task::report_data : task::none;
}

share_life::task share_life::end(bool finishing) {
  if (now_ == state::over)
    return task::none;
  if (finishing && is_over() && !finishing_)
    return task::refuse;
  finishing_ = finishing;
  switch (now_) {
  case state::preparing:
    return enter(state::abandoned, task::none);
  case state::hosted:
    return enter(state::ending, task::stop);
  case state::broken:
  case state::verifying:
    return verify_or_forget();
  case state::abandoned:
  case state::ending:
  case state::over:
    break;
  }
  return task::none;
}

} // namespace graphmill
