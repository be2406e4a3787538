#include "pipelines/figures/figures_board.hpp"

#include <utility>

namespace graphmill {

void figures_board::leave(cluster_figures now) {
  // The old one goes away after the lock does.
  auto next = std::make_shared<const cluster_figures>(std::move(now));
  std::lock_guard lock{mutex_};
  cluster_.swap(next);
}

void figures_board::leave(daemon_figures now) {
  auto next = std::make_shared<const daemon_figures>(std::move(now));
  std::lock_guard lock{mutex_};
  daemon_.swap(next);
}

figures_board::cluster figures_board::of_cluster() const {
  std::lock_guard lock{mutex_};
  return cluster_;
}

figures_board::daemon figures_board::of_daemon() const {
  std::lock_guard lock{mutex_};
  return daemon_;
}

} // namespace graphmill
