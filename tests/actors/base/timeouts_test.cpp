#include "actors/base/timeouts.hpp"
#include "tests/support/catch.hpp"

namespace graphmill {

using namespace std::chrono_literals;

CATCH_TEST_CASE("whoever is asked gives up before those who ask",
                "[actors][timeouts]") {
  namespace limits = timeouts;
  // A service by a stage, here and by a daemon that asks for another one.
  CATCH_CHECK(limits::service_job < limits::data_request);
  CATCH_CHECK(limits::data_request < limits::service);
  CATCH_CHECK(limits::service < limits::waiting_stage);
  // A stage by the dispatcher, which may try three workers.
  CATCH_CHECK(3 * limits::waiting_stage < limits::stage);
  CATCH_CHECK(3 * limits::service_job < limits::stage);
  // A daemon by the coordinator.
  CATCH_CHECK(limits::keep < limits::kept_search);
  CATCH_CHECK(limits::rescue < limits::daemon_end);
  CATCH_CHECK(limits::rival + limits::reach < limits::question);
}

CATCH_TEST_CASE("a batch that takes twenty minutes is not given up",
                "[actors][timeouts]") {
  namespace limits = timeouts;
  for (const auto limit :
       {limits::service_job, limits::gather_job, limits::service,
        limits::waiting_stage, limits::stage, limits::contribution,
        limits::data_request, limits::batch_request, limits::trainers})
    CATCH_CHECK(limit > 20min);
  // Nor is a start on a disk that stalls for two.
  CATCH_CHECK(limits::deployment > 2min);
}

} // namespace graphmill
