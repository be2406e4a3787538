#include "actors/process/core_dumps.hpp"

#include <sys/prctl.h>

namespace graphmill {

void forbid_core_dumps() {
  // Not by RLIMIT_CORE, which does not hold for dumps that go to a program.
  (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

} // namespace graphmill
