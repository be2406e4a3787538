#include "actors/process/core_dumps.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"

#include <sys/prctl.h>

using namespace graphmill;

CATCH_TEST_CASE("a process that holds a key leaves no core dump",
                "[core_dumps]") {
  CATCH_CHECK(test::code_of_child([] {
                const auto before = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
                forbid_core_dumps();
                return before == 1 ? ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) : 2;
              })
              == 0);
}
