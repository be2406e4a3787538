#include "actors/process/processors.hpp"
#include "tests/support/catch.hpp"

#include <sched.h>

#include <thread>

using namespace graphmill;

namespace {

std::uint32_t settled(std::uint32_t wanted, std::size_t trainers,
                      unsigned processors) {
  definition def;
  def.trainer.threads = wanted;
  settle_threads(def, trainers, processors);
  return def.trainer.threads;
}

} // namespace

CATCH_TEST_CASE("processors are dealt out to trainers", "[processors]") {
  CATCH_CHECK(settled(0, 1, 2) == 2);
  CATCH_CHECK(settled(0, 2, 2) == 1);
  CATCH_CHECK(settled(0, 3, 2) == 1);
  CATCH_CHECK(settled(0, 3, 8) == 2);
  CATCH_CHECK(settled(0, 0, 4) == 4); // A daemon that only serves data.
  CATCH_CHECK(settled(0, 1, 4096) == 256);
  CATCH_CHECK(settled(3, 2, 2) == 3);
}

CATCH_TEST_CASE("processors are those of the affinity mask", "[processors]") {
  cpu_set_t before;
  CATCH_REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CATCH_CHECK(usable_processors() == unsigned(CPU_COUNT(&before)));
  CATCH_CHECK(processors_per_process(1) == usable_processors());
  CATCH_CHECK(processors_per_process(100'000) == 1);
  int first = 0;
  while (!CPU_ISSET(first, &before))
    ++first;
  // In a thread of its own: the others keep their processors.
  unsigned found = 0;
  std::thread{[&] {
    cpu_set_t single;
    CPU_ZERO(&single);
    CPU_SET(first, &single);
    if (sched_setaffinity(0, sizeof single, &single) == 0)
      found = usable_processors();
  }}.join();
  CATCH_CHECK(found == 1);
}
