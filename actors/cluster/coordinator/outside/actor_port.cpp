#include "actors/cluster/coordinator/outside/actor_port.hpp"

#include "actors/transport/sockets/connections/key_table.hpp"

#include <utility>

namespace graphmill {

actor_port::actor_port(coordinator_actor::pointer self,
                       std::shared_ptr<transport> net, bool has_members)
  : calls_(self, std::move(net)) {
  const auto begin = [&](lane which, const char* called) {
    threads_[static_cast<std::size_t>(which)] =
      std::make_unique<compute_thread>(gauge_in(self->home_system(), called));
  };
  begin(lane::files, "the coordinator's thread for files");
  begin(lane::history, "the coordinator's thread for its history");
  if (has_members)
    begin(lane::members, "the coordinator's thread for its members");
}

void actor_port::end_threads() {
  for (auto& thread : threads_)
    thread.reset();
}

void actor_port::admit(key_table table) {
  calls_.net().admit(std::move(table));
}

std::function<void()> actor_port::resume(std::function<void()> then) {
  return
    [come = calls_.expect([then = std::move(then)](const result<payload>&) {
      then();
    })] { come(payload{}); };
}

} // namespace graphmill
