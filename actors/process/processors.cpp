#include "actors/process/processors.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <thread>

namespace graphmill {

namespace {

/// As the definition bounds `trainer.threads`.
constexpr unsigned most_threads = 256;

unsigned dealt_out(unsigned processors, std::size_t among) {
  const auto each = processors / std::max<std::size_t>(among, 1);
  return std::max(1u, static_cast<unsigned>(each));
}

} // namespace

unsigned usable_processors() {
  // The C++ library counts the machine's, whatever the mask says; and one
  // cpu_set_t has room for 1,024.
  std::array<cpu_set_t, 16> mask{};
  if (sched_getaffinity(0, sizeof mask, mask.data()) == 0)
    return std::max(
      1u, static_cast<unsigned>(CPU_COUNT_S(sizeof mask, mask.data())));
  return std::max(1u, std::thread::hardware_concurrency());
}

unsigned processors_per_process(std::size_t processes) {
  return dealt_out(usable_processors(), processes);
}

void settle_threads(definition& def, std::size_t trainers,
                    unsigned processors) {
  if (def.trainer.threads == 0)
    def.trainer.threads =
      std::min(dealt_out(processors, trainers), most_threads);
}

void give_way_to_training() {
  constexpr int behind_training = 5;               // A third of its weight.
  const auto own = ::getpriority(PRIO_PROCESS, 0); // Of this thread, by 0.
  ::setpriority(PRIO_PROCESS, 0, own + behind_training);
  const sched_param no_priority{};
  if (::sched_getscheduler(0) == SCHED_OTHER) // Else it gives way already.
    ::sched_setscheduler(0, SCHED_BATCH, &no_priority);
}

} // namespace graphmill
