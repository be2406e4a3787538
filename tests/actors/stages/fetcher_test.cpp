#include "actors/stages/fetcher.hpp"
#include "tests/support/actors.hpp"
#include "tests/support/catch.hpp"

#include <memory>
#include <optional>

using namespace graphmill;
using namespace std::chrono_literals;

CATCH_TEST_CASE("a batch that went with an earlier fetcher is begun anew",
                "[fetcher]") {
  test::simulation sim;
  fetcher_config config;
  config.counters = std::make_shared<stage_counters>("fetch", 1);
  const auto fetcher = sim.own(spawn_fetcher(sim.system(), std::move(config)));
  fetch_job job;
  job.graph = std::make_shared<sampled_subgraph>(); // Taken out of the job.
  caf::scoped_actor user{sim.system()};
  std::optional<error> reason;
  auto answer = user->request(fetcher, 1s, job);
  sim.run();
  answer.receive([](const fetch_answer&) {},
                 [&reason](const caf::error& told) {
                   reason = from_caf(told, "the fetcher");
                 });
  CATCH_REQUIRE(reason);
  CATCH_CHECK(reason->code == ec::unavailable); // The dispatcher tries again.
}
